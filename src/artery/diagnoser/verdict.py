"""The verdict: healthy, degraded, faulty, refused or unknown, and everything it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from artery.diagnoser.case import Case, Curve, Refusal, number
from artery.diagnoser.played import Player, after_play
from artery.diagnoser.rules import Cause, causes
from artery.diagnoser.shape import LARGE, Reading, shape_of
from artery.diagnoser.weigh import Explanation, Reprice, Weighed, faults, weigh

Verdict = Literal["healthy", "degraded", "faulty", "refused", "unknown"]

HEALTHY: Final = 0.85
"""Assumed: measured over expected; the model's own spread is a factor of 1.1 to 1.25."""

TOO_GOOD: Final = 1.5
"""Assumed: half as much again as expected is no good system, but another one."""

FAULTY: Final = 0.25
"""Assumed: below a quarter, something is not slow but broken, or not used at all."""

PLATEAU: Final = 0.75
"""Assumed: from three quarters of the largest expected bandwidth on a size is bound by bandwidth;
below, start-up times and the choice of algorithm rule, which the model knows less well."""

LIKELY: Final = 0.05
"""Assumed: less confidence than one in twenty is shown only as what does not explain it."""

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Judged:
    """A measured curve beside what it should be; ``expected`` and its ends in B/s by size."""

    curve: Curve
    shape: Reading
    expected: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def short(self) -> tuple[int, ...]:
        """The places of the large sizes that fall far short, of those bound by bandwidth.

        Far short is below :data:`HEALTHY` of the low end of the expected interval, and of at least
        :data:`artery.diagnoser.shape.LARGE` bytes.
        """
        bound = PLATEAU * max(self.expected)
        return tuple(
            place
            for place, point in enumerate(self.curve.points)
            if point.size >= LARGE
            and self.expected[place] >= bound
            and point.busbw < HEALTHY * self.low[place]
        )

    @property
    def place(self) -> int:
        """The place of the size that counts.

        The largest one, or that of the large sizes which falls shortest where the largest is as it
        should be.
        """
        last = len(self.expected) - 1
        if self.short and HEALTHY <= self.ratio <= TOO_GOOD:
            return min(self.short, key=self._share)
        return last

    @property
    def dips(self) -> bool:
        """Whether large sizes fall far short, and the largest does not."""
        return self.place != len(self.expected) - 1

    @property
    def ratio(self) -> float:
        """Measured over expected at the largest size."""
        return self._share(len(self.expected) - 1)

    @property
    def is_too_good(self) -> bool:
        """Whether more was measured than the system can give, at the largest size or at its best.

        Smaller sizes may be faster than foreseen; none may be above what any size can give.
        """
        most = TOO_GOOD * max(self.high)
        return self.ratio > TOO_GOOD or self.curve.best.busbw > most

    @property
    def least(self) -> float:
        """Measured over expected at the size that counts."""
        return self._share(self.place)

    def _share(self, place: int) -> float:
        return self.curve.points[place].busbw / self.expected[place]


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that would decide, why, and how to find it."""

    fact: str
    why: str
    ask: str


TUNING: Final = Missing(
    "tuning",
    "the largest size is as it should be and others are far below: a library that changes its "
    "algorithm or protocol by size, or a run that was disturbed",
    "the same run twice on idle nodes; if it stays, NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING, and "
    "NCCL_ALGO and NCCL_PROTO set by hand, size by size",
)
TRANSPORT: Final = Missing(
    "transport",
    "several causes give these numbers; which network the library uses, with how many cards and "
    "whether they reach GPU memory, tells them apart",
    "the log with NCCL_DEBUG=INFO of one run (Using network, NET/IB : Using, GDRDMA)",
)
SYSTEM: Final = Missing(
    "system",
    "more was measured than the named system can give: it is another, or the columns are not "
    "what they seem",
    "the names of chips and cards where it was measured: nvidia-smi topo -m, ibstat",
)
TOPOLOGY: Final = Missing(
    "topology",
    "several causes give these numbers; how the chips are joined tells them apart",
    "nvidia-smi topo -m and the log with NCCL_DEBUG=INFO of one run",
)
_ONE: Final = {
    "transport": "the numbers alone speak for this one cause; which network the library uses, with "
    "how many cards and whether they reach GPU memory, settles it",
    "topology": "the numbers alone speak for this one cause; how the chips are joined settles it",
}
_NONE: Final = {
    "transport": "no cause that is known gives these numbers; which network the library uses, with "
    "how many cards and whether they reach GPU memory, tells where to look",
    "topology": "no cause that is known gives these numbers; how the chips are joined tells where "
    "to look",
}
_TOLD: Final = {
    "transport": ("transport", "cards_used", "gpu_direct_rdma"),
    "topology": ("nvlinks", "nvls_used", "shm_pairs_share", "pcie_only"),
}
"""Facts of which any one says that the log or the table that would be asked for is there."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict and what it rests on; ``findings`` likeliest first, then faults beside them."""

    verdict: Verdict
    judged: Judged | None
    curve: Curve | None
    findings: tuple[Weighed, ...]
    missing: tuple[Missing, ...]
    refusals: tuple[Refusal, ...]


