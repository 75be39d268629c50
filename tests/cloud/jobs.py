"""Jobs made by hand, for tests of what failures cost."""

from __future__ import annotations

from artery.cloud.checkpoints import Tier
from artery.cloud.goodput import Job
from artery.cloud.recovery import given_restart
from artery.core.failure import FailureClass, FailureModel, Severity
from artery.core.source import Source

SOURCE = Source("a test", "", "assumed")


def failures(**rates: float) -> FailureModel:
    """Failures a second by severity."""
    kinds: tuple[Severity, ...] = ("process", "node", "domain", "silent", "stall", "slow")
    return FailureModel(
        "test",
        tuple(
            FailureClass(kind, "job", 1, rates[kind], 0.5 * rates[kind], 2 * rates[kind], kind,
                         SOURCE, duration=60.0, slowdown=2.0)
            for kind in kinds if kind in rates
        ),
    )  # fmt: skip


def job(save: float = 30.0, restart: float = 600.0, **rates: float) -> Job:
    """A job that saves to a shared store."""
    store = Tier("shared", save, save, 0.0)
    return Job(failures(**rates), given_restart(restart), (store,), loads=False)
