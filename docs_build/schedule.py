"""``docs/schedule.md`` and its Chinese twin: fleets on real traces and made-up mixes.

The figures are those of ``accuracy/data/fleet.csv``, which ``python -m accuracy.fleet`` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, log
from statistics import mean
from typing import Final

from accuracy.fleet import (
    ELASTIC,
    LOADS,
    MIX_LOADS,
    MIXES,
    POLICIES,
    SEEDS,
    SIZES,
    WINDOWS,
    interval,
    rows,
    values,
)
from artery.answers.tour.article import Text
from artery.report.words import Language
from artery.units import show_percent, show_time
from docs_build import schedule_words as words
from docs_build import template

_WAYS: Final = ("fixed-best", "fixed-mean", "fixed-most", "fixed-usual")


def english() -> str:
    """Return ``docs/schedule.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/schedule.zh.md``."""
    return _page("zh")


def _page(language: Language) -> str:
    def said(text: Text) -> str:
        return text.en if language == "en" else text.zh

    light, heavy = LOADS
    return "".join(
        [
            template("schedule.md", language),
            said(words.PHILLY).format(load=heavy) + _table(_window(n) for n in range(WINDOWS)),
            said(words.SUMMARY).format(load=heavy) + _table(_ratios()),
            said(words.NEEDED) + _table(_needed()),
            said(words.LIGHT).format(load=light) + _table(_light(n) for n in range(WINDOWS)),
            said(words.THIRTY) + _table(_mixes()),
            _verdict(said(words.VERDICT), said(words.NOWHERE), said(words.OVER)),
            said(words.SPOT) + _table(_spots()),
            _spot_end(said(words.SPOT_END), said(words.TWICE)),
            said(words.SIZES) + _table(_spot_sizes()) + said(words.SIZES_END),
        ]
    )


def _table(lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _philly(load: float, window: int, policy: str, measure: str) -> float:
    return values("philly", f"load {load} window {window}", policy, measure)[0]


def _window(number: int) -> tuple[str, ...]:
    load = LOADS[-1]
    waits = [show_time(_philly(load, number, each, "mean_queue_s")) for each in POLICIES]
    nines = [
        show_time(_philly(load, number, each, "p90_queue_s")) for each in ("fifo", POLICIES[-1])
    ]
    own = _philly(load, number, "fifo", "chips_needed")
    fewer = [
        show_percent(1 - _philly(load, number, each, "chips_needed") / own)
        for each in ("backfill", POLICIES[-1])
    ]
    return str(number), f"{_philly(load, number, '', 'chips'):.0f}", *waits, *nines, *fewer


def _ratios() -> Iterator[tuple[str, ...]]:
    load = LOADS[-1]
    fifo = values("philly", f"load {load}", "fifo", "mean_queue_s")
    for policy in POLICIES[1:]:
        other = values("philly", f"load {load}", policy, "mean_queue_s")
        ratios = [a / b for a, b in zip(fifo, other, strict=True)]
        middle, low, high = interval(ratios)
        yield (
            policy,
            f"{middle:.1f} ({low:.1f} to {high:.1f})",
            f"{min(ratios):.1f}",
            f"{max(ratios):.0f}",
        )


def _needed() -> Iterator[tuple[str, ...]]:
    load = LOADS[-1]
    fifo = values("philly", f"load {load}", "fifo", "chips_needed")
    for policy in POLICIES[1:]:
        other = values("philly", f"load {load}", policy, "chips_needed")
        middle, low, high = interval([a / b for a, b in zip(other, fifo, strict=True)])
        fewer = f"{show_percent(1 - middle)} ({show_percent(1 - high)} to {show_percent(1 - low)})"
        yield policy, f"{middle:.3f} ({low:.3f} to {high:.3f})", fewer


def _light(number: int) -> tuple[str, ...]:
    waits = (show_time(_philly(LOADS[0], number, each, "mean_queue_s")) for each in POLICIES)
    return str(number), *waits


def _gains() -> Iterator[tuple[str, str, float, float, float, float, float]]:
    """Yield mix, chips, load, elastic share, blocked, gain until the last job, until the end."""
    for system, mix in MIXES:
        for load in MIX_LOADS:
            for share in ELASTIC:
                case = f"{mix} on {system} load {load} elastic {share} seed"
                found = {
                    (policy, measure): values("mix", case, policy, measure)
                    for policy in ("fifo", POLICIES[-1])
                    for measure in ("utilisation_arriving", "utilisation", "blocked")
                }
                gains = [
                    mean(
                        found[POLICIES[-1], measure][n] / found["fifo", measure][n] - 1
                        for n in range(len(SEEDS))
                    )
                    for measure in ("utilisation_arriving", "utilisation")
                ]
                chips = system.partition(":")[2]
                blocked = mean(found["fifo", "blocked"])
                yield mix, chips, load, share, blocked, gains[0], gains[1]


def _mixes() -> Iterator[tuple[str, ...]]:
    for mix, chips, load, share, blocked, arriving, ended in _gains():
        yield (
            f"`{mix}`", f"{int(chips):,}", f"{load:g}", f"{share:.0%}", show_percent(blocked),
            f"{arriving:+.1%}", f"{ended:+.1%}",
        )  # fmt: skip


def _verdict(text: str, nowhere: str, over: str) -> str:
    found = list(_gains())
    reached = sorted({each[2] for each in found if max(each[5], each[6]) >= 0.3})
    where = over.format(loads=", ".join(f"{load:g}" for load in reached)) if reached else nowhere
    return text.format(
        most_arriving=f"{max(each[5] for each in found):+.0%}",
        most_ended=f"{max(each[6] for each in found):+.0%}",
        many_arriving=sum(each[5] >= 0.3 for each in found),
        many_ended=sum(each[6] >= 0.3 for each in found),
        all=len(found),
        where=where,
        least=f"{MIX_LOADS[0]:g}",
        light=f"{max(each[5] for each in found if each[2] == MIX_LOADS[0]):+.0%}",
        tail=f"{max(each[6] for each in found if each[2] == MIX_LOADS[0]):+.0%}",
    )


def _spot_cases() -> list[str]:
    return list(dict.fromkeys(row.case for row in rows() if row.study == "spot"))


def _over(case: str, way: str) -> float | None:
    """Steps of the elastic job over those of another; ``None`` where that kept none."""
    elastic, other = (values("spot", case, name, "steps")[0] for name in ("elastic", way))
    return elastic / other if other else None


def _spots() -> Iterator[tuple[str, ...]]:
    for case in _spot_cases():
        name, _, model = case.rpartition(" ")
        told = [values("spot", case, "", key)[0] for key in ("mean_instances", "losses_per_day")]
        ratios = [_over(case, way) for way in _WAYS]
        yield (
            name, model, f"{told[0]:.1f}", f"{told[1]:.2f}",
            show_time(values("spot", case, "", "interval_s")[0]),
            *("∞" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        )  # fmt: skip


def _spot_sizes() -> Iterator[tuple[str, ...]]:
    """The elastic job over a fixed one of each size, with the instances that it has."""
    ways = [f"fixed at {share:.0%}" for share in SIZES]
    for case in _spot_cases():
        name, _, model = case.rpartition(" ")
        yield name, model, *(_of_size(case, way) for way in ways)
    over = [[_over(case, way) for case in _spot_cases()] for way in ways]
    middle = [exp(mean(log(each) for each in found if each)) for found in over]
    yield "", "", *(f"**{each:.2f}**" for each in middle)


def _of_size(case: str, way: str) -> str:
    ratio, count = _over(case, way), values("spot", case, way, "instances")[0]
    return f"{'∞' if ratio is None else f'{ratio:.2f}'} ({count:.0f})"


def _spot_end(text: str, twice: str) -> str:
    ratios = {way: [_over(case, way) for case in _spot_cases()] for way in _WAYS}
    middle = {way: exp(mean(log(each) for each in found if each)) for way, found in ratios.items()}
    most = ratios["fixed-most"]
    return text.format(
        best=f"{middle['fixed-best']:.2f}",
        mean=f"{middle['fixed-mean']:.2f}",
        most=f"{middle['fixed-most']:.2f}",
        twice=twice.format(count=sum(each is None or each >= 2 for each in most), all=len(most)),
    )
