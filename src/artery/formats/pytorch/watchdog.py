"""PyTorch's NCCL watchdog: which collective timed out, on which ranks, and who is behind.

A rank that reports a timeout waited: it is a victim. The culprit is the one whose last work is
older, or that says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_TIMEOUT: Final = re.compile(
    r"\[Rank (\d{1,7})\] Watchdog caught collective operation timeout: WorkNCCL\("
    r"(?:SeqNum=(\d{1,18}), )?OpType=(\w{1,40})(?:, (?:TensorShape=\[[^\]]{0,80}\]|"
    r"NumelIn=(\d{1,18}), NumelOut=(\d{1,18})))?, Timeout\(ms\)=(\d{1,15})\)"
    r"(?: ran for (\d{1,15}) milliseconds)?"
)
_STATUS: Final = re.compile(
    r"Rank (\d{1,7})\].{0,120}?(?:sequence id: (\d{1,18}) )?PG status: last enqueued work: "
    r"(-?\d{1,18}), last completed work: (-?\d{1,18})"
)


def _recognise(text: Text) -> float:
    found = "Watchdog caught collective operation timeout" in text.content
    return 0.9 if found or "failure detected by watchdog at work sequence" in text.content else 0.0


def _read(text: Text) -> Reading:
    ranks: dict[int, dict[str, Any]] = {}
    used: set[int] = set()
    for number, line in enumerate(text.lines, 1):
        part = line[:4000]
        if timeout := _TIMEOUT.search(part):
            rank, sequence, kind, sent, received, limit, ran = timeout.groups()
            ranks.setdefault(int(rank), {"rank": int(rank)}).update(
                sequence=_whole(sequence), operation=kind, elements_in=_whole(sent),
                elements_out=_whole(received), timeout_s=int(limit) / 1e3,
                ran_s=None if ran is None else int(ran) / 1e3,
            )  # fmt: skip
            used.add(number)
        elif status := _STATUS.search(part):
            one = ranks.setdefault(int(status[1]), {"rank": int(status[1])})
            one.update(last_enqueued=int(status[3]), last_completed=int(status[4]))
            used.add(number)
    if not ranks:
        rule = "the watchdog prints WorkNCCL(SeqNum=..., OpType=...)"
        fix = "send the lines with Watchdog of all ranks"
        raise InputError(Problem(file=text.path, found="no timeout", rule=rule, fix=fix))
    fields = _fields(sorted(ranks.values(), key=lambda one: one["rank"]))
    summary, warnings = tuple(_summary(fields)), tuple(_warnings(fields))
    return Reading("torch-watchdog", "log", summary, fields, warnings, passed_over(text, used))


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


def _fields(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    first = ranks[0]
    completed = {one["rank"]: one["last_completed"] for one in ranks if "last_completed" in one}
    behind = min(completed.values(), default=None)
    ahead = max(completed.values(), default=None)
    return {
        "ranks": ranks,
        "reporting_ranks": [one["rank"] for one in ranks],
        "operations": sorted({one["operation"] for one in ranks if one.get("operation")}),
        "sequence": first.get("sequence"),
        "timeout_s": first.get("timeout_s"),
        "waited_s": max((one["ran_s"] for one in ranks if one.get("ran_s")), default=None),
        "last_enqueued": first.get("last_enqueued"),
        "last_completed": first.get("last_completed"),
        "behind": [rank for rank, done in completed.items() if behind != ahead and done == behind],
        "missing_facts": ["the same lines of all other ranks"] if behind == ahead else [],
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    kinds = ", ".join(fields["operations"]) or "a collective"
    waited = fields["waited_s"] or fields["timeout_s"]
    yield f"{kinds} number {fields['sequence']} timed out after {waited or 0:g} s"
    ranks = ", ".join(map(str, fields["reporting_ranks"][:12]))
    yield f"reported by {len(fields['reporting_ranks'])} ranks: {ranks}"
    if fields["last_completed"] is not None:
        done, queued = fields["last_completed"], fields["last_enqueued"]
        yield f"last completed {done}, last enqueued {queued}: {queued - done} in the queue"
    if fields["behind"]:
        yield f"behind all others: rank {', '.join(map(str, fields['behind'][:12]))}"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    yield ("a rank that reports a timeout is a victim that waited; the culprit is the rank that "
           f"never reached number {fields['sequence']}")  # fmt: skip
    if not fields["behind"]:
        yield "compare last completed and last enqueued work over all ranks: no rank here is behind"


FORMAT = Format("torch-watchdog", "log", _recognise, _read)
