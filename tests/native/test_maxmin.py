from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from artery.errors import UsageError
from artery.native.maxmin import TOLERANCE, Crossings, Rates, _compiled, _Filling, maxmin, twin
from tests.native.compiled import use
from tests.native.flows import clos, crossings

Solve = Callable[[Crossings, NDArray[np.float64]], Rates]


@pytest.fixture(params=["maxmin", None], ids=["c", "twin"])
def solve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Solve:
    use(monkeypatch, request.param)
    return lambda flows, capacity: maxmin(flows.start, flows.link, capacity, flows.weight)


@st.composite
def problems(draw: st.DrawFn, *, weighted: bool | None = None) -> tuple[Crossings, list[float]]:
    links = draw(st.integers(1, 8))
    some = st.lists(st.integers(0, links - 1), min_size=1, max_size=5)
    paths = draw(st.lists(some, min_size=1, max_size=14))
    room = st.floats(0.1, 1e12) | st.just(1e9) | st.just(0.0)
    capacity = draw(st.lists(room, min_size=links, max_size=links))
    parts = st.floats(1e-3, 1e3) | st.sampled_from([0.125, 1.0, 3.0])
    with_weights = draw(st.booleans()) if weighted is None else weighted
    weights = [[draw(parts) for _ in path] for path in paths] if with_weights else None
    return crossings(paths, weights), capacity


def fair(flows: Crossings, capacity: NDArray[np.float64], rate: NDArray[np.float64]) -> None:
    """Check the definition: feasible, and each flow is greatest on some full link."""
    weight = np.ones(flows.link.size) if flows.weight is None else flows.weight
    flow = np.repeat(np.arange(rate.size), np.diff(flows.start))
    used, greatest = np.zeros(capacity.size), np.zeros(capacity.size)
    np.add.at(used, flows.link, weight * rate[flow])
    np.maximum.at(greatest, flows.link, rate[flow])
    assert (used <= capacity * (1 + 1e-9)).all()
    full = used >= capacity * (1 - 1e-9)
    held = full[flows.link] & (rate[flow] >= greatest[flows.link] * (1 - 1e-9))
    assert (np.bincount(flow, held, minlength=rate.size) > 0).all()


def test_a_textbook_chain(solve: Solve) -> None:
    # Bertsekas and Gallager, section 6.5.2: a long flow and short ones over unequal links.
    flows = crossings([[0, 1], [0], [1], [1]])
    answer = solve(flows, np.array([1.0, 3.0]))
    assert answer.rate.tolist() == [0.5, 0.5, 1.25, 1.25]
    assert answer.bottleneck.tolist() == [0, 0, 1, 1]
    assert answer.used.tolist() == [1.0, 3.0]


def test_a_weight_is_what_a_flow_takes(solve: Solve) -> None:
    flows = crossings([[0], [0, 1]], [[3.0], [1.0, 2.0]])
    answer = solve(flows, np.array([8.0, 2.0]))
    assert answer.rate.tolist() == [7 / 3, 1.0]


def test_a_link_that_is_down_stops_its_flows(solve: Solve) -> None:
    answer = solve(crossings([[0, 1], [1]]), np.array([0.0, 5.0]))
    assert answer.rate.tolist() == [0.0, 5.0]
    assert answer.certified


def test_a_flow_without_links_has_no_limit(solve: Solve) -> None:
    answer = solve(crossings([[], [0]]), np.array([5.0]))
    assert answer.rate.tolist() == [np.inf, 5.0]
    assert answer.bottleneck.tolist() == [-1, 0]


def test_no_flow_at_all(solve: Solve) -> None:
    answer = solve(crossings([]), np.array([5.0]))
    assert answer.rate.size == 0
    assert answer.used.tolist() == [0.0]


@pytest.mark.parametrize("fan_in", [2, 8, 32])
def test_incast_shares_the_last_link(solve: Solve, fan_in: int) -> None:
    answer = solve(crossings([[k, fan_in] for k in range(fan_in)]), np.full(fan_in + 1, 50e9))
    assert answer.rate.tolist() == [50e9 / fan_in] * fan_in


@given(problems())
def test_the_answer_is_fair_and_says_so(problem: tuple[Crossings, list[float]]) -> None:
    flows, capacity = problem
    answer = twin(flows, np.array(capacity))
    assert answer.violation <= TOLERANCE
    fair(flows, np.array(capacity), answer.rate)


@given(problems())
def test_both_cores_agree_to_the_last_bit(problem: tuple[Crossings, list[float]]) -> None:
    flows, capacity = problem
    with pytest.MonkeyPatch.context() as patch:
        use(patch, "maxmin")
        compiled = _compiled(flows, np.array(capacity))
    slow = twin(flows, np.array(capacity))
    assert compiled.rate.tobytes() == slow.rate.tobytes()
    assert compiled.bottleneck.tolist() == slow.bottleneck.tolist()
    assert compiled.used.tobytes() == slow.used.tobytes()
    assert compiled.violation == slow.violation


