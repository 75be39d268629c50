"""One step as a trace for Perfetto and ``chrome://tracing``.

Chrome's Trace Event Format (JSON object form, complete events, microseconds), with the names
and categories that the PyTorch profiler writes: category ``kernel`` for what a chip runs, names
that begin with ``nccl:`` for communication, one process per device (here: pipeline stage) with
one thread per stream, ``device`` and ``stream`` in the arguments.
"""

from __future__ import annotations

import json
from typing import Any, Final

from artery.answers.plan.result import PlanAnswer
from artery.report.plan.timeline import Slice, timeline

_THREADS: Final = {"compute": 7, "comm": 13}
"""Thread numbers of the two streams; the profiler numbers CUDA streams the same way."""

_MICROSECONDS: Final = 1e6


def trace(answer: PlanAnswer) -> str:
    """Return the trace of the best plan of ``answer`` as JSON text.

    The last event ends at the step time. ``otherData`` says which plan on which system it is.
    """
    result = answer.plans[0]
    slices = timeline(result)
    events = [*_names(result.plan.pp), *(_event(piece) for piece in slices)]
    document = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "distributedInfo": {"backend": answer.system.library, "world_size": result.plan.chips},
        "otherData": {
            "model": answer.workload.name,
            "system": answer.system.name,
            "step_time_s": result.time.root.value,
            "source": f"artery, {result.time.source}",
        },
        "traceEvents": events,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _names(stages: int) -> list[dict[str, Any]]:
    events = []
    for stage in range(stages):
        events.append(_metadata("process_name", stage, {"name": f"pipeline stage {stage}"}))
        events.append(_metadata("process_sort_index", stage, {"sort_index": stage}))
        for stream, thread in _THREADS.items():
            label = f"stream {thread} {stream}"
            events.append(_metadata("thread_name", stage, {"name": label}, thread))
    return events


def _metadata(name: str, stage: int, args: dict[str, Any], thread: int = 0) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": stage, "tid": thread, "ts": 0, "args": args}


def _event(piece: Slice) -> dict[str, Any]:
    thread = _THREADS[piece.stream]
    args: dict[str, Any] = {"device": piece.stage, "stream": thread, "part": piece.part}
    if piece.micro_batch is not None:
        args |= {"micro_batch": piece.micro_batch, "chunk": piece.chunk}
    return {
        "ph": "X",
        "cat": "kernel",
        "name": piece.name,
        "pid": piece.stage,
        "tid": thread,
        "ts": piece.start * _MICROSECONDS,
        "dur": piece.duration * _MICROSECONDS,
        "args": args,
    }
