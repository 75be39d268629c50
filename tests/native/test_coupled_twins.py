"""The coupled engine in C and in Python: the same, to the last bit."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from artery.errors import UsageError
from artery.native import coupled as engine
from artery.native.coupled import Steady, coupled
from artery.native.pipelines import BELOW, BESIDE, Pipelines
from artery.native.work import Links
from tests.native.compiled import use

RATE = 10**9


def both(monkeypatch: pytest.MonkeyPatch, links: Links, pipes: Pipelines) -> list[Steady]:
    found = []
    for name in ("coupled", None):
        use(monkeypatch, name)
        found.append(coupled(links, pipes))
    return found


def same(one: Steady, other: Steady) -> None:
    for name in ("time", "fill", "flow", "bytes", "crossings"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert astuple(one.flowed)[1:] == astuple(other.flowed)[1:]


def random_pipelines(random: np.random.Generator, links: int) -> Pipelines:
    """Return rings, trees of several waves and folded trees, over any links, some over none."""
    depth: list[int] = []
    sizes: list[int] = []
    role: list[int] = []
    waves: list[int] = []
    for _ in range(random.integers(1, 6)):
        kind = int(random.integers(0, 3))
        depth.append(int(random.integers(1, 30)) if kind == 0 else 0)
        more = (1, int(random.integers(1, 4)), 3)[kind]
        waves.append(more)
        role.extend((0, BESIDE, BELOW) if kind == 2 else [0] * more)
        sizes.extend(random.integers(1, 9, more).tolist())
    wave = np.cumsum([0, *sizes])
    toward = np.concatenate(
        [first + random_tree(random, size) for first, size in zip(wave, sizes, strict=False)]
    )
    toward = np.where(toward < np.repeat(wave[:-1], sizes), -1, toward)
    for one in np.flatnonzero(np.array(role) == BESIDE):  # its roots may lead into the wave before
        mine = slice(wave[one], wave[one + 1])
        into = random.integers(wave[one - 1], wave[one], sizes[one])
        roots = (toward[mine] < 0) & (random.random(sizes[one]) < 0.5)
        toward[mine] = np.where(roots, into, toward[mine])
    edges, pipes = int(wave[-1]), len(waves)
    hops = random.integers(0, min(links, 4) + 1, edges)
    amount = random.integers(0, 10**9, pipes)
    behind = (amount * random.random(pipes)).astype(np.int64)
    return Pipelines(
        start=np.cumsum([0, *hops]),
        link=np.concatenate([random.permutation(links)[:hop] for hop in hops]).astype(np.int32),
        wave=wave,
        pipe=np.cumsum([0, *waves]),
        depth=np.array(depth),
        amount=amount,
        behind=behind,
        segment=(behind * random.random(pipes)).astype(np.int64),
        toward=toward,
        release=random.integers(0, 10**9, pipes) if random.random() < 0.3 else None,
        role=np.array(role),
    )


def random_tree(random: np.random.Generator, size: int) -> np.ndarray:
    """Return to which edge each leads, -1 for a root, in any order."""
    names = random.permutation(size)
    above = [-1, *(int(random.integers(-1, one)) for one in range(1, size))]
    found = np.full(size, -1)
    found[names] = [-1 if one < 0 else names[one] for one in above]
    return found


@pytest.mark.parametrize("part", range(4))
def test_two_thousand_random_pipelines(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    for seed in range(500 * part, 500 * (part + 1)):
        random = np.random.default_rng(seed)
        links = int(random.integers(1, 24))
        rate = random.integers(1, 5, links) * RATE // int(random.integers(1, 4))
        network = Links(rate, random.integers(0, 10**7, links))
        monkeypatch.setattr(engine, "FEW", int(random.integers(0, 2)) * 4096)
        same(*both(monkeypatch, network, random_pipelines(random, links)))


@pytest.mark.parametrize("toward", [[1, 0, -1], [2, 2, 2], [-1, -1, 3]], ids=str)
@pytest.mark.parametrize("name", ["coupled", None], ids=["c", "twin"])
def test_a_tree_without_a_root_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str | None, toward: list[int]
) -> None:
    use(monkeypatch, name)
    nothing = np.zeros(1, np.int64)
    pipes = Pipelines(
        np.arange(5), np.zeros(4, np.int32), np.array([0, 3, 4]), np.array([0, 2]),
        nothing, nothing + 9, nothing + 9, nothing, np.array([*toward, -1]),
    )  # fmt: skip
    with pytest.raises(UsageError, match="must lead to a root within its wave"):
        coupled(Links(np.array([RATE]), np.zeros(1, np.int64)), pipes)


@pytest.mark.parametrize("name", ["coupled", None], ids=["c", "twin"])
def test_a_time_beyond_the_clock_is_its_end(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    use(monkeypatch, name)
    huge = np.array([2**60])
    ring = Pipelines(
        np.arange(2), np.zeros(1, np.int32), np.array([0, 1]), np.array([0, 1]),
        np.array([1]), huge, huge, huge,
    )  # fmt: skip
    answer = coupled(Links(np.array([1]), np.zeros(1, np.int64)), ring)
    assert answer.time.tolist() == [-1]
    assert answer.fill.tolist() == [2**62]
