"""What ``simulate`` is asked, read: placement, failures, slow ranks, other jobs, matrices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from artery import units
from artery.answers.arguments import refused
from artery.answers.pricing import NAMED, read_order
from artery.core.system import System
from artery.errors import InputError, did_you_mean, nearest
from artery.formats.text import read_text
from artery.places import is_folder, is_there
from artery.simulator.adding import PASSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from artery.cluster.routing import Network
    from artery.simulator.scenario import Routing

    Ints = NDArray[np.int64]

TRANSPORTS: Final = {
    "infiniband": "infiniband",
    "omni-path": "infiniband",
    "efa": "efa",
    "tcp": "tcp",
}
"""The transport of a network by the kind of its links; any other is RoCE (inside a node there is
no transport to choose)."""


MOST_BYTES: Final = 2**60
"""Bytes of all of a matrix: the same as of one size, so that no sum of them runs over."""

LEAST_RATE: Final = 1.0
"""B/s: rates of links and of adding are whole numbers of bytes per second."""

MOST_RATE: Final = 1e18
"""B/s, assumed: a hundred thousand times any chip's; twice as much is a 64-bit number too."""

MOST_FACTOR: Final = 1e6
"""Assumed: a link that is a million times slower is as good as down."""

MOST_SECONDS: Final = 1e6
"""Assumed: a run that is eleven days late is a slip of the pen; time is counted in picoseconds."""


