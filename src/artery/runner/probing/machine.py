"""What one calibration run says of a machine, and the steps that follow from it.

Computing is priced operator by operator (:mod:`artery.runner.probing.costs`), an all-reduce by its
size (latency and bandwidth, from a sweep), and both together on a clock
(:mod:`artery.runner.probing.overlap`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.runner.exchange.compress import WIRE
from artery.runner.probing.costs import Costs
from artery.runner.probing.exchanged import Exchanged, count_exchange
from artery.runner.probing.measured import Run
from artery.runner.probing.noise import QUIET, Noise
from artery.runner.probing.operators import Counted, Operator, count
from artery.runner.probing.overlap import Bucket, Sent, Timeline, play
from artery.runner.tasks import find_task


@dataclass(frozen=True, slots=True)
class Wire:
    """All-reduces among ``ranks``: seconds by bytes, alone and beside computing.

    Between the measured sizes a straight line; beyond the last one goes on as between the last
    two. In a step none is taken to be faster than the fastest that was timed.
    """

    ranks: int
    sizes: tuple[float, ...]
    alone: tuple[float, ...]
    beside: tuple[float, ...]

    def seconds(self, size: float) -> Sent:
        """Return the time of an all-reduce of ``size`` bytes."""
        return Sent(_between(size, self.sizes, self.alone), _between(size, self.sizes, self.beside))

    def drawn(self, ranks: int, crowd: float) -> Wire:
        """Return the all-reduces among ``ranks`` that take turns ``crowd`` times as long.

        A ring's 2(n - 1) steps of latency, which the smallest size shows, and 2(n - 1)/n of the
        bytes.
        """
        steps = (ranks - 1) / (self.ranks - 1)
        bytes_ = steps * self.ranks / ranks

        def longer(times: tuple[float, ...]) -> tuple[float, ...]:
            first = times[0]
            return tuple(crowd * (first * steps + (one - first) * bytes_) for one in times)

        return Wire(ranks, self.sizes, longer(self.alone), longer(self.beside))

    @property
    def bus_bytes_per_s(self) -> float:
        """Bus bandwidth of the largest, as nccl-tests count it: 2(n - 1)/n of the bytes."""
        return 2 * (self.ranks - 1) / self.ranks * self.sizes[-1] / self.alone[-1]


def _between(size: float, sizes: Sequence[float], times: Sequence[float]) -> float:
    if size <= sizes[-1] or len(sizes) == 1:
        return float(np.interp(size, sizes, times))
    slope = max(0.0, (times[-1] - times[-2]) / (sizes[-1] - sizes[-2]))
    return times[-1] + slope * (size - sizes[-1])


@dataclass(frozen=True, slots=True)
class Sharing:
    """What becomes of all-reduces and computing in a step, against each timed by itself.

    ``alone``, ``beside``: how much longer an all-reduce takes in a step while nothing computes,
    and while something does: its buffers come from main memory, its partner from its own work.
    ``compute``: the speed of computing beside an all-reduce. ``skew``: by how much of its
    computing the slower rank of a step is later than a typical rank.
    """

    alone: float = 1.0
    beside: float = 1.0
    compute: float = 1.0
    skew: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """A calibrated machine.

    ``wires``: all-reduces by number of ranks and type. ``load``: the load average at the end of
    the calibration. ``others``: seconds that went by per second of processor time while the
    reference run computed: 1 where nobody else did. ``noise``: how well the typical times of the
    reference run are known.
    """

    costs: Costs
    wires: Mapping[tuple[int, str], Wire]
    sharing: Sharing
    cores: int
    load: float
    others: float = 1.0
    noise: Noise = QUIET

    def wire(self, ranks: int, kind: str) -> Wire:
        """Return the all-reduce among ``ranks``, measured or drawn out from the nearest measured.

        Where there are more ranks than cores, each waits for its turn.
        """
        kind = kind if kind in WIRE else "none"
        if (ranks, kind) in self.wires:
            return self.wires[ranks, kind]
        near = [one for (_, held), one in self.wires.items() if held == kind]
        if not near:
            raise UsageError(f"all-reduces of {kind} were not calibrated; ask for them")
        one = min(near, key=lambda wire: abs(wire.ranks - ranks))
        return one.drawn(ranks, self._crowd(ranks) / self._crowd(one.ranks))

    def step(self, run: Run, ranks: int) -> Step:
        """Return the predicted step of ``run`` on ``ranks`` processes of this machine."""
        counts = passes(run)
        parts: dict[str, float] = defaultdict(float)
        for counted in counts:
            seconds = self._seconds(counted.operators, ranks)
            phases = np.array([one.phase for one in counted.operators])
            for name in ("forward", "backward"):
                parts[name] += float(seconds[phases == name].sum())
        parts["optimizer"] = float(seconds[phases == "optimizer"].sum())
        exchanged = _exchanged(run) if ranks > 1 else None
        sent = [] if exchanged is None else [part.bytes for part in exchanged.sends]
        operators = [one for counted in counts for one in counted.operators]
        return Step(
            parts["forward"],
            parts["backward"],
            parts["optimizer"],
            self.played(run, *self.clocked(run, ranks)),
            tuple(sent),
            tuple(self.wire(ranks, run.compress).seconds(size).wire_s for size in sent),
            sum(one.flops for one in operators),
            len(operators),
            self.costs.borrowed([*operators, *(exchanged.operators if exchanged else ())]),
        )

    def played(self, run: Run, buckets: Sequence[Bucket], before: float, after: float) -> Timeline:
        """Return the step on a clock, the wait for the slower rank included."""
        line = play(before, after, buckets, self.sharing.compute, overlap=run.overlap)
        late = self.sharing.skew * before if buckets else 0.0
        return replace(line, step_s=line.step_s + late, exposed_s=line.exposed_s + late)

    def clocked(self, run: Run, ranks: int) -> tuple[list[Bucket], float, float]:
        """Return the buckets of a step, and its seconds of computing before and after them."""
        *earlier, last = [
            (counted, self._seconds(counted.operators, ranks)) for counted in passes(run)
        ]
        late = np.array([one.phase == "optimizer" for one in last[0].operators])
        start = sum(
            float(seconds[[one.phase != "optimizer" for one in counted.operators]].sum())
            for counted, seconds in earlier
        )
        before, after = start + float(last[1][~late].sum()), float(last[1][late].sum())
        if ranks == 1:
            return [], before, after
        reached = np.concatenate([[0.0], np.cumsum(last[1])]) + start
        exchanged = _exchanged(run)
        buckets = []
        for ready, pack, rest in zip(last[0].ready, exchanged.packs, exchanged.rest, strict=True):
            *again, unpack = [float(self._seconds(part.operators, ranks).sum()) for part in rest]
            sent = [self._sent(part.bytes, run, ranks) for part in rest[:-1]]
            buckets.append(
                Bucket(
                    float(reached[ready]),
                    float(self._seconds(pack.operators, ranks).sum()),
                    self._sent(pack.bytes, run, ranks),
                    unpack,
                    tuple(zip(again, sent, strict=True)),
                )
            )
        return buckets, before, after

    def _sent(self, size: int, run: Run, ranks: int) -> Sent:
        wire = self.wire(ranks, run.compress)
        sent, least = wire.seconds(size), min(*wire.alone, *wire.beside)
        return Sent(
            max(least, sent.wire_s * self.sharing.alone),
            max(least, sent.beside_s * self.sharing.beside),
        )

    def _seconds(self, operators: Sequence[Operator], ranks: int) -> NDArray[np.float64]:
        return self.costs.seconds(operators) * self._crowd(ranks) * self.others

    def _crowd(self, ranks: int) -> float:
        return max(1.0, ranks / self.cores)


@dataclass(frozen=True, slots=True)
class Step:
    """A predicted step in seconds: its parts alone, its clock, and its all-reduces.

    ``sizes``: bytes of each all-reduce; ``wires``: seconds of each alone.
    """

    forward_s: float
    backward_s: float
    optimizer_s: float
    timeline: Timeline
    sizes: tuple[int, ...]
    wires: tuple[float, ...]
    flops: float
    operators: int
    borrowed: tuple[str, ...]


def passes(run: Run) -> list[Counted]:
    """Return the operators of each pass of a step; all but the first add to gradients."""
    added = [_counted(run, adding=True)] * (run.accumulate - 1) if run.accumulate > 1 else []
    return [_counted(run, adding=False), *added]


@cache
def _counted(run: Run, *, adding: bool) -> Counted:
    return count(find_task(run.model, run.data, size=run.size), run.batch, adding=adding)


@cache
def _exchanged(run: Run) -> Exchanged:
    task = find_task(run.model, run.data, size=run.size)
    return count_exchange(task.build(0), run.compress, run.powersgd_rank)
