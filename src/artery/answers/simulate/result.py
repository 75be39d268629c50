"""What ``simulate`` answers: the time, who holds it back, and what the closed form says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from artery.core.pricing import Collective
from artery.core.system import System
from artery.core.term import Estimate, Term

if TYPE_CHECKING:
    from artery.answers.simulate.down import Down
    from artery.answers.simulate.offload import Offload
    from artery.simulator.adding import Adding
    from artery.simulator.loads import HeldUp, LinkLoad, Relief
    from artery.simulator.placed import Placed
    from artery.simulator.simulation import Simulation

Why = Literal[
    "one_card",
    "sprayed",
    "partners",
    "sides",
    "rows",
    "turns",
    "pieces",
    "hidden",
    "meeting",
]
"""Why run and closed form differ; ``docs/network.md`` tells how far each reason reaches."""

Note = (
    Literal[
        "coarse",
        "slices",
        "slices_failing",
        "rounds",
        "unfinished",
        "undrawn",
        "replaced",
        "as_packed",
        "alone",
        "one_tier",
        "uncrossed",
        "endless",
        "passing",
        "plugin",
        "card",
        "other_transport",
        "same_transport",
        "srd",
    ]
    | Why
)
"""What has to be said beside the figures; the renderer has the words."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An algorithm that was tried; ``seconds`` is ``None`` where it could not be played here."""

    algorithm: str
    seconds: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Other:
    """Another job that ran at the same time, and its seconds."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Closed:
    """What the closed form says of the same algorithm: seconds with their 80 % interval."""

    seconds: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class SimulateAnswer:
    """One collective, played.

    ``seconds`` is the ``network``'s time, simulated, and the library's ``startup``. ``low``,
    ``median`` and ``high`` are over ``seeds`` seeds (5, 50, 95 in a hundred; least, middle and
    greatest if ``whole``), or the engine's error band where there is one seed.
    ``finish`` is by rank, in seconds, empty where the engine
    does not know it. ``flows`` are messages. ``control`` is how full port buffers stopped their
    senders (``none``: they were taken as endless), and ``held`` are the links that this kept from
    sending longest. ``offload`` says who adds, ``adding`` who adds longest where that takes
    time. ``links`` are the hottest, ``reliefs`` what doubling a class of link gains. ``steps`` are
    those of the algorithm as the library's constants count them, of which ``startup`` holds what
    each adds. ``down`` is what has failed. ``jobs`` are the channels of all jobs that were played.
    """

    collective: Collective
    system: System
    ranks: int
    size: int
    request: Mapping[str, object]
    algorithm: str
    protocol: str
    library: str
    version: str
    network: float
    startup: float
    steps: int
    busbw: float
    low: float
    median: float
    high: float
    seeds: int
    whole: bool
    engine: str
    why: str
    error: float
    control: str
    flows: int
    events: int
    finish: tuple[float, ...]
    links: tuple[LinkLoad, ...]
    reliefs: tuple[Relief, ...]
    held: tuple[HeldUp, ...]
    offload: Offload
    adding: Adding | None
    closed: Closed | None
    down: Down | None
    others: tuple[Other, ...]
    tried: tuple[Tried, ...]
    notes: tuple[Note, ...]
    warnings: tuple[str, ...]
    simulation: Simulation
    jobs: tuple[Placed, ...] = ()

    @property
    def seconds(self) -> float:
        """The whole time: network and start-up."""
        return self.network + self.startup

    @property
    def estimate(self) -> Estimate:
        """The answer as a tree of terms."""
        spread = (self.low, self.high)
        network = Term(
            "network", "s", self.network, spread[0] - self.startup, spread[1] - self.startup,
            formula=f"{self.engine} engine, {self.flows} messages", source="simulated",
        )  # fmt: skip
        startup = Term(
            "startup", "s", self.startup, self.startup, self.startup,
            formula="base + steps·(step - hardware latency)",
            source=f"constants of {self.library} {self.version}",
        )  # fmt: skip
        root = Term(
            self.collective, "s", self.seconds, *spread, combine="sum",
            formula="network + startup", source="simulated", children=(network, startup),
        )  # fmt: skip
        return Estimate(root, "simulated", self.warnings)