def order(placement: str, system: System, seed: int) -> Ints:
    """Return the chip of each rank. ``random`` draws it with ``seed``.

    Raises ``InputError`` for a name that is no placement or file, or a file that is no
    permutation.
    """
    chip = np.arange(system.chips, dtype=np.int64)
    if placement == "packed":
        return chip
    if placement == "interleaved":
        turn = chip % system.chips_per_node
        return np.lexsort((chip // system.chips_per_node, turn)).astype(np.int64)
    if placement == "random":
        return np.random.default_rng(seed).permutation(chip)
    if is_there(placement) and not is_folder(placement):  # a pipe too
        return np.array(read_order(placement, system.chips), dtype=np.int64)
    near = did_you_mean(nearest(placement, NAMED)) or f"one of {', '.join(NAMED)}, or a file"
    raise refused("placement", placement, "no placement or file of that name", near)


def transport_of(system: System) -> str:
    """Return the transport that the system's network between nodes uses."""
    if not system.tiers:
        return "roce"
    return TRANSPORTS.get(system.tiers[-1].link.kind, "roce")


def routing_of(asked: str, transport: str) -> Routing:
    """Return the routing that was ``asked``; ``auto``: the one that ``transport`` brings along.

    SRD, EFA's transport, sends the packets of a flow over many paths at once (Shalev et al., IEEE
    Micro 40(6), 2020); any other keeps a flow to one, which switches choose by hashing.
    """
    if asked != "auto":
        return cast("Routing", asked)
    return "spray" if transport == "efa" else "ecmp"


def adding(text: str | None, system: System) -> float:
    """Return the B/s at which a chip adds, 0 where none are said; ``chip``: as its memory does.

    Raises ``InputError`` for what is no rate.
    """
    if text is None:
        return 0.0
    if text == "chip":
        return system.chip.memory.bandwidth / PASSES
    try:
        rate = units.parse(text, "B/s")
    except InputError:
        rate = 0.0
    if not LEAST_RATE <= rate <= MOST_RATE:
        rule = (f"bytes per second that a chip adds, at least {LEAST_RATE:g} B/s and "
                f"at most {MOST_RATE:g} B/s")  # fmt: skip
        raise refused("reduce-rate", text, rule, "400 GB/s, or chip")
    return rate


def share(text: str, field: str) -> float:
    """Return ``1%`` or ``0.01`` as a share; raises ``InputError`` beyond 0 to 1."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        value = float(number) / (100.0 if percent else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise refused(field, text, "a share lies between 0 and 1", "1%, or 0.01")
    return value


def failures(text: str | None, network: Network) -> float | tuple[int, ...]:
    """Return a share of links (``1%``), or the links of ``leaf 3 -> spine 5, ...``.

    Raises ``InputError`` for a link that is not there, and a share that is not one link.
    """
    if text is None:
        return 0.0
    if "->" not in text:
        part = share(text, "fail-links")
        cables = len(network.between) or network.cables
        if part > 0.0 and not round(part * cables):
            rule = f"of {cables:,} cables that can fail, that is none"
            raise refused("fail-links", text, rule, f"{100 / max(cables, 1):.2g}% is one")
        return part
    edges = network.edges()
    found: list[int] = []
    for name in text.split(","):
        near, _, far = (part.strip() for part in name.partition("->"))
        ends = _vertex(near, network), _vertex(far, network)
        there = np.flatnonzero((edges.source == ends[0]) & (edges.target == ends[1]))
        if not len(there):
            raise refused("fail-links", name.strip(), "no cable joins these two",
                       "take a name from the hottest links, or a share: 1%")  # fmt: skip
        found += there.tolist()
    return tuple(found)


def _vertex(name: str, network: Network) -> int:
    """Return the vertex called ``leaf 3``."""
    kind, _, number = name.rpartition(" ")
    first = 0
    for group in network.groups:
        if group.own and group.name == name:
            return first
        if group.name == kind and not group.own and number.isascii() and number.isdigit():
            if _count(number) < group.count:
                return first + _count(number)
            rule = f"there are {group.count:,}, numbered from 0"
            raise refused("fail-links", name, rule, f"{kind} {group.count - 1}")
        first += group.count
    known = sorted({group.name for group in network.groups})
    raise refused("fail-links", name, "no such part of the network",
               did_you_mean(nearest(kind, known)) or ", ".join(known))  # fmt: skip


def slow_ranks(given: Sequence[str], chips: Ints) -> tuple[dict[int, float], dict[int, float]]:
    """Return ``RANK=2x`` as factors by chip, and ``RANK=5ms`` as delays by chip.

    Raises ``InputError`` for anything else, and for ranks that are not there.
    """
    slow: dict[int, float] = {}
    late: dict[int, float] = {}
    fix = "3=2x (links half as fast) or 3=5ms (begins later)"
    seen: set[tuple[int, bool]] = set()
    for text in given:
        rank, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not (rank.isascii() and rank.isdigit()):
            raise refused("slow", text, "must be RANK=FACTORx or RANK=TIME", fix)
        if _count(rank) >= len(chips):
            rule = f"there are {len(chips):,} ranks, numbered from 0"
            raise refused("slow", text, rule, f"at most {len(chips) - 1}")
        chip = int(chips[_count(rank)])
        if (chip, value.endswith("x")) in seen:
            kind = "factor" if value.endswith("x") else "delay"
            raise refused("slow", text, f"rank {rank} has a {kind} already", "one of each a rank")
        seen.add((chip, value.endswith("x")))
        if value.endswith("x"):
            slow[chip] = _factor(text, value[:-1], fix)
        else:
            late[chip] = moment(value, "slow")
    return slow, late


def moment(text: str | None, field: str) -> float:
    """Return a time in seconds, 0 if none is given; raises ``InputError`` for anything else."""
    try:
        seconds = 0.0 if text is None else units.parse(text, "s")
    except InputError as error:
        raise error.at(field=field) from None
    if seconds > MOST_SECONDS:
        raise refused(field, str(text), f"must be at most {MOST_SECONDS:,.0f} s", "5ms")
    return seconds


def amount(text: str | int, field: str) -> int:
    """Return a size in bytes; raises ``InputError`` for anything else."""
    try:
        return units.size(text)
    except InputError as error:
        raise error.at(field=field) from None


def _factor(text: str, number: str, fix: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not 1.0 <= value <= MOST_FACTOR:
        raise refused("slow", text, f"a factor is a number from 1 to {MOST_FACTOR:,.0f}", fix)
    return value


def matrix(path: str, ranks: int) -> Ints:
    """Return the bytes that each rank sends to each, from a CSV file of one line per rank.

    Raises ``InputError`` at its line for what is no size, and for another number of them.
    """
    try:
        lines = read_text(path).content.splitlines()
    except InputError as error:
        raise error.at(field="matrix") from None
    rows = [line for line in lines if line.strip()]
    found = np.zeros((ranks, ranks), dtype=np.int64)
    if len(rows) != ranks:
        rule = f"one line for each of {ranks} ranks"
        fix = "what that rank sends to each, commas between sizes"
        raise refused("matrix", f"{len(rows)} lines", rule, fix).at(file=path)
    for number, line in enumerate(rows):
        cells = line.split(",")
        if len(cells) != ranks:
            rule = f"one size for each of {ranks} ranks"
            raise refused("matrix", f"{len(cells)} sizes", rule, "commas between sizes").at(
                file=path, line=number + 1
            )
        try:
            found[number] = [0 if cell.strip() == "0" else units.size(cell) for cell in cells]
        except InputError as error:
            raise error.at(file=path, line=number + 1, field="matrix") from None
    if ranks > 1 and not (found * ~np.eye(ranks, dtype=bool)).any():
        raise refused("matrix", "0 B", "no rank sends anything to another", "sizes").at(file=path)
    if float(found.sum(dtype=np.float64)) > MOST_BYTES:
        rule, size = "must be at most 1 EiB in all", f"{found.sum(dtype=np.float64):.3g} B"
        raise refused("matrix", size, rule, "smaller sizes").at(file=path)
    return found


def background(given: Sequence[str], chips: Ints) -> tuple[float, list[tuple[str, int, Ints]]]:
    """Return the share of the network that others use, and the jobs beside ours.

    ``30%`` is a share of the links between switches; ``COLLECTIVE:SIZE`` is a job on our chips,
    ``COLLECTIVE:SIZE:FIRST-LAST`` on the chips from FIRST to LAST.
    """
    used = 0.0
    jobs: list[tuple[str, int, Ints]] = []
    for text in given:
        parts = text.split(":")
        if len(parts) == 1:
            used = 1.0 - (1.0 - used) * (1.0 - _taken(text))
        elif len(parts) in {2, 3}:
            where = _span(text, parts[2], len(chips)) if len(parts) == 3 else chips
            jobs.append((parts[0], amount(parts[1], "background"), where))
        else:
            raise refused(
                "background", text, "must be a share or a job", "30% or alltoall:1G:64-127"
            )
    if used >= 1.0:
        raise refused("background", f"{used:.0%}", "something must be left for the job", "90%")
    return used, jobs


def _taken(text: str) -> float:
    """Return the share of the network that ``text`` says; what is no number may be meant a job."""
    try:
        return share(text, "background")
    except InputError:
        if re.match(r"[\s+.-]*\d", text):
            raise
        rule = "must be a share, or a job: COLLECTIVE:SIZE or COLLECTIVE:SIZE:FIRST-LAST"
        raise refused("background", text, rule, "30% or alltoall:1G:64-127") from None


def _span(text: str, chips: str, most: int) -> Ints:
    first, dash, last = chips.partition("-")
    numbers = first.isascii() and first.isdigit() and last.isascii() and last.isdigit()
    if not dash or not numbers or _count(last) < _count(first):
        raise refused("background", text, "chips are FIRST-LAST", "alltoall:1G:64-127")
    if _count(last) == _count(first):
        rule = "a job of one chip sends nothing"
        raise refused("background", text, rule, "two chips or more, as in alltoall:1G:64-127")
    if _count(last) >= most:
        rule = f"there are {most:,} chips, numbered from 0"
        raise refused(
            "background", text, rule, f"at most {most - 1}, or more chips --on the system"
        )
    return np.arange(_count(first), _count(last) + 1, dtype=np.int64)


def _count(digits: str) -> int:
    """Return the number that ``digits`` are; of more than any system has parts, 10^18."""
    return int(digits) if len(digits) <= 18 else 10**18
