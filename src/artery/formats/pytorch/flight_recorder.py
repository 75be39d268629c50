"""PyTorch's NCCL Flight Recorder: the last collectives of one rank, as JSON.

``{"version": ..., "entries": [{"collective_seq_id", "profiling_name", "state", ...}]}``, or a list
of such dumps. The pickled form is not read: unpickling runs code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from artery.errors import InputError, Problem
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.json_text import json_of
from artery.formats.text import Text

_STATES: Final = ("scheduled", "started", "completed")


def _recognise(text: Text) -> float:
    head = text.head
    if '"entries"' not in head or not head.lstrip().startswith(("{", "[")):
        return 0.0
    return 0.95 if '"profiling_name"' in head or '"collective_seq_id"' in head else 0.0


def _read(text: Text) -> Reading:
    document = json_of(text)
    dumps = document if isinstance(document, list) else [document]
    dumps = [one for one in dumps if isinstance(one, dict) and isinstance(one.get("entries"), list)]
    if not dumps:
        raise _refused(text, "no entries", 'a dump has a list "entries"')
    ranks = [_rank(dump, index) for index, dump in enumerate(dumps)]
    dropped = sum(rank["unreadable"] for rank in ranks)
    fields = _fields(ranks)
    ignored = (Ignored(1, dropped, "entries that are no objects"),) if dropped else ()
    summary, warnings = tuple(_summary(fields)), tuple(_warnings(fields))
    return Reading("flight-recorder", "state", summary, fields, warnings, ignored)


def _rank(dump: dict[str, Any], index: int) -> dict[str, Any]:
    entries = [one for one in dump["entries"] if isinstance(one, dict)]
    states = Counter(str(one.get("state", "unknown"))[:20] for one in entries)
    open_ = [one for one in entries if one.get("state") != "completed"]
    done = [_number(one) for one in entries if one.get("state") == "completed"]
    rank = dump.get("rank", dump.get("global_rank"))
    return {
        "rank": rank if isinstance(rank, int) else index,
        "version": str(dump.get("version"))[:20],
        "entries": len(entries),
        "unreadable": len(dump["entries"]) - len(entries),
        "states": dict(states),
        "last_completed": max((one for one in done if one is not None), default=None),
        "open": [_entry(one) for one in open_[:50]],
        "groups": sorted({str(one.get("process_group"))[:80] for one in entries})[:50],
    }


def _entry(one: dict[str, Any]) -> dict[str, Any]:
    sizes = one.get("input_sizes")
    timeout = one.get("timeout_ms")
    return {
        "sequence": _number(one),
        "operation": str(one.get("profiling_name", "unknown"))[:80],
        "state": str(one.get("state", "unknown"))[:20],
        "sizes": sizes if isinstance(sizes, list) and len(str(sizes)) < 400 else None,
        "timeout_s": timeout / 1e3 if _is_number(timeout) else None,
    }


def _number(one: dict[str, Any]) -> int | None:
    for name in ("collective_seq_id", "seq_id", "record_id", "id"):
        value = one.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
            return value
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15


def _fields(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    done = {
        one["rank"]: one["last_completed"] for one in ranks if one["last_completed"] is not None
    }
    least, most = min(done.values(), default=None), max(done.values(), default=None)
    stuck = [rank for rank, last in done.items() if least != most and last == least]
    return {
        "ranks": len(ranks),
        "entries": sum(one["entries"] for one in ranks),
        "states": dict(sum((Counter(one["states"]) for one in ranks), Counter())),
        "dumps": ranks,
        "last_completed": least,
        "behind": stuck,
        "missing_facts": ["the dumps of the other ranks"] if len(ranks) == 1 else [],
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    said = ", ".join(f"{count} {state}" for state, count in fields["states"].items())
    yield f"{fields['entries']} collectives of {fields['ranks']} ranks: {said}"
    first = next((one for dump in fields["dumps"] for one in dump["open"]), None)
    if first is not None:
        yield f"first unfinished: {first['operation']} number {first['sequence']}, {first['state']}"
    if fields["behind"]:
        yield f"behind all others: rank {', '.join(map(str, fields['behind'][:12]))}"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    if fields["ranks"] == 1:
        yield "one rank alone shows who waits, not who is missing: compare all ranks"
    unknown = set(fields["states"]) - set(_STATES)
    if unknown:
        yield f"states that are not known: {', '.join(sorted(unknown))}"


def _refused(text: Text, found: str, rule: str, line: int | None = None) -> InputError:
    fix = "dump it as JSON (torch.distributed's _dump_nccl_trace_json)"
    return InputError(Problem(file=text.path, line=line, found=found, rule=rule, fix=fix))


FORMAT = Format(
    "flight-recorder", "state", _recognise, _read, tested=False,
    notes=("written from PyTorch's documentation; no real dump was at hand",),
)  # fmt: skip
