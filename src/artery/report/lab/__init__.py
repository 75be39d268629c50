"""Renders the answers of ``lab``: what is up, how commands ended, what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.lab import LabAnswer, RunAnswer
from artery.answers.lab.bench import BenchAnswer
from artery.answers.lab.ib import IbAnswer, TierLoad
from artery.answers.lab.predict import DRAWS
from artery.report.drawing.terminal import commands, indented
from artery.report.lab.words import lab_words
from artery.report.words import Language, Words
from artery.runner.lab.commanded import TIMED_OUT
from artery.units import show_bytes, show_count, show_percent, show_time

MOST: Final = 8
"""Names that are listed before the rest is counted."""


def lab_payload(what: str, answer: LabAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.lab/1`` after ``up``, ``status``, ``fail`` and ``repair``."""
    return {"answer": what, "lab": _lab(answer)}


def down_payload(name: str, *, was_up: bool) -> Mapping[str, object]:
    """Return the keys of ``artery.lab/1`` after ``down``."""
    return {"answer": "down", "name": name, "was_up": was_up}


def run_payload(answer: RunAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.lab/1`` after ``run``."""
    ended = [
        {
            "host": one.host,
            "rank": one.rank,
            "exit_code": one.exit_code,
            "seconds": one.seconds,
            "output": one.output,
            "errors": one.errors,
        }
        for one in answer.ended
    ]
    return {"answer": "run", "lab": _lab(answer.lab), "exit_code": answer.code, "ended": ended}


def bench_payload(answer: BenchAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.lab/1`` after ``bench``."""
    rows = [
        {
            "size_bytes": row.size,
            "seconds": row.seconds,
            "min_s": row.least,
            "median_s": row.median,
            "right": row.right,
            "closed_form_s": row.predicted.closed,
            "simulated_s": row.simulated,
            "simulated_low_s": row.predicted.low,
            "simulated_high_s": row.predicted.high,
            "hashes_found": row.predicted.seen is not None,
        }
        for row in answer.rows
    ]
    flows = answer.flows
    return {
        "answer": "bench",
        "lab": _lab(answer.lab),
        "collective": "all_reduce",
        "algorithm": answer.algorithm,
        "order": answer.order,
        "rows": rows,
        "busiest_wire_flows": None if flows is None else flows.worst,
        "flows_up": None if flows is None else flows.up,
        "flows_down": None if flows is None else flows.down,
        "load_average": answer.load,
        "cores": answer.cores,
    }


def ib_payload(answer: IbAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.lab/1`` after ``ib``."""
    loads = [
        {
            "tier": one.tier,
            "links": one.links,
            "opensm_paths": {"low": one.opensm[0], "high": one.opensm[1]},
            "artery_paths": {"low": one.artery[0], "high": one.artery[1]},
        }
        for one in answer.loads
    ]
    keys = ("system", "asked", "engine", "adapters", "switches", "islands", "paths", "legal")
    values = {key: getattr(answer, key) for key in keys}
    return {"answer": "ib", **values, "astray": answer.astray, "loads": loads}


def lab_drawing(answer: LabAnswer, language: Language) -> RenderableType:
    """Return what is up, what it stands for, and what is wrong with its wires."""
    word = lab_words(language)
    name = "" if answer.name == "lab" else f" --name {answer.name}"
    typed = [f"artery lab bench{name}", f"artery lab run{name} -- hostname"]
    return Group(_head(answer, word), commands(word["next"], [*typed, f"artery lab down{name}"]))


def down_drawing(name: str, language: Language, *, was_up: bool) -> RenderableType:
    """Return one line: whether there was a lab."""
    return Text(lab_words(language)["gone" if was_up else "none"].format(name=name))


def run_drawing(answer: RunAnswer, language: Language) -> RenderableType:
    """Return who failed, or that none did; what the hosts said went by already."""
    word = lab_words(language)
    lines = []
    for one in answer.ended:
        if one.exit_code:
            how = "ended" if one.exit_code < 0 else "code"
            how = "late" if one.exit_code == TIMED_OUT else how
            who = word["run"].format(host=one.host, rank=one.rank)
            lines.append(Text(f"{who}  {word[how].format(code=abs(one.exit_code))}", style="red"))
    return Group(*lines) if lines else Text(word["all_fine"].format(count=len(answer.ended)))


def bench_drawing(answer: BenchAnswer, language: Language) -> RenderableType:
    """Return the table of sizes, the flows on the busiest wire, and the machine's load."""
    word = lab_words(language)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for key in ("size", "closed", "simulated", "median", "least", "ratio"):
        table.add_column(word[key], justify="right")
    for row in answer.rows:
        times = (row.predicted.closed, row.simulated, row.median, row.least)
        ratio = f"{row.median / row.simulated:.3f}"
        table.add_row(show_bytes(row.size), *map(show_time, times), ratio)
    wrong = [show_bytes(row.size) for row in answer.rows if not row.right]
    said = Text(word["wrong"].format(sizes=", ".join(wrong)), style="red")
    load = word["load"].format(load=f"{answer.load:.1f}", cores=answer.cores)
    title = word["bench"].format(
        ranks=len(answer.order), order=_some(answer.order, word), algorithm=answer.algorithm
    )
    return Group(
        _head(answer.lab, word),
        Text(),
        Text(title, style="bold"),
        indented(table),
        Text(),
        _rows(
            (word["flows"], [*_flows(answer, word), said if wrong else Text(word["right"])]),
            (word["machine"], [Text(load)]),
        ),
    )


def ib_drawing(answer: IbAnswer, language: Language) -> RenderableType:
    """Return how many paths are legal, and the loads of up-links by tier."""
    word = lab_words(language)
    title = word["ib"].format(
        system=answer.system, adapters=answer.adapters, switches=answer.switches
    )
    kind = "taken" if answer.engine == answer.asked else "fallback"
    routing = [Text(word[kind].format(engine=answer.engine, asked=answer.asked))]
    if answer.islands > 1:
        routing.append(Text(word["islands"].format(count=answer.islands), style="yellow"))
    legal = word["legal"].format(
        legal=show_count(answer.legal) if answer.legal != answer.paths else f"{answer.legal:,}",
        paths=f"{answer.paths:,}",
    )
    paths = [Text(legal, style="green" if answer.legal == answer.paths else "red")]
    paths += [
        Text(word["astray"].format(devices=" ".join(one.devices), reason=one.reason))
        for one in answer.astray[:MOST]
    ]
    loads = [Text(_load(one, word)) for one in answer.loads]
    parts = _rows((word["routing"], routing), (word["paths"], paths), (word["loads"], loads))
    return Group(Text(title, style="bold"), parts)


def _load(one: TierLoad, word: Words) -> str:
    spans = {
        name: f"{low}" if low == high else word["span"].format(low=low, high=high)
        for name, (low, high) in (("opensm", one.opensm), ("artery", one.artery))
    }
    return word["load_row"].format(tier=one.tier, links=one.links, **spans)


def _lab(answer: LabAnswer) -> Mapping[str, object]:
    return {
        "name": answer.name,
        "system": answer.system,
        "mode": answer.mode,
        "engine": answer.engine,
        "scale": answer.scale,
        "rate_bytes_per_s": answer.rate,
        "hosts": answer.hosts,
        "switches": answer.switches,
        "wires": [
            {"name": one.name, "rate_bytes_per_s": one.rate, "share": one.share}
            for one in answer.wires
        ],
        "delay_s": answer.delay,
        "queue_bytes": answer.queue,
        "loss": answer.loss,
        "runs": answer.runs,
    }


def _head(answer: LabAnswer, word: Words) -> RenderableType:
    """Return what is up and what it stands for."""
    title = word["up"].format(
        name=answer.name,
        hosts=len(answer.hosts),
        switches=len(answer.switches),
        wires=len(answer.wires),
    )
    engine = word[f"engine_{answer.engine}"].format(
        delay=show_time(answer.delay),
        queue=show_bytes(answer.queue),
        loss=show_percent(answer.loss),
    )
    scaled = word["scale" if abs(answer.scale - 1.0) > 1e-9 else "as_is"].format(
        system=answer.system,
        rate=bits(answer.rate),
        real=bits(answer.rate / answer.scale),
        scale=f"{1 / answer.scale:,.6g}",
    )
    hosts = [
        f"{host.name} {host.addresses[0]}" if host.addresses else host.name for host in answer.hosts
    ]
    bad = [_wire(one.name, one.rate, one.share, word) for one in answer.wires if one.share != 1.0]
    wires = [Text(line, style="yellow") for line in bad]
    return Group(
        Text(title, style="bold"),
        _rows(
            (word["stands"], [Text(scaled)]),
            (word["mode"], [Text(word[f"mode_{answer.mode}"])]),
            (word["engine"], [Text(engine)]),
            (word["hosts"], [Text(_some(hosts, word))]),
            (word["switches"], [Text(_some(answer.switches, word))]),
            (word["wires"], wires or [Text(word["whole"].format(count=len(answer.wires)))]),
        ),
    )


def _rows(*rows: tuple[str, Sequence[RenderableType]]) -> Table:
    """Return labels, each with its lines to the right; a label without lines is left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, lines in rows:
        for number, line in enumerate(lines):
            table.add_row(Text(label if number == 0 else ""), line)
    return table


def _wire(name: str, rate: float, share: float, word: Words) -> str:
    if share == 0.0:
        return word["wire_down"].format(wire=name)
    return word["wire_slow"].format(wire=name, rate=bits(rate), share=show_percent(share))


def bits(rate: float) -> str:
    """Return a rate in B/s as network people write it.

    >>> bits(25e6)
    '200 Mbit/s'
    """
    for size, unit in ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate * 8 >= size:
            return f"{rate * 8 / size:.4g} {unit}"
    return f"{rate * 8:.4g} bit/s"


def _some(names: Sequence[str], word: Words) -> str:
    """Return the first names, and how many more there are."""
    listed = ", ".join(names[:MOST])
    left = len(names) - MOST
    return f"{listed}, {word['and_more'].format(count=left)}" if left > 0 else listed


def _flows(answer: BenchAnswer, word: Words) -> list[RenderableType]:
    """Return what hashing did to the ring, and what it might have done."""
    lines: list[RenderableType] = []
    if answer.flows is not None:
        worst = answer.flows.worst
        if worst > 1:
            both = [*answer.flows.up, *answer.flows.down]
            wire = answer.lab.wires[both.index(worst) % len(answer.lab.wires)].name
            lines.append(Text(word["flows_most"].format(worst=worst, wire=wire), style="yellow"))
        else:
            lines.append(Text(word["flows_one"]))
    elif answer.lab.mode != "paced":
        lines.append(Text(word["flows_small"], style="yellow"))
    row = answer.rows[-1]
    if row.predicted.high > row.predicted.low:
        low, high = show_time(row.predicted.low), show_time(row.predicted.high)
        size = show_bytes(row.size)
        lines.append(Text(word["flows_range"].format(draws=DRAWS, low=low, high=high, size=size)))
    if row.predicted.seen is None and answer.flows is not None:
        lines.append(Text(word["flows_unseen"], style="yellow"))
    return lines
