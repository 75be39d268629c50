"""The system that a case is held against: the one that was named, or one made of the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from artery.answers.diagnose.laid import network_overrides, node_overrides
from artery.answers.diagnose.missing import CHIP, NETWORK, NODES, RANKS, unknown_server
from artery.answers.diagnose.servers import SERVERS
from artery.answers.expect.pricing import Setting
from artery.answers.systems import file_and_chips, is_foreign, node_of, system_of
from artery.catalog.chips import chip as chip_of
from artery.diagnoser.case import Case, Curve, Fact, count
from artery.diagnoser.verdict import Missing
from artery.errors import InputError
from artery.units import show_line_rate


@dataclass(frozen=True, slots=True)
class Stand:
    """``setting`` to hold a curve against; ``None`` with what is ``missing``.

    ``assumed`` says what nobody stated and was taken from the common server of the chip. ``base``
    with ``overrides`` and ``nccl`` is how the system was made; any number of chips can be.
    """

    setting: Setting | None
    name: str | None
    missing: tuple[Missing, ...] = ()
    assumed: tuple[str, ...] = ()
    base: str = ""
    overrides: tuple[str, ...] = ()
    nccl: str | None = None


def on_leaves(stand: Stand, nodes: int) -> Setting | None:
    """Return the same kind of system with so many whole nodes; ``None`` if it has no such size."""
    if stand.setting is None or not stand.base or is_foreign(stand.base):
        return None
    chips = nodes * stand.setting.system.chips_per_node
    try:
        return Setting.make(
            f"{stand.base}:{chips}", overrides=stand.overrides, chips_per_node=None,
            nccl=stand.nccl, addable=True,
        )  # fmt: skip
    except InputError:
        return None


@dataclass(frozen=True, slots=True)
class Asked:
    """What was named: the system ``on`` with ``overrides``.

    ``file`` is one among the files that describes a node, ``cabled`` one that describes a network
    of two tiers, on which the measured system stands.
    """

    on: str | None = None
    overrides: tuple[str, ...] = ()
    file: str | None = None
    cabled: str | None = None


def stand_for(case: Case, curve: Curve, asked: Asked) -> Stand:
    """Return what ``curve`` is held against."""
    on, overrides, file = asked.on, asked.overrides, asked.file
    ranks = curve.ranks or count(case.facts, "ranks")
    if ranks is None and on is None and "system" not in case.facts:
        return _of_whole_nodes(case, curve, overrides)
    named = on or case.facts.get("system")
    nodes = curve.nodes or count(case.facts, "nodes")
    if on is not None and asked.cabled is not None:
        return _as_designed(case, ranks, nodes, on, overrides)
    if isinstance(named, str):
        return _named(case, ranks, nodes, named, overrides)
    if ranks is None:
        return Stand(None, on, (RANKS,))
    if file is not None and nodes in (None, 1):
        try:
            return _setting(file, ranks, 1, overrides, case)
        except InputError:
            pass  # the file says too little for a system; the facts may say more
    case, assumed = _with_chip(case, nodes)
    found = _from_facts(case, ranks, nodes, overrides)
    return replace(found, assumed=(*found.assumed, *assumed))


def server_of(case: Case) -> str | None:
    """Return the system that the files name, else the common server of their chip."""
    named = case.facts.get("system")
    return named if isinstance(named, str) else SERVERS.get(str(case.facts.get("chip")))


def node_for(case: Case, overrides: Sequence[str]) -> str | None:
    """Return the system whose node the hosts of a network file are.

    As ``node=`` among the overrides says, else the common server of the chip that the files name.
    """
    return node_of(overrides)[0] or SERVERS.get(str(case.facts.get("chip")))


def _as_designed(
    case: Case, ranks: int | None, nodes: int | None, on: str, overrides: Sequence[str]
) -> Stand:
    """Return the network of a file with none of its cables missing.

    What is missing is a cause, which must not be in the expectation already.
    """
    node = node_for(case, overrides)
    if node is None:
        system_of(on, overrides)  # which says what is missing
        return Stand(None, on, (CHIP,))
    server = system_of(node)
    each = server.chips_per_node
    if ranks is None:
        if nodes is None:
            return Stand(None, on, (RANKS,))
        ranks = nodes * (count(case.facts, "gpus_per_node") or each)
    told = replace(case, facts={**case.facts, "chip": server.chip.name})
    found = _from_facts(told, ranks, nodes, node_of(overrides)[1], node)
    whole = f"the network of {file_and_chips(on)[0]} with all of its cables"
    return replace(found, assumed=(*found.assumed, whole))


_SERVERS: Final = ((15e9, "v100"), (30e9, "a100-80g"), (60e9, "h100-sxm"), (120e9, "b200"))
"""The chip of the servers that cards up to a rate in B/s came with: 100, 200, 400, 800 Gb/s."""


def _of_whole_nodes(case: Case, curve: Curve, overrides: Sequence[str]) -> Stand:
    """Return whole nodes where nobody counted the ranks.

    Between nodes the cards decide, so that even the chip may be assumed, by the cards' rate.
    """
    nodes = curve.nodes or count(case.facts, "nodes")
    case, assumed = _with_chip(case, nodes)
    base = SERVERS.get(str(case.facts.get("chip")))
    if nodes is None or base is None:
        return Stand(None, None, (RANKS,))
    each = count(case.facts, "gpus_per_node") or system_of(base).chips_per_node
    found = _from_facts(case, each * nodes, nodes, overrides)
    whole = f"all {each} chips of a node take part"
    return replace(found, assumed=(*found.assumed, *assumed, whole))


def _with_chip(case: Case, nodes: int | None) -> tuple[Case, tuple[str, ...]]:
    """Return the case, with the usual chip of its cards if none is named, and what was assumed."""
    rate = case.facts.get("nic_rate")
    if "chip" in case.facts or nodes is None or nodes < 2 or not isinstance(rate, float):
        return case, ()
    chip = next((name for most, name in _SERVERS if rate <= most), "b200")
    said = f"servers of {chip}, as usual with cards of {show_line_rate(rate)}"
    return replace(case, facts={**case.facts, "chip": chip}), (said,)


def _named(
    case: Case, ranks: int | None, nodes: int | None, on: str, overrides: Sequence[str]
) -> Stand:
    """Return the system that was named; of whole nodes where nobody counted the ranks."""
    base = on.rpartition(":")[0] if ":" in on and on.rpartition(":")[2].isdecimal() else on
    if ranks is not None:
        return _setting(base, ranks, nodes, overrides, case)
    if nodes is None:
        return Stand(None, on, (RANKS,))
    each = count(case.facts, "gpus_per_node") or system_of(base, overrides).chips_per_node
    found = _setting(base, each * nodes, nodes, overrides, case)
    return replace(found, assumed=(*found.assumed, f"all {each} chips of a node take part"))


def _setting(
    name: str, ranks: int, nodes: int | None, overrides: Sequence[str], case: Case
) -> Stand:
    """Return ``ranks`` spread evenly over ``nodes`` of the system called ``name``."""
    system = system_of(name, overrides)
    nodes = nodes or -(-ranks // system.chips_per_node)
    per_node = -(-ranks // nodes)
    whole = system.chips_per_node
    if per_node > whole:
        why = f"{ranks} ranks on {nodes} node(s), but a node of {name} has {whole} chips"
        return Stand(None, name, (Missing("nodes", why, NODES),))
    nccl = _release(case.facts.get("nccl")) if system.library == "nccl" else None
    spec = name if is_foreign(name) and nodes == 1 else f"{name}:{nodes * whole}"
    try:
        setting = Setting.make(
            spec,
            overrides=overrides,
            chips_per_node=per_node if per_node < whole else None,
            nccl=nccl,
            addable=True,
        )
    except InputError:
        if nodes == 1:
            raise
        return Stand(None, name, (NETWORK,))  # a node without a network of its own
    return Stand(setting, spec, base=name, overrides=tuple(overrides), nccl=nccl)


def _from_facts(
    case: Case,
    ranks: int,
    nodes: int | None,
    overrides: Sequence[str],
    server: str | None = None,
) -> Stand:
    """Return nodes like ``server``, else like the common server of the chip, as the facts say."""
    chip = case.facts.get("chip")
    base = server or SERVERS.get(str(chip))
    if base is None:
        return Stand(None, None, (CHIP if chip is None else unknown_server(str(chip)),))
    per_node = count(case.facts, "gpus_per_node") or system_of(base).chips_per_node
    nodes = nodes or -(-ranks // per_node)
    laid = [f"chip={chip}", *node_overrides(case, base, per_node)]
    assumed = [f"a node like {base}"]
    if nodes > 1:
        network = network_overrides(case, base, per_node)
        if network is None:
            return Stand(None, base, (NETWORK,))
        laid += network
    try:
        found = _setting(base, ranks, nodes, [*laid, *overrides], case)
    except InputError as error:
        if overrides and _can_be(base, ranks, nodes, laid, case):
            raise  # the overrides are at fault
        fact = Missing("system", "; ".join(map(str, error.problems)), "--on SYSTEM")
        return Stand(None, base, (fact,))
    return replace(found, assumed=tuple(assumed))


def _can_be(base: str, ranks: int, nodes: int, laid: Sequence[str], case: Case) -> bool:
    try:
        _setting(base, ranks, nodes, laid, case)
    except InputError:
        return False
    return True


def vendor_of(case: Case, stand: Stand | None) -> str | None:
    """Return who makes the chips that were measured, ``None`` where nobody named them."""
    if stand is not None and stand.setting is not None:
        return stand.setting.system.chip.vendor
    try:
        return chip_of(str(case.facts["chip"])).vendor if "chip" in case.facts else None
    except InputError:
        return None


def _release(text: Fact | None) -> str | None:
    """Return the release of NCCL 2 in ``2.18.3+cuda12.2``; ``None`` where there is none."""
    numbers = str(text).partition("+")[0].split(".")
    if text is None or not all(part.isdecimal() for part in numbers) or numbers[0] != "2":
        return None
    return ".".join(numbers[:3]) if len(numbers) >= 2 else None
