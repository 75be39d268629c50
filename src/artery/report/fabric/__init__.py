"""The answer of ``fabric design``: a table of candidates, and the first one opened up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.fabric import Candidate, DesignAnswer
from artery.cluster.design import FULL
from artery.cluster.design.bill import COPPER_S_PER_M, FIBRE_S_PER_M
from artery.core.parts import Span
from artery.report.drawing.tables import NOTHING
from artery.report.drawing.terminal import commands, indented
from artery.report.fabric.words import fabric_words
from artery.report.plan import labelled_lines
from artery.report.said import warned
from artery.report.words import Language, Words
from artery.units import show_line_rate, show_money, show_percent, show_power, show_rate, show_time

TABLE_WIDTH = 104
"""Cells that the table of candidates takes."""


def design_drawing(answer: DesignAnswer, language: Language, asked: str) -> RenderableType:
    """Return the candidates, the first one opened up, and how parts and fabrics compare."""
    word = fabric_words(language)
    demand = answer.demand
    title = word["title"].format(
        chips=f"{demand.chips:,}",
        nodes=f"{demand.nodes:,}",
        radix=demand.radix,
        port=show_line_rate(demand.port),
        rails=demand.rails,
    )
    parts: list[RenderableType] = [Text(title, style="bold"), Text()]
    if answer.candidates:
        parts += [indented(_table(answer, word)), Text()]
        for one in answer.candidates:
            parts.append(indented(_reasons(one, word)))
        parts.append(Text())
        parts += _first(answer.candidates[0], word)
        parts += _media(answer, word)
    else:
        parts += [Text(word["none"], style="red"), Text()]
    parts += [indented(Text(line, style="dim")) for line in _out(answer, word)]
    parts += _fabrics(answer, word)
    remarks = labelled_lines(
        word["note"], warned(answer.notes, language),
        word["warning"], warned(answer.warnings, language),
    )  # fmt: skip
    if remarks is not None:
        parts += [Text(), indented(remarks)]
    parts += [Text(), indented(commands(word["next"], _next(answer, asked)))]
    return Group(*parts)


def _grid(*columns: str, last_left: bool = True) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for index, name in enumerate(columns):
        left = index == 0 or (last_left and index + 1 == len(columns))
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    return table


def _table(answer: DesignAnswer, word: Words) -> Table:
    names = (
        "design",
        "switches",
        "links",
        "optics",
        "power",
        "price",
        "bisection",
        "hops",
        "latency",
    )
    table = _grid(*(word[name] for name in names), last_left=False)
    for one in answer.candidates:
        design, bill = one.design, one.bill
        low, high = design.hops
        tops = [top for _, top in one.latencies]
        table.add_row(
            Text(design.name, style="bold"),
            f"{design.switches:,}",
            f"{sum(design.links):,}",
            f"{bill.transceivers:,}",
            NOTHING if bill.power is None else show_power(bill.power.middle),
            NOTHING if bill.price is None else show_money(bill.price.middle),
            show_percent(design.bisection_fraction),
            f"{low}-{high}" if low != high else str(low),
            "/".join(f"{top * 1e6:.1f}" for top in tops),
        )
    return table


def _reasons(one: Candidate, word: Words) -> Text:
    told = "; ".join(word[f"reason_{reason}"] for reason in one.reasons)
    return Text.assemble((f"{one.design.name}: ", "bold"), told)


def _first(one: Candidate, word: Words) -> Iterator[RenderableType]:
    """Yield the tiers, the cables and the failures of one candidate."""
    design = one.design
    yield Text(word["opened"].format(name=design.name), style="bold")
    tiers = _grid(word["tier"], word["switches"], word["down"], word["up"], last_left=False)
    for tier in design.tiers:
        tiers.add_row(word[tier.name], f"{tier.switches:,}", str(tier.down), str(tier.up))
    yield indented(tiers)
    rate = show_rate(design.bisection)
    yield indented(Text(f"{word['bisection']} {rate} ({show_percent(design.bisection_fraction)})"))
    yield Text()
    yield indented(_bill(one, word))
    yield indented(Text(word["left_out"], style="dim"))
    yield Text()
    cables = _grid(word["cables"], word["count"], word["length"], word["delay"], word["part"])
    for cable in one.bill.cables:
        length = _span(cable.shortest, cable.longest) + " m"
        part = cable.part if cable.within_reach else f"{cable.part}: {word['too_long']}"
        delay = _span(round(cable.delay.low * 1e9, 1), round(cable.delay.high * 1e9, 1)) + " ns"
        cables.add_row(word[cable.tier], f"{cable.count:,}", length, delay, part)
    yield indented(cables)
    light = word["light"].format(fibre=1e9 * FIBRE_S_PER_M, copper=1e9 * COPPER_S_PER_M)
    yield indented(Text(light, style="dim"))
    yield Text()
    failed = _grid(
        word["failed"],
        word["cut"],
        word["nodes_cut"],
        word["slowed"],
        word["lost"],
        last_left=False,
    )
    for blast in one.blasts:
        lost = show_percent(blast.bandwidth_lost) if blast.chips_slowed else NOTHING
        failed.add_row(
            word[blast.part], f"{blast.chips_cut:,}", f"{blast.nodes_cut:,}",
            f"{blast.chips_slowed:,}", lost,
        )  # fmt: skip
    yield indented(failed)
    failures = one.bill.optic_failures
    if failures is not None:
        yield indented(
            Text(word["per_day"].format(
                low=f"{failures.low:.2g}", high=f"{failures.high:.2g}",
                links=f"{one.link_failures:.2g}", leaves=f"{one.leaf_failures:.2g}",
            ), style="dim")
        )  # fmt: skip
    yield Text()


def _bill(one: Candidate, word: Words) -> Table:
    table = _grid(
        *(word[name] for name in ("part", "count", "power", "price", "seen")), last_left=False
    )
    for line in one.bill.lines:
        power, price = line.power, line.price
        table.add_row(
            line.name or word[line.role],
            f"{line.count:,}",
            NOTHING if power is None else _range(show_power, power),
            NOTHING if price is None else _range(show_money, price),
            line.price_date or "",
        )
    return table


def _media(answer: DesignAnswer, word: Words) -> Iterator[RenderableType]:
    """Yield copper against optics."""
    yield Text(word["media"].format(name=answer.candidates[0].design.name), style="bold")
    table = _grid(
        *(word[name] for name in ("part", "reach", "reached", "watts", "usd", "failures")),
        last_left=False,
    )
    for one in answer.media:
        table.add_row(
            one.name,
            _span(one.reach.low, one.reach.high) + " m",
            show_percent(one.reached),
            NOTHING if one.power is None else _span(one.power.low, one.power.high),
            NOTHING if one.price is None else _span(one.price.low, one.price.high),
            NOTHING if one.failures_per_year is None
            else _span(100 * one.failures_per_year.low, 100 * one.failures_per_year.high) + " %",
        )  # fmt: skip
    yield indented(table)
    yield Text()


def _fabrics(answer: DesignAnswer, word: Words) -> Iterator[RenderableType]:
    """Yield InfiniBand against RoCE: switches that have the ports, and published comparisons."""
    yield Text()
    yield Text(word["fabrics"], style="bold")
    table = _grid(
        *(
            word[name]
            for name in ("switch", "ports", "watts_port", "usd_port", "switch_latency", "fabric")
        )
    )
    for one in answer.switches:
        table.add_row(
            one.name + ("*" if one.chip_alone else ""),
            str(one.ports),
            NOTHING if one.port_power is None else _span(one.port_power.low, one.port_power.high),
            NOTHING if one.port_price is None else _span(one.port_price.low, one.port_price.high),
            NOTHING if one.latency is None else show_time(one.latency.middle),
            one.fabric,
        )
    yield indented(table)
    if any(one.chip_alone for one in answer.switches):
        yield indented(Text(word["chip_alone"], style="dim"))
    for fact in answer.facts:
        gain = "" if fact.ratio is None else f"{100 * (fact.ratio - 1):+.1f} %"
        line = word[f"fact_{fact.topic}"].format(
            gain=gain, chips=f"{fact.chips:,}", source=fact.source
        )
        yield indented(Text(line))
    yield indented(Text(word["latency_facts"]))


def _range(show: Callable[[float], str], span: Span) -> str:
    """Return both ends as ``show`` writes them, or the one there is."""
    low, high = show(span.low), show(span.high)
    return low if low == high else f"{low}-{high}"


def _span(low: float, high: float) -> str:
    """Return ``7`` or ``7-9`` with up to three significant digits."""
    one, other = f"{low:.3g}", f"{high:.3g}"
    if high >= 1000:
        one, other = f"{low:,.0f}", f"{high:,.0f}"
    return one if one == other else f"{one}-{other}"


def _out(answer: DesignAnswer, word: Words) -> Iterable[str]:
    """Yield the designs that are out, those of one reason together."""
    for reason in ("too_many", "too_few_ports"):
        names = [
            f"{one.kind}-{one.tiers} ({one.reach:,})" if one.reach else f"{one.kind}-{one.tiers}"
            for one in answer.rejected
            if one.reason == reason
        ]
        if names:
            yield word[f"out_{reason}"].format(names=", ".join(names))


def _next(answer: DesignAnswer, asked: str) -> Iterable[str]:
    if answer.candidates and answer.demand.tapers == (FULL,):
        first = answer.candidates[0].design.name
        yield f"artery fabric design {asked} --radix {answer.demand.radix} --oversub 2:1"
        yield f"artery fabric design {asked} --cables {first} -o cables.csv"
    elif not answer.candidates:
        yield f"artery fabric design {asked} --radix {2 * answer.demand.radix}"
    yield "artery catalog list switches"
