"""Joins files into one case: curves, facts, what was said, and why numbers may not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

from artery.answers.diagnose.columns import told_contradiction
from artery.answers.diagnose.fabric import Fabric
from artery.answers.diagnose.facts import asked_of, columns_in, curves_of, facts_of
from artery.answers.diagnose.servers import is_pcie_only, nvlinks_of
from artery.answers.diagnose.sizing import sizing_facts
from artery.answers.diagnose.told import as_one_node, named_facts, shares_of
from artery.answers.diagnose.training import training_facts
from artery.core.system import System
from artery.diagnoser.case import Case, Curve, Fact, Refusal, Said, number
from artery.diagnoser.slow_host import slow_host
from artery.formats.reading import Reading

_OF_ONE_TABLE: Final = frozenset({"no_rows", "one_rank"})
"""Reasons that say nothing against the other tables."""

_SAID_LINES: Final = 400
"""Assumed: lines of one file that rules look at."""


def case_of(readings: Sequence[tuple[str, Reading]], fabric: Fabric | None = None) -> Case:
    """Return what the ``readings`` (path, reading) say together, and the ``fabric`` among them.

    Of two files that state the same fact the first holds, a facts file above all others: a person
    knows what the tools cannot see.
    """
    ordered = sorted(readings, key=lambda one: one[1].format != "facts")
    facts: dict[str, Fact] = {}
    origins: dict[str, str] = {}
    for path, reading in ordered:
        for name, value in facts_of(reading).items():
            if name not in facts:
                facts[name], origins[name] = value, path
    for name, value in fabric.facts() if fabric is not None else ():
        if fabric is not None and name not in facts:
            facts[name], origins[name] = value, fabric.source
    notes = _name(facts, origins, readings)
    told = tuple(curve for path, one in readings for curve in curves_of(one, path))
    found = as_one_node(told, facts)
    notes += ["one_node"] if found != told else []
    _derive(facts, origins, found)
    alone = [one for one in found if (one.ranks or number(facts, "ranks")) == 1]
    curves = tuple(_on_nodes(one, facts) for one in found if one not in alone)
    _imply(facts, origins, readings)
    if "chips" in facts and "mfu_dense" in facts:
        notes.append("same_peak")
    said = tuple(line for path, one in readings for line in _lines(one, path))
    refusals = tuple(why for path, one in readings for why in _refusals(one, path))
    refusals = tuple(dict.fromkeys((*refusals, *(_one_rank(one.source) for one in alone))))
    if curves:
        refusals = tuple(one for one in refusals if one.reason not in _OF_ONE_TABLE)
    degrees = impossible_degrees(facts)
    shares = shares_of(readings)
    return Case(curves, facts, origins, said, (*refusals, *degrees), shares, tuple(notes))


def _on_nodes(curve: Curve, facts: Mapping[str, Fact]) -> Curve:
    """Return ``curve`` on the nodes that another file counts for as many ranks."""
    nodes = number(facts, "nodes")
    if curve.nodes is not None or nodes is None or nodes < 1:
        return curve
    if curve.ranks is not None and curve.ranks != number(facts, "ranks"):
        return curve
    return replace(curve, nodes=int(nodes))


def _name(
    facts: dict[str, Fact], origins: dict[str, str], readings: Sequence[tuple[str, Reading]]
) -> list[str]:
    """Add what names stand for; return the notes on it."""
    path = next((path for path, one in readings if one.format == "facts"), None)
    notes = []
    for name, value, note in named_facts(facts, readings) if path is not None else ():
        facts[name], origins[name] = value, str(path)
        notes.append(note)
    return notes


def impossible_degrees(facts: Mapping[str, Fact]) -> tuple[Refusal, ...]:
    """Return why the parallel degrees cannot be: tp·pp·cp·dp is the number of ranks."""
    ranks = number(facts, "ranks")
    given = {name: number(facts, name) for name in ("tp", "pp", "cp", "dp")}
    product = prod(value for value in given.values() if value)
    if not ranks or product <= 1:
        return ()
    if ranks == product or (given["dp"] is None and ranks % product == 0):
        return ()
    said = " · ".join(f"{name} {value:g}" for name, value in given.items() if value)
    fix = "degrees whose product divides the ranks; ep shares the data-parallel ranks"
    return (Refusal("impossible_degrees", f"{said} = {product:g} on {ranks:g} ranks", fix),)


def _derive(facts: dict[str, Fact], origins: dict[str, str], curves: Sequence[Curve]) -> None:
    """Add what follows from the facts: ranks per node, share of the cards in use."""
    for curve in curves:
        for name, value in (("ranks", curve.ranks), ("nodes", curve.nodes)):
            if value is not None and name not in facts:
                facts[name], origins[name] = float(value), curve.source
    host = slow_host(curves)
    if host is not None:
        facts["slow_host"], origins["slow_host"] = host, f"{len(curves)} runs"
    ranks, nodes = number(facts, "ranks"), number(facts, "nodes")
    if ranks and nodes:
        facts.setdefault("ranks_per_node", ranks / nodes)
        origins.setdefault("ranks_per_node", origins["ranks"])
    facts.update(_share_of_cards(facts, number(facts, "nics_per_node")))
    if "cards_used_share" in facts:
        origins.setdefault("cards_used_share", origins.get("cards_used", "facts"))


def _share_of_cards(facts: Mapping[str, Fact], there: float | None) -> dict[str, Fact]:
    used = number(facts, "cards_used")
    if not used or not there or "cards_used_share" in facts:
        return {}
    return {"cards_used_share": used / there}


def with_cards(case: Case, system: System) -> Case:
    """Return the case with the share of the cards of ``system`` that the library used.

    As it is where no log counts them, or a file says how many cards a node has.
    """
    cards = sum(group.count for group in system.groups if group.kind == "nic")
    found = _share_of_cards(case.facts, cards / system.nodes)
    if not found:
        return case
    origins = {**case.origins, "cards_used_share": case.origins["cards_used"]}
    return replace(case, facts={**case.facts, **found}, origins=origins)


def _imply(
    facts: dict[str, Fact], origins: dict[str, str], readings: Sequence[tuple[str, Reading]]
) -> None:
    """Add what follows by arithmetic from facts and measurements that people told."""
    for path, reading in readings:
        if reading.format != "facts":
            continue
        rows = reading.fields["measured"]
        texts = list(_texts(reading.fields))
        told = training_facts(facts, rows, texts=texts)
        for name, value in told.items():
            facts[name], origins[name] = value, path
        for name, value in sizing_facts(facts, rows):
            facts.setdefault(name, value)
            origins.setdefault(name, path)
    _derive_node(facts, origins)


def _derive_node(facts: dict[str, Fact], origins: dict[str, str]) -> None:
    """Add that chips reach each other over PCIe alone, where the common server of a chip is so.

    And whether the chip has NVLinks at all.
    """
    chip = facts.get("chip")
    if isinstance(chip, str) and (ports := nvlinks_of(chip)) is not None:
        facts.setdefault("nvlink_ports", ports)
        origins.setdefault("nvlink_ports", origins["chip"])
    if isinstance(chip, str) and not facts.get("nvlinks") and is_pcie_only(chip):
        facts.setdefault("pcie_only", True)
        origins.setdefault("pcie_only", origins["chip"])


def _lines(reading: Reading, path: str) -> Iterator[Said]:
    lines = [*reading.warnings, *_texts(reading.fields)]
    for text in list(dict.fromkeys(lines))[:_SAID_LINES]:
        yield Said(text, path, person=reading.format == "facts")


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the file said in words, where the reader kept it."""
    for one in fields.get("warning_lines", ()):
        yield str(one["text"])
    for name in ("words", "facts"):
        table = fields.get(name)
        for text in table.values() if isinstance(table, Mapping) else ():
            if isinstance(text, str):
                yield text
    for row in _tables(fields.get("measured")):
        yield from (text for text in row.values() if isinstance(text, str))


