"""``Simulation``: what came out of one run, whichever engine played it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.cluster.routing import Network
from artery.core.arrays import Floats, Ints
from artery.simulator.adding import Adding
from artery.simulator.choice import Chosen
from artery.simulator.coupled.fold import Alike
from artery.simulator.network.routes import Ends, Routes


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Every message: job, step, ends, bytes; when it left and arrived, ps.

    ``source`` and ``target`` are chips; -1 is a switch. ``opened`` is when it could start.
    """

    job: NDArray[np.int32]
    step: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    size: Ints
    opened: Ints
    sent: Ints
    delivered: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What came out of one run.

    ``seconds`` until the last byte of all jobs, ``jobs`` of each job from its start; ``finish`` of
    every rank by job, empty where the engine does not know it. ``carried`` bytes per directed link
    of ``network``. ``chosen`` names the engine; ``events`` counts what it did; ``unfinished`` are
    messages, or pipes, that never arrived. ``pairs`` are the chips that sent, with their
    ``routed`` paths; ``messages`` are kept where there are few. ``replay`` gives the seconds at
    other rates of the links, paths as they were. ``idle`` says how long full buffers kept each
    link from sending what waited for it, ps (``None``: buffers were taken as endless). ``alike``
    are nodes of which the paths of one are there for all. ``between`` are the seconds of the first
    job in 5 and 95 of a hundred draws where its work was sampled; ``replayed`` is then what
    ``replay`` plays, in hops (0: it plays nothing). ``adding`` is who adds longest,
    where adding takes time. ``piped`` are the least seconds of the first job in slices as
    fine as a library's, where those played are coarser (else 0).
    """

    seconds: float
    jobs: tuple[float, ...]
    finish: tuple[Floats, ...]
    carried: Ints
    network: Network
    chosen: Chosen
    events: int
    unfinished: int
    pairs: Ends
    routed: Routes
    messages: Messages | None
    replay: Callable[[Ints], float]
    idle: Ints | None = None
    alike: Alike | None = None
    between: tuple[float, float] | None = None
    replayed: int = 0
    piped: float = 0.0
    adding: Adding | None = None
