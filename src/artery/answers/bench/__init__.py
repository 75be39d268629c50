"""``bench collectives`` and ``bench links``: what processes reach, here or under a launcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from statistics import median
from typing import Any

import numpy as np

from artery import units
from artery.answers.arguments import check_declared, check_kinds
from artery.answers.bench.gpus import check_gpus
from artery.answers.bench.job import Case, Job, PairCase, Report
from artery.answers.bench.prediction import Table, check_size, predicted
from artery.answers.bench.request import (
    ACROSS,
    Request,
    backend_named,
    check_carried,
    check_counts,
    check_ranks,
)
from artery.answers.bench.result import (
    CollectiveRow,
    CollectivesAnswer,
    LinksAnswer,
    PairRow,
    Party,
)
from artery.answers.bench.run import reported, require, stands_among
from artery.answers.expect.result import DTYPES
from artery.answers.numbers import own_numbers
from artery.answers.systems import system_of
from artery.answers.telling import Heard
from artery.collective.bandwidth import bus_factor
from artery.core.pricing import Collective, Demand
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError, UsageError
from artery.meter.clock import Times
from artery.meter.links import WINDOW
from artery.meter.surroundings import free_memory
from artery.runner.launch import World


@own_numbers
def bench_collectives(
    collectives: str | Sequence[str] = "all_reduce",
    *,
    heard: Heard | None = None,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> CollectivesAnswer | None:
    """Return what collectives take between real processes, by size.

    ``options`` are the fields of :class:`artery.answers.bench.request.Request`. Under torchrun,
    srun or mpirun all processes but the first return ``None``. ``heard`` gets a line for each case.
    Raises :class:`artery.errors.ArteryError`.
    """
    known = {field.name for field in fields(Request)} - {"collectives"}
    for name in options:
        if name not in known:
            raise UnknownNameError("option of bench", name, sorted(known))
    check_declared(bench_collectives, {"heard": heard})
    request = Request(collectives=collectives, **options)
    request.checked()
    kind = backend_named(request.backend)
    check_carried(kind, request.dtype)
    require(kind)
    here = stands_among(kind)
    ranks = _ranks(request.ranks, here)
    check_ranks(ranks, request.per_node)
    if kind == "nccl":
        check_gpus(_of_host(ranks, here))
    if request.paced and here is not None:
        raise UsageError(
            "a paced run starts its own processes, which share the links of one machine: "
            "run it without a launcher"
        )
    system = None if request.on is None else system_of(request.on, request.overrides)
    if system is not None:
        check_size(system, ranks)
    cases, left_out, switched = request.cases(ranks)
    largest = max(_bytes(case) for case in cases)
    # A buffer, and as much again of what arrives or of a library's own.
    _check_memory("sizes", largest, 2, _of_host(ranks + switched, here))
    paced = request.on if request.paced else None
    job = Job(kind, request.timeout, cases, on=paced, overrides=tuple(request.overrides))
    report = reported(job, ranks + switched, here, heard)
    if report is None:
        return None
    prices = {} if system is None else _prices(system, report, cases)
    rows = tuple(_row(case, report, at, prices) for at, case in enumerate(cases))
    return CollectivesAnswer(
        party=_party(report, ranks, request.warmup, request.repeats),
        rows=rows,
        compared=request.compare,
        on=None if system is None else system.name,
        paced=system.name if request.paced and system is not None else None,
        left_out=left_out,
        warnings=tuple(_warnings(report, rows)),
    )


def _check_memory(field: str, size: int, held: int, processes: int) -> None:
    """Raise :class:`artery.errors.InputError` if the processes need more than this host has.

    Each of ``processes`` holds ``held`` buffers of ``size`` bytes; one that takes the last memory
    would be killed, or others would.
    """
    free = free_memory()
    if free is not None and held * size * processes > free:
        fits = units.show_bytes(free / (held * processes))
        found = f"{processes} processes with {units.show_bytes(size)} each"
        rule = f"{units.show_bytes(free)} of memory are free, and each needs {held} times that"
        fix = f"end --sizes below {fits}" if field == "sizes" else f"use less than {fits}"
        raise InputError(Problem(field=field, found=found, rule=rule, fix=fix))


def _prices(system: System, report: Report, cases: Sequence[Case]) -> dict[Collective, Table]:
    """Return the predictions of all cases."""
    prices: dict[Collective, Table] = {}
    for collective in dict.fromkeys(case.collective for case in cases):
        mine = [case for case in cases if case.collective == collective]
        names = tuple(dict.fromkeys(case.algorithm for case in mine))
        size = np.array(sorted({_bytes(case) for case in mine}), np.float64)
        one = np.ones(1, np.int64)
        demand = Demand(collective, size, one * mine[0].ranks, one, concurrent=False)
        prices[collective] = predicted(system, report.backend, demand, names)
    return prices


@own_numbers
def bench_links(
    *,
    ranks: int | None = None,
    size: str = "4M",
    tool: str = "auto",
    together: bool = False,
    backend: str = "auto",
    warmup: int = 2,
    repeats: int = 10,
    timeout: float = 600.0,
    heard: Heard | None = None,
) -> LinksAnswer | None:
    """Return latency and bandwidth between all pairs of processes; see :func:`bench_collectives`.

    ``size`` is that of the large messages. ``tool`` is ``auto`` (messages of the backend) or
    ``ucx`` (``ucx_perftest``); ``together`` lets disjoint pairs measure at the same time.
    """
    check_kinds(str, size=size, tool=tool, backend=backend)
    check_declared(bench_links, {"ranks": ranks, "together": together, "heard": heard})
    if tool not in {"auto", "ucx"}:
        raise UnknownNameError("tool", tool, ("auto", "ucx"))
    if tool == "ucx":
        from artery.meter.ucx import found

        found()
    check_counts(warmup, repeats, timeout)
    kind = backend_named(backend)
    require(kind)
    here = stands_among(kind)
    count = _ranks(ranks, here)
    if kind == "nccl":
        check_gpus(_of_host(count, here))
    check_ranks(count)
    bytes_ = _one_size(size)
    meeting = _of_host(count, here) if together else min(count, 2)
    _check_memory("size", bytes_, WINDOW, meeting)
    pairs = PairCase(count, bytes_, warmup, repeats, together, tool)
    report = reported(Job(kind, timeout, pairs=pairs), count, here, heard)
    if report is None:
        return None
    return _links(report, count, bytes_, tool, (warmup, repeats))


def _links(
    report: Report, ranks: int, size: int, tool: str, counts: tuple[int, int]
) -> LinksAnswer:
    from artery.meter.links import slow_pairs, slow_ranks

    rows = tuple(
        PairRow(one.source, one.target, one.latency[0], one.latency[1], one.onward, one.back)
        for one in report.pairs
    )
    answer = LinksAnswer(
        _party(report, ranks, *counts), size, tool, rows, (), (), tuple(_crowded(report))
    )
    table = answer.bandwidth()
    slow = slow_ranks(table)
    return replace(answer, slow_ranks=slow, slow_pairs=slow_pairs(table, slow))


def _one_size(text: str) -> int:
    try:
        return units.size(text)
    except InputError as error:
        raise error.at(field="size") from None


def _of_host(processes: int, here: World | None) -> int:
    """Return how many of ``processes`` share this host."""
    return processes if here is None else min(processes, here.local_size)


def _ranks(asked: int | None, here: World | None) -> int:
    """Return how many ranks take part: those asked for, or all of a launcher, or two."""
    if here is None:
        return 2 if asked is None else asked
    if asked is not None and asked > here.size:
        rule = f"the launcher has started {here.size} process(es)"
        fix = "leave --ranks out, or start more"
        raise InputError(Problem(field="ranks", found=str(asked), rule=rule, fix=fix))
    return here.size if asked is None else asked


def _bytes(case: Case) -> int:
    return case.elements * DTYPES[case.dtype]


def _row(case: Case, report: Report, at: int, prices: dict[Collective, Table]) -> CollectiveRow:
    done, size = report.done[at], _bytes(case)
    count = case.elements // case.ranks if case.collective in ACROSS else case.elements
    return CollectiveRow(
        collective=case.collective,
        algorithm=case.algorithm,
        ranks=case.ranks,
        size=size,
        count=count,
        dtype=case.dtype,
        times=Times(done.seconds),
        wrong=done.wrong,
        factor=float(bus_factor(case.collective, np.array(case.ranks))),
        shape=case.shape,
        predicted=prices.get(case.collective, {}).get((case.algorithm, size)),
    )


def _party(report: Report, ranks: int, warmup: int, repeats: int) -> Party:
    hosts = tuple(dict.fromkeys(str(one["host"]) for one in report.processes))
    return Party(report.backend, report.library, ranks, hosts, report.processes, warmup, repeats)


def _warnings(report: Report, rows: Sequence[CollectiveRow]) -> list[str]:
    warnings = [
        f"{row.collective} by {row.algorithm} at {units.show_bytes(row.size)}: {row.wrong} "
        "elements are not the exact sum"
        for row in rows
        if row.wrong
    ]
    noisy = [row for row in rows if row.times.median > 2 * row.times.least]
    if noisy:
        warnings.append(
            f"at {len(noisy)} of {len(rows)} rows the median is over twice the least time: others "
            "were computing or sending; the least is what the hardware can do"
        )
    return warnings + _crowded(report)


def _crowded(report: Report) -> list[str]:
    """Return a warning if the processes had too few cores, or others took them."""
    warnings = []
    by_host: dict[str, list[float]] = {}
    for one in report.processes:
        by_host.setdefault(str(one["host"]), []).append(float(one["load_average_1min"] or 0.0))
    cores = min(int(one["cores"]) for one in report.processes)
    most = max(len(loads) for loads in by_host.values())
    if report.backend != "nccl" and most > cores:
        warnings.append(
            f"{most} processes of a host shared {cores} core(s): times hold for that, not for the "
            "network"
        )
    load = max(median(loads) for loads in by_host.values())
    if load > cores + most:
        warnings.append(f"the load average was {load:.1f} on {cores} core(s): others computed too")
    return warnings
