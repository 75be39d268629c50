"""Nobody in the way: what groups of a step take when played is what the closed form says.

Systems whose rails have one leaf each, so that no two paths share a cable, and groups that lie on
their nodes evenly. Both count a step's latency by one law, so that this holds bytes against
bytes: those of every pair over the links that it really crosses against the formula's.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from artery.answers.libraries import library_of
from artery.answers.plan.simulated import Asked, Simulated
from artery.catalog.systems import system
from artery.collective.closed_form import ClosedForm
from artery.collective.groups import gather
from artery.collective.library import Library
from artery.collective.placement import packed
from artery.core.pricing import Collective
from artery.core.system import System
from artery.errors import UsageError

SYSTEMS = (
    "dgx-h100:64",
    "dgx-h100:256",
    "dgx-a100:128",
    "dgx-b200:64",
    "gb200-nvl72:144",
    "aws-p5:64",
)

WAYS: tuple[tuple[Collective, str], ...] = (
    ("all_reduce", "ring"),
    ("all_reduce", "tree"),
    ("all_reduce", "nvls"),
    ("all_reduce", "nvls_tree"),
    ("all_gather", "ring"),
    ("all_gather", "nvls"),
    ("all_gather", "pat"),
    ("reduce_scatter", "ring"),
    ("reduce_scatter", "pat"),
    ("alltoall", "grouped"),
    ("sendrecv", "sendrecv"),
    ("broadcast", "ring"),
)
"""All that NCCL chooses from, by itself, in a step."""


class Named(Simulated):
    """A pricer that plays the algorithm by which the closed form that it is held against prices."""

    def _algorithm(self, asked: Asked) -> str:  # noqa: ARG002 - in place of the library's choice
        assert isinstance(self.closed, ClosedForm)
        return self.closed.algorithm


@lru_cache
def built(name: str) -> tuple[System, Library]:
    found = system(name, ())
    return found, library_of(found, None)


def asked(name: str, way: tuple[Collective, str], shape: tuple[int, int], size: int) -> Asked:
    """Return the operation; neighbours of a pipeline are all that there are."""
    chips, (many, stride) = built(name)[0].chips, shape
    ranks = chips // stride if way[0] == "sendrecv" else min(many, chips // stride)
    return Asked("dp", way[0], ranks, stride, size)


def lies_evenly(name: str, one: Asked) -> bool:
    on, library = built(name)
    found = gather(
        on, library, packed(on.chips), np.array([one.ranks]), np.array([one.stride]),
        concurrent=True,
    )  # fmt: skip
    even = found.fewest[0] == found.fullest[0]
    return bool(even and found.ranks[0] == found.nodes[0] * found.fullest[0])


def exists(closed: ClosedForm, one: Asked) -> bool:
    """Whether the algorithm exists for such a group."""
    try:
        closed.price(one.demand)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=60, deadline=None)
@given(
    way=st.sampled_from(WAYS),
    shape=st.tuples(st.integers(2, 256), st.sampled_from([1, 2, 4, 8, 16, 24, 72])),
    size=st.integers(1, 2**34),
)
@example(way=("broadcast", "ring"), shape=(4, 1), size=21_513_621)  # a chain fills
def test_played_is_closed_where_nobody_is_in_the_way(
    name: str, way: tuple[Collective, str], shape: tuple[int, int], size: int
) -> None:
    on, library = built(name)
    one = asked(name, way, shape, size)
    assume(one.ranks > 1)
    assume(lies_evenly(name, one))
    closed = ClosedForm(on, library, way[1])
    pricer = Named(on, library, np.arange(on.chips), closed, lambda *_: "dp")
    assume(exists(closed, one))
    found = pricer.exchange(one)
    assert found.played, found.refused
    assert found.alone == pytest.approx(found.closed, rel=0.02)
