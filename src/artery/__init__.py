"""artery: how long an AI job takes on a set of chips, what holds it back, what would help.

>>> import artery
>>> artery.plan("llama3-8b", on="dgx-h100:64")  # doctest: +SKIP

The functions live in :mod:`artery.answers`, one file per question; they are loaded on first use,
so that importing the package costs next to nothing. The command line is :mod:`artery.cli`.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""As in ``typing``, which takes longer to import than all else here."""

if TYPE_CHECKING:
    from typing import Final

    from artery.answers.bench import bench_collectives, bench_links
    from artery.answers.bench.chip import bench_chip
    from artery.answers.diagnose import diagnose
    from artery.answers.doctor import doctor
    from artery.answers.expect import expect
    from artery.answers.explain import explain
    from artery.answers.goodput import goodput
    from artery.answers.plan import plan
    from artery.answers.read import read
    from artery.answers.scale import scale
    from artery.answers.schedule import schedule
    from artery.answers.simulate import simulate
    from artery.answers.tour import tour
    from artery.errors import (
        ArteryError,
        InfeasibleError,
        InputError,
        ThresholdError,
        UnknownNameError,
        UsageError,
    )

    __version__: str

__all__ = [
    "ArteryError",
    "InfeasibleError",
    "InputError",
    "ThresholdError",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "bench_chip",
    "bench_collectives",
    "bench_links",
    "diagnose",
    "doctor",
    "expect",
    "explain",
    "goodput",
    "plan",
    "read",
    "scale",
    "schedule",
    "simulate",
    "tour",
]

_HOMES: Final = {
    "ArteryError": "artery.errors",
    "InfeasibleError": "artery.errors",
    "InputError": "artery.errors",
    "ThresholdError": "artery.errors",
    "UnknownNameError": "artery.errors",
    "UsageError": "artery.errors",
    "bench_chip": "artery.answers.bench.chip",
    "bench_collectives": "artery.answers.bench",
    "bench_links": "artery.answers.bench",
    "diagnose": "artery.answers.diagnose",
    "doctor": "artery.answers.doctor",
    "expect": "artery.answers.expect",
    "explain": "artery.answers.explain",
    "goodput": "artery.answers.goodput",
    "plan": "artery.answers.plan",
    "read": "artery.answers.read",
    "scale": "artery.answers.scale",
    "schedule": "artery.answers.schedule",
    "simulate": "artery.answers.simulate",
    "tour": "artery.answers.tour",
}
"""Where each public name lives; the block above tells type checkers the same."""


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562)."""
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("artery")
    elif name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