@pytest.mark.parametrize("seed", range(3))
def test_both_cores_agree_on_a_hashed_fabric(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flows, links = clos(512, 8, rounds=4, seed=seed)
    capacity = np.full(links, 50e9)
    use(monkeypatch, "maxmin")
    compiled, slow = _compiled(flows, capacity), twin(flows, capacity)
    assert compiled.rate.tobytes() == slow.rate.tobytes()
    assert compiled.certified
    fair(flows, capacity, compiled.rate)


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_flows_changes_nothing(
    problem: tuple[Crossings, list[float]], random: object
) -> None:
    flows, capacity = problem
    order = list(range(flows.start.size - 1))
    random.shuffle(order)  # type: ignore[attr-defined]
    parts = [slice(flows.start[f], flows.start[f + 1]) for f in order]
    weights = None if flows.weight is None else [flows.weight[part].tolist() for part in parts]
    mixed = crossings([flows.link[part].tolist() for part in parts], weights)
    first = twin(flows, np.array(capacity)).rate[order]
    assert twin(mixed, np.array(capacity)).rate == pytest.approx(first, rel=1e-9, abs=1e-9)


@given(problems(), st.floats(1.0, 10.0))
def test_more_capacity_never_lowers_the_least_rate(
    problem: tuple[Crossings, list[float]], times: float
) -> None:
    flows, capacity = problem
    before = twin(flows, np.array(capacity)).rate
    for link in range(len(capacity)):
        more = np.array(capacity)
        more[link] *= times
        assert twin(flows, more).rate.min() >= before.min() * (1 - 1e-9)


@given(problems(), st.floats(0.5, 100.0))
def test_rates_scale_with_the_capacities(
    problem: tuple[Crossings, list[float]], times: float
) -> None:
    flows, capacity = problem
    before = twin(flows, np.array(capacity)).rate
    after = twin(flows, np.array(capacity) * times).rate
    assert after == pytest.approx(before * times, rel=1e-9)


@pytest.mark.parametrize(
    ("rate", "bottleneck", "violation"),
    [
        ([1.0, 1.0], [0, 0], 0.0),
        ([0.5, 1.5], [0, 0], 2 / 3),  # the first is below the greatest on its bottleneck
        ([1.0, 0.5], [0, 0], 0.5),  # so is the second, by half
        ([0.75, 0.75], [0, 0], 0.25),  # the bottleneck is not full
        ([1.5, 1.5], [0, 0], 0.5),  # it is overfull
    ],
)
def test_the_certificate_says_what_is_unfair(
    rate: list[float], bottleneck: list[int], violation: float
) -> None:
    filling = _Filling(crossings([[0], [0]]), np.array([2.0]))
    filling.rate, filling.bottleneck, filling.waiting = rate, bottleneck, 0
    assert filling.certified().violation == violation


def test_the_certificate_misses_a_flow_without_a_rate() -> None:
    filling = _Filling(crossings([[0], [0]]), np.array([2.0]))
    assert filling.certified().violation == np.inf


@pytest.mark.parametrize(
    ("start", "link", "capacity", "weight", "rule"),
    [
        ([0, 2, 1], [0, 0], [1.0], None, "start must rise"),
        ([0, 1], [0, 0], [1.0], None, "start\\[-1\\] entries"),
        ([0, 1], [1], [1.0], None, "a place in capacity"),
        ([0, 1], [-1], [1.0], None, "a place in capacity"),
        ([0, 1], [0], [-1.0], None, "not negative"),
        ([0, 1], [0], [np.nan], None, "not negative"),
        ([0, 1], [0], [1.0], [1.0, 2.0], "as long as link"),
        ([0, 1], [0], [1.0], [0.0], "must be positive"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    start: list[int],
    link: list[int],
    capacity: list[float],
    weight: list[float] | None,
    rule: str,
) -> None:
    weights = None if weight is None else np.array(weight)
    with pytest.raises(UsageError, match=rule):
        maxmin(np.array(start), np.array(link, np.int32), np.array(capacity), weights)


def chains(random: np.random.Generator, hosts: int, flows: int) -> tuple[Crossings, np.ndarray]:
    """Return flows between hosts, each with three links one after the other out and two in."""
    source, target = random.integers(0, hosts, (2, flows))
    middle = 5 * hosts + random.integers(0, 4, flows)
    hops = [source, hosts + source, 2 * hosts + source, middle, 3 * hosts + target,
            4 * hosts + target]  # fmt: skip
    start = np.arange(flows + 1) * len(hops)
    link = np.stack(hops, axis=1).ravel().astype(np.int32)
    return Crossings(start, link), random.integers(1, 6, 5 * hosts + 4).astype(np.float64) * 1e9


def test_links_in_series_are_taken_as_their_tightest(solve: Solve) -> None:
    """To the last bit what the twin says, which takes none out; some of a series are as tight."""
    random = np.random.default_rng(17)
    for hosts, flows in ((3, 5), (20, 60), (200, 2000)):
        found, room = chains(random, hosts, flows)
        answer, other = solve(found, room), twin(found, room)
        assert np.array_equal(answer.rate, other.rate)
        assert np.array_equal(answer.bottleneck, other.bottleneck)
        assert np.array_equal(answer.used, other.used)
        assert answer.violation == other.violation


def test_a_path_may_cross_a_link_twice(solve: Solve) -> None:
    found = crossings([[0, 0], [1, 0, 1]])
    answer, other = (one(found, np.array([4.0, 9.0])) for one in (solve, twin))
    assert answer.rate.tolist() == other.rate.tolist()
