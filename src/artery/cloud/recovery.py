"""What passes between a failure and work again, part by part.

R = detect + teardown + reschedule + rendezvous + communicators + start + load + first step. Loading
the checkpoint depends on where it lies; the rest, here, on ranks and nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from artery.core.failure import Severity
from artery.core.term import Term

HANG: Final = 0.099
"""Share of failures that hang instead of ending a process: 9.9 % (ByteRobust, arXiv 2509.16293,
table 1)."""

WATCHDOG: Final = 600.0
"""Seconds until a hang is noticed: the default timeout of NCCL process groups in PyTorch."""

KEEP_ALIVE: Final = 15.0
"""Seconds until a dead agent is noticed: torchrun, 3 missed beats of 5 s."""

TEARDOWN: Final = 30.0
"""Seconds from SIGTERM to SIGKILL: torchrun and the default grace period of Kubernetes."""

RESCHEDULE: Final = 50.0
"""Seconds to place a job anew: measured on TPU v5e (Google Developers Blog, 2026)."""

RENDEZVOUS: Final = 5.0, 0.001
"""Assumed: seconds to meet at the store, and seconds more per rank."""

COMMUNICATORS: Final = 30.0 / 10_000
"""Seconds per rank to set up communicators: under 30 s at 10,000 ranks (MegaScale, arXiv
2402.15627, section 3.5, recalled)."""

ALL_PAIRS: Final = 1047.0 / 2048**2
"""The same source before its barriers were mended: 1,047 s at 2,048 ranks, in proportion to the
square of the ranks; the upper end of the range up to that size."""

START: Final = 30.0
"""Assumed: seconds to start processes and import a framework."""

FIRST_STEP: Final = 12.7
"""Seconds more that a first step takes: measured on TPU v5e (Google Developers Blog, 2026)."""


def recovery(ranks: int, step: float) -> tuple[Term, ...]:
    """Return the parts of a restart but for loading, in seconds, in the order they happen."""
    detect = HANG * WATCHDOG + (1.0 - HANG) * KEEP_ALIVE
    meet, each = RENDEZVOUS
    meeting, joining = meet + each * ranks, COMMUNICATORS * ranks
    slow_joining = max(joining, ALL_PAIRS * min(ranks, 2048) ** 2)
    watched = "torch defaults (600 s, 15 s); hangs 9.9 %: ByteRobust (arXiv 2509.16293) table 1"
    google = "Google Developers Blog, TPU v5e, 2026"
    return (
        _part(
            "detect", detect, (KEEP_ALIVE, WATCHDOG), "hangs·watchdog + rest·keep-alive", watched
        ),
        _part("teardown", TEARDOWN, (0.0, TEARDOWN), "SIGTERM to SIGKILL", "torchrun default"),
        _part("reschedule", RESCHEDULE, (10.0, 600.0), "a healthy node in its place", google),
        _part("start", START, (10.0, 120.0), "processes and imports", "assumed"),
        _part("rendezvous", meeting, (meet, 4 * meeting), "5 s + 1 ms·ranks", "assumed"),
        _part(
            "communicators",
            joining,
            (joining, slow_joining),
            "3 ms·ranks",
            "MegaScale (arXiv 2402.15627) section 3.5, recalled",
        ),
        _part("first_step", FIRST_STEP + step, (step, 60.0 + step), "12.7 s + one step", google),
    )


def given_restart(seconds: float) -> tuple[Term, ...]:
    """Return a restart of which only the whole is known, loading included."""
    return (_part("restart", seconds, (seconds, seconds), "given", "given"),)


def _part(name: str, value: float, ends: tuple[float, float], formula: str, source: str) -> Term:
    return Term(name, "s", value, *ends, formula=formula, source=source)


def restart_time(parts: Iterable[Term], severity: Severity) -> float:
    """Return the seconds of all ``parts`` that a failure of ``severity`` needs.

    Where only a process died its node takes the job again: nothing is rescheduled.
    """
    return sum(p.value for p in parts if severity != "process" or p.name != "reschedule")
