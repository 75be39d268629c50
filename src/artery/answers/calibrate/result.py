"""What a calibration returns: values before and after, errors, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.answers.calibrate.checks import Doubt
from artery.answers.calibrate.system import Knob


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that was fitted, with the 80 % interval of what it may be, in SI.

    ``at_limit`` says that it is as high as it can be: the data alone may ask for more.
    """

    knob: Knob
    before: float
    after: float
    low: float
    high: float
    at_limit: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that was left as it is, and why (``silent``, or ``pair`` with the other one)."""

    path: str
    reason: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured point beside what the system gave before and gives now (s).

    A step of training is a ``collective`` called ``step``, of no size.
    """

    file: str
    collective: str
    ranks: int
    nodes: int | None
    size: int
    measured: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The median errors of messages from ``low`` bytes up, below ``high``."""

    low: float
    high: float
    points: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Check:
    """Fitted on every other size, tried on the rest: the median errors of the rest."""

    points: int
    before: float
    after: float
    classes: tuple[SizeClass, ...]

    @property
    def worse(self) -> bool:
        """Whether the fitted system does worse than the one before on what it did not see."""
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class CalibrateAnswer:
    """The fit. ``noise`` is the deviation that remains, as a share; ``points`` how many count.

    ``doubts`` are what speaks against a healthy machine; ``framework`` is the training framework
    of which values may have been fitted.
    """

    system: str
    files: tuple[str, ...]
    changed: tuple[Changed, ...]
    kept: tuple[Kept, ...]
    rows: tuple[Row, ...]
    check: Check | None
    noise: float
    points: float
    doubts: tuple[Doubt, ...] = ()
    framework: str | None = None

    @property
    def before(self) -> float:
        """The median error of the system as it was."""
        return float(np.median([abs(one.before / one.measured - 1) for one in self.rows]))

    @property
    def after(self) -> float:
        """The median error of the system as it is fitted."""
        return float(np.median([abs(one.after / one.measured - 1) for one in self.rows]))
