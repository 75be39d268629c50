"""Renders what ``bench`` measured; collectives as nccl-tests prints them, for its readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import mean, pstdev
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.bench.result import (
    ChipAnswer,
    ChipRow,
    CollectiveRow,
    CollectivesAnswer,
    LinksAnswer,
    Party,
)
from artery.report.bench.words import bench_words
from artery.report.drawing.terminal import commands
from artery.report.said import warned
from artery.report.words import Language, Words

_ADDING: Final = frozenset({"all_reduce", "reduce_scatter", "reduce"})
_ROOTED: Final = frozenset({"broadcast", "reduce"})
_HEADER: Final = (
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
    "      i_min      i_max      i_p99   i_cv%\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
    "       (us)       (us)       (us)        "
)


def collectives_text(answer: CollectivesAnswer, language: Language) -> str:
    """Return nccl-tests' tables as plain text, one per collective and algorithm."""
    word = bench_words(language)
    lines = [line for rows in _groups(answer.rows) for line in _table(answer, rows, word)]
    return "\n".join([*lines, *(f"# {warning}" for warning in warned(answer.warnings, language))])


def compared_drawing(answer: CollectivesAnswer, language: Language) -> RenderableType:
    """Return for each collective a table of all algorithms by size, measured and predicted."""
    word = bench_words(language)
    parts: list[RenderableType] = list(_compared(answer, word))
    parts += [Text(f"# {warning}", style="yellow") for warning in warned(answer.warnings, language)]
    parts += [Text(line, style="dim") for line in _about(answer.party, word)]
    parts.append(commands(word["next"], _next(answer)))
    return Group(*parts)


def _groups(rows: Iterable[CollectiveRow]) -> list[list[CollectiveRow]]:
    """Return the rows of each collective and algorithm."""
    groups: dict[tuple[str, str], list[CollectiveRow]] = {}
    for row in rows:
        groups.setdefault((row.collective, row.algorithm), []).append(row)
    return list(groups.values())


def _table(answer: CollectivesAnswer, rows: Sequence[CollectiveRow], word: Words) -> Iterator[str]:
    """Yield the lines of one table as nccl-tests would print them."""
    first, party = rows[0], answer.party
    sizes = [row.size for row in rows]
    checked = all(row.wrong is not None for row in rows)
    yield (
        f"# nThread 1 nGpus 1 minBytes {min(sizes)} maxBytes {max(sizes)} step: 0(list) warmup "
        f"iters: {party.warmup} iters: {party.repeats} agg iters: 1 validation: {int(checked)} "
        "graph: 0"
    )
    yield f"# Collective test starting: {first.collective}_perf"
    yield from _about(party, word)
    if answer.paced is not None:
        yield f"# {word['paced'].format(system=answer.paced)}"
    yield f"# {_how(first, party, word)}"
    yield f"# {word['time'].format(repeats=party.repeats, warmup=party.warmup)}"
    yield "#"
    yield "# Using devices"
    for rank, one in enumerate(party.processes[: party.ranks]):
        yield (
            f"#  Rank {rank:2} Group  0 Pid {one['pid']:6} on {one['host']:>10} device "
            f"{one['device']:2} [{one['bus']}] {one['chip']}"
        )
    yield "#"
    yield _HEADER
    yield from (_row(row) for row in rows)
    if checked:
        wrong = sum(row.wrong or 0 for row in rows)
        yield f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}"
    yield f"# Avg bus bandwidth    : {_rate(mean(row.busbw for row in rows)).strip()}"
    yield f"# Collective test concluded: {first.collective}_perf"
    yield "#"


def _row(row: CollectiveRow) -> str:
    reduction = "sum" if row.collective in _ADDING else "none"
    root = 0 if row.collective in _ROOTED else -1
    wrong = "N/A" if row.wrong is None else str(row.wrong)
    times = row.times
    spread = 100 * pstdev(times.seconds) / mean(times.seconds) if mean(times.seconds) else 0.0
    return (
        f"{row.size:12} {row.count:13} {row.dtype:>9} {reduction:>7} {root:7} "
        f"{_us(times.median):>8} {_rate(row.algbw)} {_rate(row.busbw)} {wrong:>7} "
        f"{_us(times.least):>10} {_us(times.most):>10} {_us(times.share(0.99)):>10} {spread:7.1f}"
    )


