"""Choice: does the model pick well among alternatives that somebody measured?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

DIFFERENT = 0.05
"""Pairs whose measured times differ by no more than this are not worth ordering."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One measured plan of a group: ``plan`` tells plans apart, times are in seconds."""

    source: str
    group: Hashable
    plan: Hashable
    measured: float
    predicted: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The score over ``groups`` of alternatives.

    Mean ``regret`` of the model's pick and ``random_regret`` of a random one
    (t_picked / t_best - 1); share of ``pairs`` that are ordered right.
    """

    source: str
    groups: int
    candidates: int
    regret: float
    random_regret: float
    pairs: int
    ordered: float


def groups_of(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Return the groups with at least two different plans."""
    found: dict[Hashable, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault((candidate.source, candidate.group), []).append(candidate)
    return [group for group in found.values() if len({one.plan for one in group}) > 1]


def regret(group: Sequence[Candidate]) -> float:
    """Return t_picked / t_best - 1 for the plan with the least predicted time.

    Where several measurements are of the picked plan (or tie with it), their mean counts.
    """
    least = min(one.predicted for one in group)
    picked = fmean(one.measured for one in group if one.predicted == least)
    return picked / min(one.measured for one in group) - 1


def random_regret(group: Sequence[Candidate]) -> float:
    """Return the expected regret of a pick at random."""
    return fmean(one.measured for one in group) / min(one.measured for one in group) - 1


def pairs(group: Sequence[Candidate]) -> tuple[int, int]:
    """Return (ordered right, pairs) over pairs of different plans that differ by over 5 %.

    A tie in the predictions orders nothing and counts as wrong.
    """
    right = count = 0
    for one, other in combinations(group, 2):
        slow, fast = max(one.measured, other.measured), min(one.measured, other.measured)
        if one.plan == other.plan or slow / fast - 1 <= DIFFERENT:
            continue
        count += 1
        right += (one.measured - other.measured) * (one.predicted - other.predicted) > 0
    return right, count


def choice(source: str, groups: Sequence[Sequence[Candidate]]) -> Choice:
    """Return the score over ``groups``, at least one; means weigh groups alike."""
    ordered = [pairs(group) for group in groups]
    count = sum(total for _, total in ordered)
    return Choice(
        source=source,
        groups=len(groups),
        candidates=sum(len(group) for group in groups),
        regret=fmean(regret(group) for group in groups),
        random_regret=fmean(random_regret(group) for group in groups),
        pairs=count,
        ordered=sum(right for right, _ in ordered) / count if count else 0.0,
    )


def choices(candidates: Iterable[Candidate]) -> list[Choice]:
    """Return the score per source, then ``all`` pooled; empty where nothing can be chosen."""
    found = groups_of(candidates)
    sources = list(dict.fromkeys(group[0].source for group in found))
    scored = [choice(s, [g for g in found if g[0].source == s]) for s in sources]
    return [*scored, choice("all", found)] if found else []
