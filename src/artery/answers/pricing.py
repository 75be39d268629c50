"""Joins a system to the closed-form price of its communication."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from artery.answers.libraries import library_of
from artery.collective.closed_form import ClosedForm
from artery.collective.menu import Adds
from artery.collective.placement import Placement, interleaved, listed, packed, random
from artery.core.pricing import Pricer
from artery.core.system import System
from artery.errors import InputError, Problem, did_you_mean, nearest
from artery.formats.text import read_text
from artery.places import is_folder, is_there

NAMED = ("packed", "interleaved", "random")


def closed_form(
    system: System, *, nccl: str | None = None, placement: str = "packed", adds: Adds = "auto"
) -> Pricer:
    """Return the closed-form pricer of ``system`` with its own communication library.

    ``nccl`` is a version of NCCL, where that is the library; ``placement`` is ``packed``,
    ``interleaved``, ``random``, or a file with the chip of each rank, one number a line; ``adds``
    says who may add.
    Raises ``InputError`` for a version that is none, an unknown placement, or a file that is no
    permutation.
    """
    where = placed(placement, system)
    return ClosedForm(system, library_of(system, nccl), placement=where, adds=adds)


def placed(name: str, system: System) -> Placement:
    """Return the placement called ``name``, or the one written in the file at that path."""
    if name == "packed":
        return packed(system.chips)
    if name == "interleaved":
        return interleaved(system.chips, system.chips_per_node)
    if name == "random":
        return random(system.chips)
    if is_there(name) and not is_folder(name):  # a pipe too
        return listed(np.array(read_order(name, system.chips), dtype=np.int64))
    near = did_you_mean(nearest(name, NAMED)) or f"one of {', '.join(NAMED)}, or a file"
    raise InputError(
        Problem(field="placement", found=f'"{name}"', rule="no placement or file of that name",
                fix=near)
    )  # fmt: skip


def read_order(path: str, chips: int) -> list[int]:
    """Read one chip number a line; every chip once."""
    try:
        order = [int(word) for word in read_text(path).content.split()]
    except InputError as error:
        raise error.at(field="placement") from None
    except ValueError:
        raise InputError(
            Problem(file=path, field="placement", found="something that is no number",
                    rule="one whole number a line: the chip of each rank in turn",
                    fix="0, 1, 2, ... each once")
        ) from None  # fmt: skip
    if sorted(order) != list(range(chips)):
        raise InputError(
            Problem(file=path, field="placement", found=f"{len(order):,} numbers",
                    rule=f"each chip from 0 to {chips - 1:,} stands in it once",
                    fix="one line per rank")
        )  # fmt: skip
    return order


@dataclass(slots=True)
class Pricers:
    """Closed-form pricers by system, each built once, all with the same library and placement.

    ``adds`` says who may add in them.
    """

    nccl: str | None = None
    placement: str = "packed"
    adds: Adds = "auto"
    known: dict[int, tuple[System, Pricer]] = field(default_factory=dict)

    def __call__(self, system: System) -> Pricer:
        """Return the pricer of ``system``."""
        if id(system) not in self.known:
            priced = closed_form(system, nccl=self.nccl, placement=self.placement, adds=self.adds)
            self.known[id(system)] = (system, priced)
        return self.known[id(system)][1]
