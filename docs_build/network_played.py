"""The tables of ``docs/network.md`` that are played as the page is built."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from artery import units
from artery.answers.simulate import simulate, watched
from artery.answers.simulate.request import Request
from artery.answers.simulate.work import simulate_work
from artery.answers.telling import nobody
from artery.report.simulate.files import export

CHIPS: Final = (16, 128, 1024, 131_072)
"""Chips of DGX H100 under switches that add."""

PAIR: Final = "dgx-h100:16"
EXPORTED: Final = (
    ("all_reduce", "ring"),
    ("all_reduce", "halving_doubling"),
    ("all_reduce", "tree"),
    ("all_gather", "ring"),
    ("broadcast", "ring"),
    ("reduce", "ring"),
)
"""Collectives that are written as GOAL and read back; larger ones take too long for a page."""


@cache
def sums() -> str:
    """Return the rows of all-reduces by switches that add and by NVLSTree."""
    return "\n".join(_sums())


def _sums() -> Iterator[str]:
    for chips in CHIPS:
        on = f"dgx-h100:{chips}"
        times = (
            units.show_time(simulate("all_reduce", on, size="1G", algorithm=name, links=0).seconds)
            for name in ("collnet", "nvls_tree")
        )
        yield f"| {on} | {' | '.join(times)} |"


@cache
def read_back() -> str:
    """Return the rows of collectives as the network took them, and as GOAL read back."""
    return "\n".join(_read_back())


def _read_back() -> Iterator[str]:
    for collective, algorithm in EXPORTED:
        with TemporaryDirectory() as folder:
            files: list[tuple[str, str]] = []
            goal = Path(folder) / "x.goal"
            told = watched(nobody, collective, PAIR, laid=partial(export, str(goal), files, []),
                           size="256M", algorithm=algorithm, links=0)  # fmt: skip
            ((_, text),) = files
            goal.write_text(text, encoding="utf-8")
            again = simulate_work(str(goal), Request(collective="", on=PAIR)).seconds
        times = f"{units.show_time(told.network)} | {units.show_time(again)}"
        yield f"| {collective} {algorithm} | {times} | {again / told.network:.2f} |"
