"""Steps under torch's profiler, and what its trace says of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from artery.formats.pytorch.kineto import FORMAT


def traced(step: Callable[[], object], steps: int, path: Path) -> None:
    """Run ``step`` so many times under the profiler and write its Chrome trace to ``path``.

    One more step goes before and is not traced: starting the profiler takes time.
    """
    from torch import profiler

    schedule = profiler.schedule(wait=0, warmup=1, active=steps, repeat=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profiler.profile(
            activities=[profiler.ProfilerActivity.CPU],
            schedule=schedule,
            on_trace_ready=lambda profile: profile.export_chrome_trace(str(path)),
            record_shapes=True,
        ) as profile:
            for _ in range(steps + 1):
                step()
                profile.step()


def read_trace(path: Path) -> dict[str, Any]:
    """Return the seconds per step that the trace shows on this rank, and its steps.

    ``compute_s``: some operator ran; ``communication_s``: some collective was under way, waiting
    for the slowest rank included; ``exposed_communication_s``: a collective and no operator.
    """
    assert FORMAT.stream is not None  # noqa: S101 - for the type checker
    fields = FORMAT.stream(str(path), None).fields
    where = fields if fields["kernels"] else fields["processor"]
    steps = max(1, len(fields["steps"]))
    names = ("span_s", "compute_s", "communication_s", "exposed_communication_s")
    return {"steps": steps, **{name: (where or {}).get(name, 0.0) / steps for name in names}}
