"""What a probe is asked for, and what it finds: plain records, without torch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """What is trained and how: names as :func:`artery.runner.tasks.find_task` takes them."""

    model: str
    data: str = "synthetic"
    size: int | None = None
    batch: int = 16
    overlap: bool = True
    compress: str = "none"
    powersgd_rank: int = 4
    accumulate: int = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one probe does, in this order.

    ``sweep``: bytes to all-reduce among the first so many ranks as each of ``groups`` says, in
    each type of ``types``. ``operators``: runs of which each operator is timed on its own.
    ``runs``: runs of ``blocks`` blocks of steps, ``traced`` steps of each under the profiler.
    """

    sweep: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    types: tuple[str, ...] = ("none",)
    operators: tuple[Run, ...] = ()
    runs: tuple[Run, ...] = ()
    blocks: int = 3
    traced: int = 3


@dataclass(slots=True)
class Steps:
    """Times of the steps of one run on one rank, in seconds.

    ``alone``: steps without exchange, of which ``forward``, ``backward`` and ``optimizer`` are
    parts, and ``thread`` the processor time. ``whole``: steps with exchange, in which ``wait``
    passed between the end of backward and the means, and ``processor`` is the time of all threads.
    ``bytes_sent``: what this rank hands to all-reduces per step.
    """

    alone: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    backward: list[float] = field(default_factory=list)
    optimizer: list[float] = field(default_factory=list)
    thread: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    wait: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    bytes_sent: float = 0.0
    trace: str | None = None
