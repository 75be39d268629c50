"""What playing all groups of a step showed: per collective, and the links that groups fight for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from artery.core.pricing import Collective

Kind = Literal["tp", "pp", "cp", "ep", "dp", "other"]

NOTABLE = 0.03
"""Share by which simulation and closed form may differ before it is worth a line."""


@dataclass(frozen=True, slots=True)
class Fought:
    """The link that sends longest, while a collective is played.

    Its two ends and its class, the share of the time in which it sends, and how many groups of
    each kind cross it.
    """

    name: str
    link: str
    load: float
    groups: tuple[tuple[Kind, int], ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One collective of the step, as all its groups play it at once.

    ``groups`` groups of ``ranks`` ranks ``stride`` apart, ``size`` bytes by nccl-tests'
    convention. ``seconds`` are those of the slowest group with the library's ``startup``, beside
    the others that run at the same time; ``alone`` without these; ``closed`` is the closed
    form. ``median`` is what the group in the middle takes and ``slowest`` the ranks of the
    slowest one, number ``group``. ``link`` is the one they fight for, ``None`` if none is full.
    ``refused`` says why it cannot be played, where it cannot, so that the closed form stands.
    ``drawn`` says that one of the seeds asked for takes other paths.
    """

    kind: Kind
    collective: Collective
    algorithm: str
    groups: int
    ranks: int
    stride: int
    size: float
    seconds: float
    alone: float
    median: float
    startup: float
    closed: float
    group: int
    slowest: tuple[int, ...]
    link: Fought | None
    refused: str = ""
    drawn: bool = field(default=False, compare=False)

    @property
    def played(self) -> bool:
        """Whether it was played."""
        return not self.refused

    @property
    def off(self) -> float:
        """How much longer it takes than the closed form says: 0.5 for half as long again."""
        return self.seconds / self.closed - 1.0 if self.closed > 0 else 0.0

    @property
    def uneven(self) -> bool:
        """Whether the slowest group takes notably longer than the one in the middle."""
        return self.seconds > self.median * (1.0 + NOTABLE)


@dataclass(frozen=True, slots=True)
class Spread:
    """A step over ``seeds`` draws of the hashes, in seconds: 5, 50 and 95 in a hundred.

    One, where all that were asked for draw the same and it was played once.

    Or least, middle and greatest (``whole``), where draws are few or the first is an odd one.
    ``communication`` is what of it is spent on the network and not hidden behind computation.
    """

    seeds: int
    step: tuple[float, float, float]
    communication: tuple[float, float, float]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Network:
    """The communication of one plan, simulated.

    ``step`` and ``closed`` are seconds of the step with either price. ``exchanges`` begin with
    those of the part that the step spends most on. ``beside`` names the kinds
    that were on the network together with data parallelism. ``routing`` over ``queue_pairs``
    paths of each pair. ``spread`` is the range over seeds, ``None`` unless several were asked for.
    """

    step: float
    closed: float
    exchanges: tuple[Exchange, ...]
    beside: tuple[Kind, ...]
    routing: str
    queue_pairs: int
    spread: Spread | None = None

    @property
    def notable(self) -> tuple[Exchange, ...]:
        """The collectives for which the closed form is off."""
        return tuple(each for each in self.exchanges if abs(each.off) > NOTABLE)