def _tables(rows: object) -> list[Mapping[str, Any]]:
    listed = rows if isinstance(rows, list) else []
    return [row for row in listed if isinstance(row, Mapping)]


def _refusals(reading: Reading, path: str) -> Iterator[Refusal]:
    if reading.format == "nccl-tests":
        for table in reading.fields.get("tables", ()):
            yield from _table_refusals(table, path)
    elif reading.format == "facts":
        for one in reading.fields.get("refusals", ()):
            yield Refusal(one["reason"], one["text"], one["fix"])
        yield from _told_refusals(reading.fields, path)


def _told_refusals(fields: Mapping[str, Any], path: str) -> Iterator[Refusal]:
    for row in fields.get("measured", ()):
        known = asked_of(row, fields["facts"])
        text = told_contradiction(row, *known) if known is not None else None
        if text is not None:
            fix = "look which one the test printed; busbw = algbw · 2(n-1)/n of an all-reduce"
            yield Refusal("columns_contradict", f"{path}: {text}", fix)


def _table_refusals(table: Mapping[str, Any], path: str) -> Iterator[Refusal]:
    numbers = Counter(device["rank"] for device in table["devices"])
    if set(numbers) == {0} and numbers[0] > 1:
        yield Refusal(
            "every_rank_zero",
            f"{path}: {numbers[0]} processes, and every one is Rank 0: each ran alone",
            "build nccl-tests with MPI=1 and start it with mpirun or srun --mpi=pmix",
        )
    if not table["rows"]:
        fix = "send the log to its end; if it ends there, look at the last NCCL WARN"
        yield Refusal("no_rows", f"{path}: a header and not one row", fix)
    elif not table["valid"]:
        where = f" at {len(table['wrong_rows'])} sizes" if table["wrong_rows"] else ""
        yield Refusal(
            "wrong_results",
            f"{path}: the check of the results failed{where} (#wrong, Out of bounds): data are "
            "corrupted, so that no bandwidth counts",
            "find the corruption first: newest driver, library and network plugin; then pairs of "
            "nodes; dmesg for Xid",
        )
    elif table["ranks"] == 1:
        yield _one_rank(path)
    else:
        found = columns_in(table)
        if found is not None and found.lies == "unknown":
            yield Refusal(
                "columns_contradict",
                f"{path}: algbw is {found.algbw:.3g} times size / time, and busbw is "
                f"{found.busbw:.3g} times what follows from size, time and {table['ranks']} ranks: "
                "the columns contradict each other, so that none counts",
                "send the output as the test printed it; rows that were typed or converted by hand "
                "need size, time and busbw of one run",
            )


def _one_rank(path: str) -> Refusal:
    fix = "start it over at least two GPUs (-g 2, or mpirun -np 2)"
    return Refusal("one_rank", f"{path}: one rank, so that nothing was sent", fix)
