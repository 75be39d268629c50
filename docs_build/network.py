"""``docs/network.md`` and its Chinese twin: the simulated network beside others' figures.

The words stand in the templates; the rows of their tables are those that ``accuracy`` kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from accuracy.agreement import kept as agreement
from accuracy.network import HTSIM, NDP_WINDOW, PLANNED, Row
from accuracy.network import kept as small
from accuracy.network_scale import DISTANCES, OFFLOADS
from accuracy.network_scale import kept as large
from artery import units
from artery.report.words import Language
from artery.simulator.choice import ERROR
from docs_build import template
from docs_build.network_played import read_back, sums

Cells = dict[str, dict[str, float]]
"""Of each case its values by name."""


def english() -> str:
    """Return ``docs/network.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/network.zh.md``."""
    return _page("zh")


def _page(lang: Language) -> str:
    text = template("network.md", lang)
    for name, value in _values().items():
        text = text.replace(f"{{{name}}}", value)
    return text


@cache
def _values() -> dict[str, str]:
    """Return what stands for each name in braces."""
    return {
        **{engine: f"{100 * error:.0f} %" for engine, error in ERROR.items()},
        **_headline(),
        "agreement": _rows(_apart()),
        "closed": _rows(_closed()),
        "victim": _rows(_victims()),
        "htsim": _rows(_sprays()),
        "window": str(NDP_WINDOW),
        "leaves": _rows(_leaves()),
        "grown": _rows(_grown()),
        "distances": str(DISTANCES),
        "samples": _rows(_samples()),
        "adds": _rows(_adds()),
        "sums": f"{sums()}\n",
        "read_back": f"{read_back()}\n",
    }


def _headline() -> dict[str, str]:
    """Return the figures of the page's first table."""
    rows, sprays = agreement(), _by_case(small(), "htsim")
    apart = [row for row in rows if row.why]
    off = (found["usual"] / found["whole"] - 1 for found in _sampled().values() if "whole" in found)
    ndp, roce = (
        f"{1e6 * found:.0f} µs ({100 * (found / HTSIM[name][2] - 1):+.0f} %)"
        for name in HTSIM
        for found in [sprays[f"{NDP_WINDOW} {name}"]["most"]]
    )
    return {
        "agree": f"{sum(row.pairs for row in rows if not row.why):,}",
        "total": f"{sum(row.pairs for row in rows):,}",
        "least": f"{min(row.least for row in apart):.2f}",
        "most": f"{max(row.most for row in apart):.2f}",
        "ndp": ndp,
        "roce": roce,
        "sample": f"{100 * max(map(abs, off)):.1f} %",
    }


def _rows(cells: Iterable[Iterable[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _by_case(rows: Iterable[Row], table: str) -> Cells:
    found: Cells = {}
    for row in rows:
        if row.table == table:
            found.setdefault(row.case, {})[row.name] = row.value
    return found


def _sampled() -> Cells:
    return _by_case(large(), "sampled")


def _victims() -> Iterator[list[str]]:
    names = ("pause", "packets", "credit", "marks", "endless", "spread")
    for case, values in _by_case(small(), "victim").items():
        shown = [f"{100 * values[name]:.1f}" for name in names]
        yield [case, f"{100 / int(case):.1f}", *shown]


def _sprays() -> Iterator[list[str]]:
    for case, values in _by_case(small(), "htsim").items():
        figures = [values[one] for one in ("least", "median", "most")]
        yield [*case.split(), *_microseconds(figures)]
    for name, printed in HTSIM.items():
        yield ["htsim", name, *_microseconds(printed)]


def _microseconds(figures: Iterable[float]) -> list[str]:
    return [f"{1e6 * one:.0f} µs" for one in figures]


def _leaves() -> Iterator[list[str]]:
    for case, values in _by_case(small(), "leaves").items():
        measured = 1 - 1 / PLANNED[case] if case in PLANNED else 0.0
        low, median, high = (f"{100 * values[one]:.0f}" for one in ("low", "median", "high"))
        yield [case, f"{100 * measured:.1f} %", f"{median} %", f"{low} – {high} %"]


def _grown() -> Iterator[list[str]]:
    for case, found in _by_case(large(), "grown").items():
        spans = (
            f"{100 * found[f'{one} low']:.0f} – {100 * found[f'{one} high']:.0f} %"
            for one in ("none", "pfc")
        )
        yield [case, *spans]


def _apart() -> Iterator[list[str]]:
    for row in agreement():
        if row.why:
            span = [f"{row.least:.2f}", f"{row.most:.2f}"]
            yield [row.algorithm, f"`{row.why}`", str(row.pairs), *span, row.case]


def _closed() -> Iterator[list[str]]:
    for case, values in _by_case(small(), "closed").items():
        closed, coupled = values["closed"], values["coupled"]
        off = f"{100 * (coupled / closed - 1):+.0f} %"
        times = [f"{1e3 * one:.3g} ms" for one in (closed, coupled, values["messages"])]
        yield [case, *times[:2], off, times[2]]


def _samples() -> Iterator[list[str]]:
    for case, found in _sampled().items():
        whole = found.get("whole")
        shown = f"{1e3 * whole:.2f} ms" if whole else "-"
        off = f"{100 * (found['usual'] / whole - 1):+.1f} %" if whole else "-"
        span = f"{1e3 * found['low']:.2f} – {1e3 * found['high']:.2f} ms"
        yield [case, shown, f"{1e3 * found['usual']:.2f} ms", off, span]


def _adds() -> Iterator[list[str]]:
    for case, found in _by_case(large(), "sums").items():
        yield [case, *(units.show_time(found[who]) for who in OFFLOADS)]
