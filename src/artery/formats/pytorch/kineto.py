"""Kineto traces (``torch.profiler``): where the time of one rank went.

Times are unions of intervals over all streams; a kernel whose name holds ``nccl`` or ``rccl``
communicates. Exposed communication is that during which nothing is computed. The events are
streamed, so that a trace of any size fits in memory.

A trace of the processor alone (gloo) has no kernels: there what computes are PyTorch's own
operators (``aten::``), and what communicates are the annotations of collectives (``gloo:``).
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase, BytesIO
from typing import Any, Final, TypeGuard

from artery.core.term import Measurement, Term
from artery.errors import InputError, Problem
from artery.formats.pytorch import kineto_calls
from artery.formats.reading import Format, Ignored, Progress, Reading
from artery.formats.text import Text, open_bytes, read_text, short
from artery.units import show_time

_PIECE: Final = 4 * 2**20
_COMMUNICATES: Final = re.compile(r"nccl|rccl", re.IGNORECASE)
_ON_DEVICE: Final = frozenset({"kernel"})
_COPIES: Final = frozenset({"gpu_memcpy", "gpu_memset"})
_STEP: Final = re.compile(r"ProfilerStep#(\d{1,12})")
_NAMES: Final = 20_000
"""Assumed: kernels of different name that are counted apart; more are one entry."""


_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_DEEPEST: Final = 1000
"""Assumed: brackets inside each other; a trace has about six, and the parser's time grows with
their square."""


@dataclass(slots=True)
class _Depth:
    """How many brackets are open after the pieces so far, told without parsing them."""

    open: int = 0
    quoted: bool = False

    def check(self, piece: bytes) -> None:
        """Count ``piece``; raises ``ValueError`` if too many brackets are open."""
        text = b'"' + piece if self.quoted else piece
        self.quoted = (text.count(b'"') - text.count(b'\\"')) % 2 == 1
        plain = _STRING.sub(b"", text)
        for start in range(0, len(plain), _DEEPEST):
            part = plain[start : start + _DEEPEST]
            self.open += part.count(b"[") + part.count(b"{") - part.count(b"]") - part.count(b"}")
            if self.open > _DEEPEST:
                raise ValueError(f"more than {_DEEPEST} brackets inside each other")


@dataclass(slots=True)
class _Events:
    """What was gathered: start and end in us of kernels by kind, and counts."""

    compute: tuple[array[float], array[float]] = field(
        default_factory=lambda: (array("d"), array("d"))
    )
    talk: tuple[array[float], array[float]] = field(
        default_factory=lambda: (array("d"), array("d"))
    )
    operators: tuple[array[float], array[float]] = field(
        default_factory=lambda: (array("d"), array("d"))
    )
    collectives: tuple[array[float], array[float]] = field(
        default_factory=lambda: (array("d"), array("d"))
    )
    time: dict[str, float] = field(default_factory=dict)
    count: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    annotations: Counter[str] = field(default_factory=Counter)
    steps: dict[int, float] = field(default_factory=dict)
    calls: kineto_calls.Calls = field(default_factory=kineto_calls.Calls)
    copies: int = 0
    unreadable: int = 0
    distributed: dict[str, Any] = field(default_factory=dict)
    devices: list[dict[str, Any]] = field(default_factory=list)
    broken: str | None = None
    origin: float | None = None


_EVENTS: Final = re.compile(r'"traceEvents"\s{0,20}:')


def _recognise(text: Text) -> float:
    head = text.head.lstrip()
    if not head.startswith("{"):
        return 0.0
    if _EVENTS.search(head) or ('"schemaVersion"' in head and (
        '"deviceProperties"' in head or '"distributedInfo"' in head
    )):  # fmt: skip
        return 0.9
    return 0.0


def _read(text: Text) -> Reading:
    return _reading(text.path, _gather(BytesIO(text.content.encode()), None))


def _stream(path: str, progress: Progress | None) -> Reading:
    with open_bytes(path) as stream:
        try:
            mark = stream.read(3)
        except (OSError, EOFError, zlib.error):
            return _read(read_text(path))  # which says what is wrong with the archive
        if mark[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return _read(read_text(path))
        start = b"" if mark == b"\xef\xbb\xbf" else mark
        return _reading(path, _gather(stream, progress, start))


def _gather(stream: BufferedIOBase, progress: Progress | None, start: bytes = b"") -> _Events:
    """Return what the trace ``start`` + ``stream`` holds; reading stops where it breaks."""
    import ijson  # type: ignore[import-untyped]

    events = _Events()
    inbox: list[Any] = ijson.sendable_list()
    about: list[Any] = ijson.sendable_list()
    device: list[Any] = ijson.sendable_list()
    readers = [
        ijson.items_coro(inbox, "traceEvents.item", use_float=True),
        ijson.items_coro(about, "distributedInfo", use_float=True),
        ijson.items_coro(device, "deviceProperties.item", use_float=True),
    ]
    done = told = 0
    depth = _Depth()
    try:
        # read1: what is good of a broken archive comes out before the error does.
        while piece := start + stream.read1(_PIECE):
            start = b""
            depth.check(piece)
            # Kineto writes what it says of the run in front of the events.
            for reader in readers if not events.categories else readers[:1]:
                reader.send(piece)
            for event in inbox:
                _take(event, events)
            del inbox[:]
            done += len(piece)
            if progress is not None and done - told >= _PIECE:
                progress(done)
                told = done
        readers[0].close()
    except (ijson.JSONError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
        events.broken = str(error).split("\n", 1)[0][:120] or type(error).__name__
    for event in inbox:
        _take(event, events)
    events.distributed = next((one for one in about if isinstance(one, dict)), {})
    events.devices = [one for one in device if isinstance(one, dict)][:64]
    return events


def _take(event: object, events: _Events) -> None:
    """Note one event."""
    if not isinstance(event, dict):
        events.unreadable += 1
        return
    category = str(event.get("cat", ""))[:40].casefold()
    events.categories[category] += 1
    name, length, start = event.get("name"), event.get("dur"), event.get("ts")
    if not isinstance(name, str) or event.get("ph") != "X":
        return
    if not (_is_time(length) and _is_time(start)):
        events.unreadable += 1
    elif category in _ON_DEVICE:
        talks = _COMMUNICATES.search(name[:2000]) is not None
        _note(events.talk if talks else events.compute, start, length, events)
        if talks:
            events.calls.kernel(event.get("args"), length)
        key = name[:120] if name[:120] in events.count or len(events.count) < _NAMES else "others"
        events.count[key] += 1
        events.time[key] = events.time.get(key, 0.0) + length
    elif category in _COPIES:
        events.copies += 1
    elif category in ("user_annotation", "cpu_op", "operator"):
        _take_host(name, start, length, event.get("args"), events)


def _take_host(name: str, start: float, length: float, told: object, events: _Events) -> None:
    """Note one event of the processor; ``told`` are its ``args``."""
    if step := _STEP.fullmatch(name[:40]):
        events.steps[int(step[1])] = length * 1e-6
    elif name.startswith(("nccl:", "gloo:")):
        events.annotations[name[:60]] += 1
        _note(events.collectives, start, length, events)
    elif name == "record_param_comms":
        events.calls.launch(told)
    elif name.startswith("aten::"):
        _note(events.operators, start, length, events)


def _note(
    kind: tuple[array[float], array[float]], start: float, length: float, events: _Events
) -> None:
    """Keep an interval. Times since 1970 in us would leave a double no room for fractions."""
    if events.origin is None:
        events.origin = start
    kind[0].append(start - events.origin)
    kind[1].append(start - events.origin + length)


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e18


def _reading(path: str, events: _Events) -> Reading:
    if not events.categories:
        found = f"no events: {events.broken}" if events.broken else "no events"
        rule = "a trace has events in traceEvents"
        fix = "export it with torch.profiler's export_chrome_trace"
        raise InputError(Problem(file=path, found=found, rule=rule, fix=fix))
    fields = _fields(events)
    ignored = (Ignored(1, events.unreadable, "events without a name or a time"),)
    measured = (_measurement(path, fields),) if fields["kernels"] else ()
    return Reading(
        "kineto", "trace", tuple(_summary(fields)), fields, tuple(_warnings(fields, events)),
        ignored if events.unreadable else (), None, measured,
    )  # fmt: skip


def _fields(events: _Events) -> dict[str, Any]:
    times = _times(events.talk, events.compute)
    on_processor = not events.count and bool(events.collectives[0])
    about = events.distributed
    groups = about.get("pg_config")
    longest = sorted(events.time.items(), key=lambda one: -one[1])
    named = [(name, time) for name, time in longest if _COMMUNICATES.search(name)]
    return {
        "events": sum(events.categories.values()),
        "categories": dict(events.categories.most_common(40)),
        "kernels": sum(events.count.values()),
        "copies": events.copies,
        **times,
        "processor": _times(events.collectives, events.operators) if on_processor else None,
        "collectives": [
            {"name": name, "count": events.count[name], "time_s": time * 1e-6}
            for name, time in named[:50]
        ],
        **events.calls.fields(),
        "top_kernels": [
            {"name": name, "count": events.count[name], "time_s": time * 1e-6}
            for name, time in longest[:10]
        ],
        "annotated_collectives": dict(events.annotations.most_common(50)),
        "steps": {str(number): length for number, length in sorted(events.steps.items())[:1000]},
        "backend": short(about.get("backend")),
        "rank": _count(about.get("rank")),
        "world_size": _count(about.get("world_size")),
        "process_groups": _count(about.get("pg_count"))
        or (len(groups) if isinstance(groups, list) else None),
        "devices": [short(one.get("name")) for one in events.devices],
        "cut_off": events.broken,
    }


def _times(
    talking: tuple[array[float], array[float]], computing: tuple[array[float], array[float]]
) -> dict[str, float | None]:
    """Return the times in s of what communicates and computes; zero or ``None`` if nothing does."""
    import numpy as np

    from artery.formats.pytorch.intervals import both, covered, union

    talk = union(*(np.array(part, np.float64) for part in talking))
    compute = union(*(np.array(part, np.float64) for part in computing))
    starts, ends = (np.concatenate(pair) for pair in zip(talk, compute, strict=True))
    if not starts.size:
        names = ("span_s", "busy_s", "communication_s", "compute_s", "overlap_s")
        return {**dict.fromkeys(names, 0.0), "exposed_communication_s": 0.0, "idle_fraction": None}
    span = float(ends.max() - starts.min())
    busy = covered(union(starts, ends))
    shared = both(talk, compute)
    return {
        "span_s": span * 1e-6,
        "busy_s": busy * 1e-6,
        "communication_s": covered(talk) * 1e-6,
        "compute_s": covered(compute) * 1e-6,
        "overlap_s": shared * 1e-6,
        "exposed_communication_s": (covered(talk) - shared) * 1e-6,
        "idle_fraction": 1 - busy / span if span else 0.0,
    }


def _measurement(path: str, fields: dict[str, Any]) -> Measurement:
    def term(name: str, key: str) -> Term:
        return Term(name, "s", fields[key], fields[key], fields[key], source=path)

    span = fields["span_s"]
    idle = span - fields["busy_s"]
    parts = (
        term("compute", "compute_s"),
        term("exposed_communication", "exposed_communication_s"),
        Term("idle", "s", idle, idle, idle, source=path),
    )
    conditions = {
        key: str(fields[key]) for key in ("rank", "world_size") if fields[key] is not None
    }
    return Measurement(Term("span", "s", span, span, span, "sum", source=path, children=parts),
                       path, conditions)  # fmt: skip


def _count(value: object) -> int | None:
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value < 10**9 else None
    )


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    where = "" if fields["rank"] is None else f"rank {fields['rank']} of {fields['world_size']}, "
    backend = f" over {fields['backend']}" if fields["backend"] else ""
    yield f"{where}{fields['events']} events, {fields['kernels']} kernels{backend}"
    times = fields if fields["kernels"] else fields["processor"]
    if not times:
        return
    ms: Callable[[str], str] = lambda key: show_time(times[key])  # noqa: E731
    idle = 100 * (times["idle_fraction"] or 0)
    yield f"span {ms('span_s')}: busy {ms('busy_s')}, idle {idle:.1f} %"
    yield (f"compute {ms('compute_s')}, communication {ms('communication_s')}, of which exposed "
           f"{ms('exposed_communication_s')}")  # fmt: skip
    if fields["collectives"]:
        first = fields["collectives"][0]
        yield f"longest communication: {first['count']} x {first['name'].partition('(')[0][:60]}"
    yield from kineto_calls.summary(fields)


def _warnings(fields: dict[str, Any], events: _Events) -> Iterator[str]:
    if events.broken:
        yield f"the trace is cut off or broken ({events.broken}); what came before was read"
    if not fields["kernels"]:
        yield "no kernels: a trace of the processor alone says nothing of the device"
        if fields["processor"]:
            yield "one rank alone: a collective's time includes waiting for the slowest rank"
        return
    if (fields["idle_fraction"] or 0) > 0.3:
        yield "the device idles a third of the time or more: input, launches or waiting for others"
    if fields["exposed_communication_s"] > 0.2 * fields["span_s"]:
        yield "communication that nothing hides takes a fifth of the time or more"
    if fields["world_size"] and fields["world_size"] > 1:
        yield "one rank alone: a collective's time includes waiting for the slowest rank"


FORMAT = Format("kineto", "trace", _recognise, _read, stream=_stream)
