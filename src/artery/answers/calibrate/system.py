"""What a calibration may change of a system, and what the system then gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np

from artery.answers.calibrate.data import Sweep
from artery.answers.expect.pricing import Setting
from artery.calibrator.fit import Parameter
from artery.catalog.door import is_path
from artery.catalog.links import link as link_of
from artery.catalog.overrides import under
from artery.catalog.systems import chip_and_links, table_of
from artery.catalog.systems.build import build
from artery.catalog.systems.schema import CalibrationTable, SystemTable
from artery.catalog.systems.spec import Spec
from artery.core.arrays import Floats
from artery.core.chip import Chip
from artery.core.link import Link
from artery.errors import InputError, Problem, UnknownNameError


@dataclass(frozen=True, slots=True)
class Knob:
    """A value of a system that may be fitted.

    ``spread`` is how well it is known beforehand (standard deviation of its logarithm), and
    ``why``; ``most`` bounds it; ``usual`` says whether it is fitted if nobody names any. ``guess``
    is what is known of it where the system has none (0). A ``floor`` moves nothing until it is high
    enough.
    """

    path: str
    unit: str
    spread: float
    why: str
    usual: bool = True
    most: float = float("inf")
    guess: float = 0.0
    floor: bool = False

    def text(self, value: float) -> str:
        """Return the value as it stands in a file."""
        if self.unit == "B/s":
            return f"{value / 1e9:.6g} GB/s per direction"
        return f"{value * 1e6:.6g} us" if self.unit == "s" else f"{value:.6g}"


KNOBS: Final = (
    Knob("node.bandwidth", "B/s", 0.2, "links of a node reach what their class does, within a "
         "fifth"),
    Knob("fabric.nic.efficiency", "1", 0.3, "cards reach 60 to 96 % of their rate, by driver, "
         "firmware and routing", most=1.0),
    Knob("calibration.node_start", "1", 0.5, "starts differ by processor, driver and launcher"),
    Knob("calibration.node_fill", "1", 0.5, "starts differ by processor, driver and launcher"),
    Knob("calibration.network_start", "1", 0.8, "a step between nodes costs what plugin, proxy "
         "thread and release make of it"),
    Knob("calibration.network_fill", "1", 0.8, "a step between nodes costs what plugin, proxy "
         "thread and release make of it"),
    Knob("calibration.network_message", "s", 1.0, "a further channel costs an InfiniBand card some "
         "tenths of a microsecond, going by NCCL's own correction of its trees (down to 0.4 of "
         "their rate from 4 KiB to 1 MiB)", guess=0.25e-6),
    Knob("calibration.compute", "1", 0.15, "clocks differ by power limit, cooling and the work "
         "itself"),
    Knob("calibration.host", "1", 0.5, "what a layer takes to launch differs by processor and by "
         "what else the script does", usual=False, floor=True),
    Knob("calibration.exposed", "1", 0.5, "what hides behind computing differs by version, bucket "
         "sizes and flags", usual=False),
    Knob("fabric.latency", "s", 0.7, "cables and switches of a cloud are not published",
         usual=False),
    Knob("fabric.hop", "s", 0.7, "cables and switches of a cloud are not published",
         usual=False),
)  # fmt: skip
"""Spreads are assumed, from those of the library's tables (1.1 to 2 for 80 %)."""

OF_FRAMEWORK: Final = frozenset({"calibration.host", "calibration.exposed"})
"""Knobs of the training framework; one log tells one value, so that many logs are needed."""

OF_STEPS: Final = OF_FRAMEWORK | {"calibration.compute"}
"""Knobs that no collective tells anything of."""


class Stepped(Protocol):
    """A run whose step has a price on a system."""

    def price(self, base: Base, values: Mapping[str, float]) -> float:
        """Return what the step takes in s on ``base`` with these ``values`` of its knobs."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The system as it was: its ``name`` (a catalog entry or a file), its table and its parts.

    ``values`` are the knobs that it has, in SI; ``named`` is the number of chips that was named
    with it.
    """

    name: str
    nccl: str | None
    table: SystemTable
    chip: Chip
    links: Mapping[str, Link]
    values: Mapping[str, float]
    named: int | None = None

    def of_framework(self, name: str) -> Base:
        """Return the system with the factors of framework ``name``, 1 if they are of another."""
        measured = self.table.calibration or CalibrationTable()
        if measured.framework != name:
            measured = replace(measured, framework=name, host=1.0, exposed=1.0)
        values = {
            **self.values,
            "calibration.host": measured.host,
            "calibration.exposed": measured.exposed,
        }
        return replace(self, table=replace(self.table, calibration=measured), values=values)

    def most(self, knob: Knob) -> float:
        """Return the bound of a knob in SI: links of a node carry no more than their data sheet.

        That is what a catalog entry says of its own links; in a file, where a value may be one
        that was fitted, the rate of the class, or the value if it is higher.
        """
        if knob.path != "node.bandwidth" or self.table.node.link is None:
            return knob.most
        value = self.values[knob.path]
        return max(value, link_of(self.table.node.link).bandwidth) if is_path(self.name) else value

    def knobs(self, wanted: Sequence[str], logs: int = 0) -> tuple[Knob, ...]:
        """Return the knobs called ``wanted``, else the usual ones that this system has.

        Those of a framework are usual from three ``logs`` of training on. Raises ``InputError``
        for one that it does not have.
        """
        by_path = {one.path: one for one in KNOBS}
        for path in wanted:
            if path not in by_path:
                raise UnknownNameError("value to fit", path, by_path)
            if path not in self.values:
                rule = f"{self.name} has no such value"
                fix = f"one of {', '.join(self.values)}"
                raise InputError(Problem(field="fit", found=path, rule=rule, fix=fix))
        if wanted:
            return tuple(by_path[path] for path in dict.fromkeys(wanted))
        enough = OF_FRAMEWORK if logs > len(OF_FRAMEWORK) else frozenset[str]()
        usual = [one for one in KNOBS if one.usual or one.path in enough]
        return tuple(one for one in usual if one.path in self.values)