def _us(seconds: float) -> str:
    """Return microseconds with nccl-tests' digits."""
    time = seconds * 1e6
    return f"{time:.2f}" if time < 1000 else f"{time:.1f}" if time < 10_000 else f"{time:.0f}"


def _rate(rate: float) -> str:
    """Return GB/s in seven cells, with more digits than nccl-tests where two say nothing."""
    value = rate / 1e9
    digits = 2 if value >= 100 else 3 if value >= 1 else 5
    return f"{value:7.{digits}f}"


def _how(row: CollectiveRow, party: Party, word: Words) -> str:
    """Return by what the rows were run."""
    if row.algorithm == "library":
        return word["own"].format(library=party.library)
    shape = "".join(f" {name}={_plain(value)}" for name, value in row.shape.items())
    said = word["executed"].format(name=row.algorithm, shape=shape, library=party.backend)
    more = len(party.processes) > party.ranks
    return f"{said}; {word['switch']}" if more else said


def _plain(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _about(party: Party, word: Words) -> Iterator[str]:
    """Yield a comment for each host: what it is, and what went on there."""
    for host in party.hosts:
        mine = [one for one in party.processes if one["host"] == host]
        yield f"# {_surroundings(mine[0], len(mine), word)}"


def _surroundings(one: Mapping[str, Any], count: int, word: Words) -> str:
    load = one["load_average_1min"]
    packages = [f"{name} {one[name]}" for name in ("torch", "mpi4py") if one.get(name)]
    return word["surroundings"].format(
        count=count,
        host=one["host"],
        processor=one["processor"] or word["unknown"],
        cores=one["cores"],
        kernel=one["kernel"],
        load=word["unknown"] if load is None else f"{load:.1f}",
        governor=one["governor"] or word["unknown"],
        threads=one["threads"] or word["unknown"],
        packages=", ".join([*packages, f"Python {one['python']}"]),
    )


def _compared(answer: CollectivesAnswer, word: Words) -> Iterator[RenderableType]:
    """Yield for each collective the table of algorithms by size, measured and predicted."""
    if answer.paced is not None:
        yield Text(word["paced"].format(system=answer.paced), style="bold yellow")
    for collective in dict.fromkeys(row.collective for row in answer.rows):
        rows = [row for row in answer.rows if row.collective == collective]
        title = word["compare"].format(
            collective=collective, ranks=answer.party.ranks, library=answer.party.library
        )
        yield Text(title, style="bold")
        yield _matrix(rows, lambda row: row.times.median, mark=True)
        yield Text(word["least"], style="bold")
        yield _matrix(rows, lambda row: row.times.least, mark=True)
        yield Text(f"# {word['fastest']}")
        if any(row.predicted is not None for row in rows):
            yield Text(word["predicted"].format(system=answer.on), style="bold")
            yield _matrix(rows, _told)
            yield Text(word["measured_over"], style="bold")
            yield _matrix(rows, _ratio, lambda ratio: f"{ratio:.2f}")
        yield Text("")
    for line in answer.left_out:
        yield Text(f"# {word['left_out']}: {line}", style="dim")


def compared_width(answer: CollectivesAnswer) -> int:
    """Return the cells that the tables of algorithms by size take."""
    return 18 + 11 * len({row.size for row in answer.rows})


def _told(row: CollectiveRow) -> float | None:
    return None if row.predicted is None else row.predicted.seconds


def _ratio(row: CollectiveRow) -> float | None:
    """Return the median over what was predicted, if anything was."""
    if row.predicted is None or not row.predicted.seconds:
        return None
    return row.times.median / row.predicted.seconds


def _matrix(
    rows: Sequence[CollectiveRow],
    value: Callable[[CollectiveRow], float | None],
    show: Callable[[float], str] = _us,
    *,
    mark: bool = False,
) -> Table:
    """Return a value by algorithm (rows) and size (columns), the least of a size marked.

    Algorithms without any value are left out.
    """
    sizes = sorted({row.size for row in rows})
    cells = {(row.algorithm, row.size): found for row in rows if (found := value(row)) is not None}
    least = {
        size: min((v for (_, s), v in cells.items() if s == size), default=0) for size in sizes
    }
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    for _ in sizes:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(units.show_bytes(size) for size in sizes), style="bold")
    for name in dict.fromkeys(name for name, _ in cells):
        line = []
        for size in sizes:
            found = cells.get((name, size))
            star = "*" if mark and found == least[size] else ""
            line.append("" if found is None else star + show(found))
        table.add_row(name, *line)
    return table


