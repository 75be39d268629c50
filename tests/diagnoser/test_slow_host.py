from __future__ import annotations

from itertools import combinations

from artery.diagnoser.case import Curve, Point
from artery.diagnoser.slow_host import slow_host


def run(*hosts: str, rate: float) -> Curve:
    point = Point(2**30, rate * 1e9)
    return Curve("all_reduce", 16, 2, (point,), "-".join(hosts), hosts)


def pairs(*slow: str) -> list[Curve]:
    return [
        run(*pair, rate=20 if set(pair) & set(slow) else 48) for pair in combinations("abcde", 2)
    ]


def test_the_node_of_all_slow_pairs_is_found() -> None:
    assert slow_host(pairs("c")) == "c"


def test_even_runs_accuse_nobody() -> None:
    assert slow_host(pairs()) is None


def test_two_pairs_are_too_few() -> None:
    assert slow_host(pairs("c")[:2]) is None


def test_a_slow_pair_whose_nodes_are_not_told_apart_accuses_nobody() -> None:
    runs = [run("a", "b", rate=48), run("c", "d", rate=48), run("e", "f", rate=20)]
    assert slow_host(runs) is None


def test_runs_of_another_size_or_without_names_do_not_count() -> None:
    other = Curve("all_reduce", 16, 2, (Point(1024, 1e6),), "x", ("a", "b"))
    nameless = Curve("all_reduce", 16, 2, (Point(2**30, 1e9),), "y")
    assert slow_host([*pairs("c"), other, nameless]) == "c"