def base_of(on: str, overrides: Sequence[str], nccl: str | None) -> Base:
    """Return the system called ``on``; logs say how many chips took part."""
    head, _, count = on.rpartition(":")
    named = int(count) if head and count.isdecimal() else None
    name = on if named is None else head
    of_chip, own = under("chip", overrides)
    _, table, _ = table_of(name, own)
    chip, links = chip_and_links(table, of_chip)
    return Base(name, nccl, table, chip, links, dict(_values(table)), named)


def _values(table: SystemTable) -> list[tuple[str, float]]:
    """Return what each knob of a system is before, for those that it has."""
    node, fabric = table.node, table.fabric
    measured = table.calibration or CalibrationTable()
    found: list[tuple[str, float]] = [("calibration.compute", measured.compute)]
    if node.chips > 1 and node.link is not None:
        found.append(("node.bandwidth", node.bandwidth or link_of(node.link).bandwidth))
        found.append(("calibration.node_start", measured.node_start))
        found.append(("calibration.node_fill", measured.node_fill))
    if fabric is not None:
        card = link_of(fabric.nic.link)
        found.append(("fabric.nic.efficiency", fabric.nic.efficiency or card.efficiency))
        found.append(("calibration.network_start", measured.network_start))
        found.append(("calibration.network_fill", measured.network_fill))
        found.append(("calibration.network_message", measured.network_message))
        found.append(("fabric.latency", fabric.latency or card.latency + fabric.hop))
        found.append(("fabric.hop", fabric.hop))
    return found


def changed(table: SystemTable, values: Mapping[str, float]) -> SystemTable:
    """Return the table with other values of some knobs."""
    for path, value in values.items():
        part, _, last = path.rpartition(".")
        one: dict[str, Any] = {last: value}
        if part == "node":
            table = replace(table, node=replace(table.node, **one))
        elif part == "calibration":
            before = table.calibration or CalibrationTable()
            table = replace(table, calibration=replace(before, **one))
        elif table.fabric is not None and part == "fabric.nic":
            card = replace(table.fabric.nic, **one)
            table = replace(table, fabric=replace(table.fabric, nic=card))
        elif table.fabric is not None:
            table = replace(table, fabric=replace(table.fabric, **one))
    return table


def setting_of(base: Base, sweep: Sweep, values: Mapping[str, float]) -> Setting:
    """Return the ranks of ``sweep`` on the system with these ``values`` of its knobs.

    Raises ``InputError`` where so many ranks do not fit on so many nodes.
    """
    whole = base.table.node.chips
    nodes = sweep.nodes or -(-sweep.ranks // whole)
    each, rest = divmod(sweep.ranks, nodes)
    if rest or each > whole:
        found = f"{sweep.ranks} ranks on {nodes} node(s)"
        rule = f"a node of {base.name} has {whole} chips, each with as many ranks"
        raise InputError(
            Problem(file=sweep.source, found=found, rule=rule, fix="--on the system measured")
        )
    table = changed(base.table, values)
    system = build(table, base.chip, dict(base.links), Spec(base.name, chips=nodes * whole))
    return Setting.of(
        system,
        chips_per_node=each if each < whole else None,
        nccl=base.nccl,
        addable=True,
    )


def predictor(
    base: Base, sweeps: Sequence[Sweep], knobs: Sequence[Knob], runs: Sequence[Stepped] = ()
) -> Callable[[Floats], Floats]:
    """Return the function from factors on the ``knobs`` to the times in s of all points.

    The points of ``sweeps`` come first, then one step of each of the ``runs``.
    """
    known: dict[tuple[float, ...], Floats] = {}

    def predict(factors: Floats) -> Floats:
        key = tuple(np.round(factors, 12).tolist())
        if key not in known:
            values = {
                one.path: after(base, one, factor) for one, factor in zip(knobs, key, strict=True)
            }
            parts = [
                setting_of(base, one, values).quote(one.collective, one.sizes, "auto").seconds
                for one in sweeps
            ]
            steps = [one.price(base, values) for one in runs]
            known[key] = np.concatenate([*parts, np.array(steps, dtype=np.float64)])
        return known[key]

    return predict


def after(base: Base, knob: Knob, factor: float) -> float:
    """Return a knob's value (its guess where there is none) times ``factor``, within its bound."""
    return min((base.values[knob.path] or knob.guess) * factor, base.most(knob))


def parameter(knob: Knob) -> Parameter:
    """Return the knob as the calibrator takes it."""
    return Parameter(knob.path, knob.spread, knob.floor)
