"""Renders what ``expect`` found: nccl-tests' columns on the terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.expect.result import ExpectAnswer, ExpectRow, Speed
from artery.report.drawing.terminal import commands
from artery.report.expect.words import expect_words
from artery.report.said import warned
from artery.report.typed import asked_on, with_more
from artery.report.words import Language

_GB = 1e9
TABLE_WIDTH = 104
"""Cells that the table takes; nccl-tests' own lines are as long, and it is never cut."""

_COLUMNS = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "wire")
_UNITS = ("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "(GB/s)")


def expect_payload(answer: ExpectAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.expect/1``."""
    return {
        "collective": answer.collective,
        "system": answer.system.name,
        "ranks": answer.ranks,
        "nodes": answer.nodes,
        "library": {"name": answer.library, "version": answer.version},
        "algorithm": answer.algorithm,
        "type": answer.dtype,
        "redop": answer.reduction,
        "root": answer.root,
        "rows": [_row_payload(row) for row in answer.rows],
        "limited_by": answer.limit,
        "notes": answer.notes,
        "warnings": answer.warnings,
    }


def _row_payload(row: ExpectRow) -> Mapping[str, object]:
    best = None if row.best is None else _speed_payload(row.best)
    return {
        "size_bytes": row.size,
        "count": row.count,
        **_speed_payload(row.speed),
        "best": best,
    }


def _speed_payload(speed: Speed) -> Mapping[str, object]:
    return {
        "time_s": speed.seconds,
        "algbw_bytes_per_s": speed.algbw,
        "busbw_bytes_per_s": speed.busbw,
        "wire_bytes_per_s_per_chip": speed.wire,
        "algorithm": speed.algorithm,
        "protocol": speed.protocol,
        "low_s": speed.low,
        "high_s": speed.high,
    }


def expect_drawing(answer: ExpectAnswer, language: Language) -> RenderableType:
    """Return the table with its footnotes and the next command."""
    word = expect_words(language)
    title = word["title"].format(
        collective=answer.collective,
        system=answer.system.name,
        ranks=f"{answer.ranks:,}",
        nodes=f"{answer.nodes:,}",
        library=answer.library,
        version=answer.version,
    )
    parts: list[RenderableType] = [Text(title, style="bold"), _table(answer), Text("")]
    if any(row.best is not None for row in answer.rows):
        parts += [Text(word["best"], style="bold"), _best_table(answer), Text("")]
    parts += [Text(f"# {line}") for line in _foot(answer, word)]
    parts += [Text(f"# {warning}", style="yellow") for warning in warned(answer.warnings, language)]
    parts.append(commands(word["next"], _next(answer)))
    return Group(*parts)


def _table(answer: ExpectAnswer) -> Table:
    """Return the rows in nccl-tests' columns, with algorithm and protocol beside them."""
    table = Table.grid(padding=(0, 1))
    for _ in _COLUMNS:
        table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row(*_COLUMNS, "algorithm/protocol", style="bold")
    table.add_row(*_UNITS, "", style="dim")
    for row in answer.rows:
        speed = row.speed
        table.add_row(
            str(row.size),
            str(row.count),
            answer.dtype,
            answer.reduction,
            str(answer.root),
            _microseconds(speed.seconds),
            *(f"{rate / _GB:.2f}" for rate in (speed.algbw, speed.busbw, speed.wire)),
            f"{speed.algorithm}/{speed.protocol}",
        )
    return table


def _best_table(answer: ExpectAnswer) -> Table:
    """Return the fastest known algorithm at the sizes where it beats what was asked for."""
    table = Table.grid(padding=(0, 1))
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row("size", "time", "busbw", "wire", "algorithm/protocol", style="bold")
    for row in answer.rows:
        if row.best is not None:
            best = row.best
            table.add_row(
                str(row.size),
                _microseconds(best.seconds),
                *(f"{rate / _GB:.2f}" for rate in (best.busbw, best.wire)),
                f"{best.algorithm}/{best.protocol}",
            )
    return table


def _microseconds(seconds: float) -> str:
    """Return microseconds with the digits that nccl-tests prints."""
    time = seconds * 1e6
    if time < 1000:
        return f"{time:.2f}"
    return f"{time:.1f}" if time < 10_000 else f"{time:.0f}"


def _foot(answer: ExpectAnswer, word: Mapping[str, str]) -> Iterable[str]:
    """Yield the footnotes: interval and limit of the largest size, then what must be said."""
    last = answer.rows[-1].speed
    if last.seconds:
        low, high = units.show_time(last.low), units.show_time(last.high)
        line = word["interval"].format(low=low, high=high)
        if answer.limit is not None:
            tier = next(tier for tier in answer.system.tiers if tier.name == answer.limit)
            line += word["and"] + word["limit"].format(tier=tier.name, link=tier.link.name)
        yield line
    for note in answer.notes:
        yield word[note].format(**_figures(answer, word, note))


def _figures(answer: ExpectAnswer, word: Mapping[str, str], note: str) -> Mapping[str, object]:
    """Return the figures that a footnote quotes."""
    if note == "average":
        rates = [row.speed.busbw / _GB for row in answer.rows]
        return {"average": sum(rates) / len(rates), "peak": rates[-1]}
    if note == "empty":
        return {"least": answer.least, "dtype": answer.dtype}
    if note == "above_link" and answer.link_rate is not None:
        return {"rate": answer.link_rate / _GB}
    if note == "best_differs":
        row = max(
            (row for row in answer.rows if row.best is not None),
            key=lambda row: row.speed.seconds / row.best.seconds if row.best else 0.0,
        )
        return _against_best(row, word)
    return {}


def _against_best(row: ExpectRow, word: Mapping[str, str]) -> Mapping[str, object]:
    best = row.best or row.speed
    return {
        "size": units.show_bytes(row.size),
        "algorithm": best.algorithm,
        "time": units.show_time(best.seconds),
        "current": units.show_time(row.speed.seconds),
        "how": word["collnet"] if best.algorithm == "CollNet" else "",
    }


def _next(answer: ExpectAnswer) -> Iterable[str]:
    """Yield what to type next."""
    given = "".join(_flags(answer))
    where = asked_on(answer.system) + given
    if "best_differs" in answer.notes:
        yield f"artery expect {answer.collective} {where} --algorithm best"
    elif answer.ranks == 1 and (more := with_more(answer.system)) is not None:
        yield f"artery expect {answer.collective} {asked_on(more)}"
    other = "alltoall" if answer.collective == "all_reduce" else "all_reduce"
    yield f"artery expect {other} {where}"


def _flags(answer: ExpectAnswer) -> Iterable[str]:
    """Yield what was asked beside the system, as it is typed."""
    if answer.chips_per_node is not None:
        yield f" --chips-per-node {answer.chips_per_node}"
    if answer.nccl is not None:
        yield f" --nccl {quote(answer.nccl)}"
    if answer.dtype != "float":
        yield f" --dtype {answer.dtype}"