def judge(
    case: Case,
    judged: Judged | None,
    reprice: Reprice | None,
    missing: Sequence[Missing] = (),
    play: Player | None = None,
) -> Diagnosis:
    """Return the diagnosis of ``case``.

    ``judged`` is the curve that counts with its expectation, ``None`` if nothing could be
    expected; ``reprice`` prices that curve in a changed world, ``play`` plays a cause on the
    network.
    """
    broken = faults(case, causes())
    if case.refusals:
        return Diagnosis("refused", None, None, broken, (), case.refusals)
    unlike = tuple(
        Missing("chip", doubt, "nvidia-smi -L where it was measured; --on the system that has it")
        for doubt in case.doubts
    )
    if judged is not None and judged.is_too_good:
        asked = unlike or (SYSTEM,)
        return Diagnosis("unknown", judged, judged.curve, broken, asked, ())
    if judged is not None and judged.least >= HEALTHY and judged.shape.shape != "falling":
        ceilings = [one for one in causes() if one.ceiling and _applies(one, case, judged.curve)]
        found = weigh(case, judged.curve, judged.shape.shape, None, ceilings)
        stopped = any(one.cause.stops for one in broken)
        verdict: Verdict = "faulty" if stopped else "healthy"
        return Diagnosis(verdict, judged, judged.curve, (*broken, *found), unlike, ())
    curve = judged.curve if judged is not None else _slowest(case)
    shape = None if curve is None else shape_of(curve).shape
    candidates = [cause for cause in causes() if _applies(cause, case, curve)]
    weighed = weigh(case, curve if judged else None, shape, reprice, candidates)
    if play is not None:
        weighed = after_play(weighed, play)
    verdict = _verdict(judged, shape, weighed, number(case.facts, "of_expected"))
    if judged is None and any(one.cause.stops for one in broken):
        verdict = "faulty"  # whatever makes it slow besides
    asked = _asked(case, judged, weighed, tuple(missing))
    shown = _shown(weighed)
    if judged is not None and judged.dips:
        # What holds back every size holds back the largest.
        shown = tuple(one for one in shown if one.explanation.fits or one.evidence)
        asked = (TUNING,)
    seen = {one.cause.key for one in shown}
    rest = tuple(one for one in broken if one.cause.key not in seen)
    return Diagnosis(verdict, judged, curve, (*shown, *rest), (*unlike, *asked), ())


def _asked(
    case: Case, judged: Judged | None, weighed: Sequence[Weighed], missing: tuple[Missing, ...]
) -> tuple[Missing, ...]:
    """Return the one fact that would tell apart what the numbers leave open."""
    proven = next((one.cause for one in weighed if one.evidence and one.confidence >= 0.5), None)
    if proven is not None:
        if proven.asks and proven.asks not in case.facts:
            asked = Missing(proven.asks.replace("_", " "), settles(proven), proven.next)
            return (asked,)
        return () if not case.curves else missing
    if missing or judged is None:
        return missing
    nodes = judged.curve.nodes or case.facts.get("nodes") or 1
    fact = TRANSPORT if float(nodes) > 1 else TOPOLOGY
    if any(name in case.facts for name in _TOLD[fact.fact]):
        return ()
    fit = [one for one in weighed if one.explanation.fits and one.confidence >= LIKELY]
    words = fact.why if len(fit) > 1 else (_ONE if fit else _NONE)[fact.fact]
    return (replace(fact, why=words),)


def settles(cause: Cause) -> str:
    """Return why a fact is asked for that would settle whether it is ``cause``."""
    return f"{cause.en}: this fact would settle it"


def _slowest(case: Case) -> Curve | None:
    return min(case.curves, key=lambda curve: curve.best.busbw, default=None)


def _applies(cause: Cause, case: Case, curve: Curve | None) -> bool:
    """Whether the cause can touch this case: its scope, and the facts that it needs."""
    nodes = curve.nodes if curve is not None else case.facts.get("nodes")
    if cause.scope == "network" and nodes is not None and float(nodes) <= 1:
        return False
    if cause.scope == "node" and nodes is not None and float(nodes) > 1:
        return False
    return all(name in case.facts for name in cause.needs)


def _verdict(
    judged: Judged | None, shape: str | None, weighed: Sequence[Weighed], share: float | None
) -> Verdict:
    """Return the verdict; ``share`` is what somebody says was measured of the expected."""
    if judged is not None:
        if judged.dips:
            return "degraded"  # nothing is broken where the largest size is as it should be
        broken = judged.ratio < FAULTY or shape == "falling"
        return "faulty" if broken else "degraded"
    proven = [one for one in weighed if one.evidence and one.confidence >= 0.5]
    if shape == "falling":
        return "faulty"
    if proven:
        return proven[0].cause.verdict
    if share is None:
        return "unknown"
    return "faulty" if share < FAULTY else "degraded" if share < HEALTHY else "healthy"


def _is_refuted(explained: Explanation) -> bool:
    return explained.fits is False or explained.played is not None


def _shown(weighed: Sequence[Weighed]) -> tuple[Weighed, ...]:
    """Return the likely causes, then those that were priced and do not fit."""
    likely = [
        one
        for one in weighed
        if one.confidence >= LIKELY and (one.evidence or one.explanation.fits is not None)
    ]
    refuted = [one for one in weighed if one.confidence < LIKELY and _is_refuted(one.explanation)]
    refuted.sort(key=lambda one: one.explanation.remains or 0.0)
    return tuple((likely + refuted)[:_SHOWN])