def _next(answer: CollectivesAnswer) -> Iterator[str]:
    """Yield what to type next."""
    ranks = answer.party.ranks
    collective = answer.rows[0].collective
    again = f"artery bench collectives {collective} --ranks {ranks}"
    if answer.on is None:
        yield f"{again} --compare --on ethernet-10g:{ranks}"
    fastest = min(answer.rows, key=lambda row: (-row.size, row.times.median)).algorithm
    if fastest != "library":
        yield f"{again} --algorithm {fastest}"
    yield f"artery bench links --ranks {ranks}"


def links_drawing(answer: LinksAnswer, language: Language) -> RenderableType:
    """Return the two matrices, and who is slow."""
    word = bench_words(language)
    party = answer.party
    library = party.library if answer.tool == "auto" else f"ucx_perftest ({answer.tool})"
    parts: list[RenderableType] = [
        Text(word["links"].format(ranks=party.ranks, library=library), style="bold"),
        Text(word["latency"]),
        _square(answer.latency(), lambda value: f"{value * 1e6:.2f}"),
        Text(""),
        Text(word["bandwidth"].format(size=units.show_bytes(answer.size))),
        _square(answer.bandwidth(), lambda value: _rate(value).strip()),
        Text(""),
    ]
    found = [
        word["slow_rank"].format(rank=rank, host=party.processes[rank]["host"])
        for rank in answer.slow_ranks
    ]
    found += [word["slow_pair"].format(source=s, target=t) for s, t in answer.slow_pairs]
    parts += [Text(line, style="yellow") for line in found or [word["even"]]]
    parts += [Text(f"# {warning}", style="yellow") for warning in warned(answer.warnings, language)]
    parts += [Text(line, style="dim") for line in _about(party, word)]
    return Group(*parts)


def _square(values: Sequence[Sequence[float | None]], show: Any) -> Table:  # noqa: ANN401 - a call
    table = Table.grid(padding=(0, 1))
    for _ in range(len(values) + 1):
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(str(rank) for rank in range(len(values))), style="bold")
    for rank, row in enumerate(values):
        table.add_row(str(rank), *("-" if one is None else show(one) for one in row))
    return table


def chip_drawing(answer: ChipAnswer, language: Language) -> RenderableType:
    """Return what the chip reaches: products, memory, the cost to begin."""
    word = bench_words(language)
    title = word["chip"].format(name=answer.name, device=answer.device, threads=answer.threads)
    parts: list[RenderableType] = [Text(title, style="bold")]
    for kind in dict.fromkeys(row.kind for row in answer.rows):
        rows = [row for row in answer.rows if row.kind == kind]
        size = units.show_bytes(rows[0].inputs.get("array_bytes", 0))
        parts += [Text(""), Text(word[kind].format(size=size), style="bold")]
        parts.append(_chip_table(rows, word))
    parts.append(Text(""))
    parts += [Text(f"# {warning}", style="yellow") for warning in warned(answer.warnings, language)]
    parts.append(Text(f"# {_surroundings(answer.surroundings, 1, word)}", style="dim"))
    return Group(*parts)


def _chip_table(rows: Sequence[ChipRow], word: Words) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_row("", word["best"], word["median"], style="bold")
    for row in rows:
        name = word.get(row.name, row.name) if row.kind != "product" else row.name
        if row.value is None or row.median is None:
            table.add_row(name, Text(word["cannot"].format(why=row.why), style="dim"), "")
        else:
            table.add_row(name, _shown(row.value, row.unit), _shown(row.median, row.unit))
    return table


def _shown(value: float, unit: str) -> str:
    if unit == "s":
        return units.show_time(value)
    return units.show_rate(value) if unit == "B/s" else units.show_flops(value)
