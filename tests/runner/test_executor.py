"""Every schedule of the registry on real processes: one pool of nine, eight ranks and a switch."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest

from artery.answers.bench.job import LIBRARY, Case, Done, Job, Report
from artery.answers.bench.run import reported
from artery.answers.bench.shapes import shape_of
from artery.collective.schedules import schedule
from artery.collective.schedules.registry import builders
from artery.core.pricing import Collective
from artery.errors import InputError
from tests.runner.remains import MARK, folders, marked, none_left, ports_of, still_listening

RANKS = range(2, 9)
ODD = ((1, "float"), (37, "int64"), (1001, "float"), (4099, "double"))
"""Elements and types: fewer than chunks, and such that no number of ranks divides."""

MORE = [
    Case("all_reduce", "ring", 6, 1001, "int32", {"channels": 3, "per_node": 3}),
    Case("broadcast", "ring", 5, 1001, "float", {"slices": 4, "root": 3}),
    Case("all_reduce", "tree", 8, 1001, "half", {"slices": 5, "per_node": 2}),
    Case("all_reduce", "collnet", 8, 1001, "float", {"radix": 2, "slices": 3}),
    Case("all_reduce", "collnet", 8, 1001, "float", {"per_node": 2, "radix": 2}),
    Case("reduce", "collnet", 7, 1001, "int8", {"radix": 2, "root": 6}),
    Case("all_reduce", "nvls_tree", 8, 1001, "bfloat16", {"per_node": 4, "slices": 2}),
    Case("alltoall", "rail_aligned", 8, 1001, "uint8", {"per_node": 4}),
    Case("all_reduce", "hierarchical", 4, 1001, "float", {"levels": [2, 2]}),
    Case("all_reduce", "hierarchical", 8, 1001, "bfloat16", {"levels": [2, 4]}),
    Case("all_gather", "hierarchical", 8, 1001, "half", {"levels": [2, 2, 2]}),
    Case("alltoall", "torus", 8, 1001, "float", {"dims": [2, 4]}),
    Case("reduce_scatter", "pat", 7, 1001, "float", {"buffers": 1}),
    Case("alltoall", "windowed", 7, 1001, "float", {"window": 3}),
    Case("all_reduce", "recursive_doubling", 8, 2_000_003, "float"),
    Case("all_reduce", "ring", 3, 2_000_003, "int64"),
]
"""Levels, slices, roots, several switches, all types, and messages of several pieces."""


def every_case() -> list[Case]:
    """Return all algorithms at two to eight ranks, then those of other shapes and the library's."""
    cases = []
    for name, builder in builders().items():
        for collective in sorted(builder.collectives):
            for ranks in RANKS:
                for elements, dtype in ODD:
                    shape = shape_of(
                        name, collective, ranks, per_node=None, size=elements, dtype="float"
                    )
                    cases.append(Case(collective, name, ranks, elements, dtype, shape))
    for collective in get_args(Collective):
        cases += [Case(collective, LIBRARY, ranks, 840, "float") for ranks in (2, 3, 8)]
    return cases + MORE


@dataclass
class Pool:
    """What one start of nine processes did, and what it left."""

    cases: list[Case]
    report: Report
    ports: set[str] = field(default_factory=set)
    left: list[str] = field(default_factory=list)
    gone: bool = True

    def done(self, **wanted: Any) -> list[tuple[Case, Done]]:
        """Return the cases with those fields."""
        return [
            (case, done)
            for case, done in zip(self.cases, self.report.done, strict=True)
            if all(getattr(case, name) == value for name, value in wanted.items())
        ]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    """Start the processes once and let them do everything."""
    place, mark = tmp_path_factory.mktemp("pool"), uuid.uuid4().hex
    cases = every_case()
    seen: set[str] = set()

    def heard(line: str) -> None:
        if not seen and LIBRARY in line:
            seen.update(ports_of(marked(mark)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, mark)
        patch.setenv("TMPDIR", str(place))
        patch.setattr("tempfile.tempdir", None)
        report = reported(Job("gloo", 300.0, tuple(cases)), 9, None, heard)
        patch.setattr("tempfile.tempdir", None)
    assert report is not None
    return Pool(cases, report, seen, folders(place), none_left(mark))


ALL = [(name, c) for name, builder in builders().items() for c in sorted(builder.collectives)]


@pytest.mark.real
@pytest.mark.parametrize(("name", "collective"), ALL)
def test_the_result_is_the_exact_sum_at_two_to_eight_processes_and_odd_sizes(
    pool: Pool, name: str, collective: Collective
) -> None:
    found = pool.done(algorithm=name, collective=collective)
    assert {case.ranks for case, _ in found} == set(RANKS)
    assert {case.elements for case, _ in found} >= {elements for elements, _ in ODD}
    assert [(case, done.wrong) for case, done in found if done.wrong != 0] == []


@pytest.mark.real
def test_levels_rails_slices_and_all_types(pool: Pool) -> None:
    found = [one for one in zip(pool.cases, pool.report.done, strict=True) if one[0] in MORE]
    assert all(any(case == wanted for case, _ in found) for wanted in MORE)
    assert [case for case, done in found if done.wrong != 0] == []


@pytest.mark.real
def test_the_librarys_own_collectives_are_held_to_the_same_sum(pool: Pool) -> None:
    found = pool.done(algorithm=LIBRARY)
    assert {case.collective for case, _ in found} == set(get_args(Collective))
    assert [(case, done.wrong) for case, done in found if done.wrong != 0] == []


@pytest.mark.real
def test_no_process_port_or_file_is_left(pool: Pool) -> None:
    assert pool.gone
    assert pool.ports  # gloo's, while the processes were there
    assert still_listening(pool.ports) == set()
    assert pool.left == []


@pytest.mark.real
def test_the_report_says_who_took_part_and_under_which_load(pool: Pool) -> None:
    assert pool.report.backend == "gloo"
    assert pool.report.library.startswith("gloo (torch ")
    assert len(pool.report.processes) == 9
    assert len({one["pid"] for one in pool.report.processes}) == 9
    for one in pool.report.processes:
        assert one["cores"] >= 1
        assert one["load_average_1min"] >= 0


def test_nothing_is_left_out() -> None:
    """Two ranks to eight are all there, with as many chunks as the registry makes."""
    cases = every_case()
    assert {(c.algorithm, c.collective) for c in cases} >= set(ALL)
    for case in cases:
        if case.algorithm != LIBRARY:
            try:
                plan = schedule(case.algorithm, case.collective, case.ranks, **case.shape)
            except InputError as error:  # pragma: no cover - the message is the point
                pytest.fail(f"{case}: {error}")
            assert plan.ranks == case.ranks


@pytest.mark.real
def test_the_same_over_mpi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    cases = [
        case
        for case in every_case()
        if case.ranks in {2, 4}
        and case.dtype in {"float", "int64"}
        and (case.elements in {37, 840} or case in MORE)
    ]
    cases += [Case("all_reduce", "ring", 4, 300_001, "float", {}, 1, 3)]
    report = reported(Job("mpi", 120.0, tuple(cases)), 5, None)
    assert report is not None
    assert "MPI" in report.library
    wrong = [case for case, done in zip(cases, report.done, strict=True) if done.wrong != 0]
    assert wrong == []
    assert len(report.done[-1].seconds) == 3
    assert none_left(mark)
