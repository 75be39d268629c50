"""``artery bench``: what this chip, these links and these processes really reach."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from artery.cli.flags import Whole
from artery.cli.options import language_option, set_option, shared_options
from artery.cli.pages import PageGroup
from artery.errors import RunError
from artery.report.words import Language

_Command = TypeVar("_Command", bound=Callable[..., Any])
_COUNT: Final = Whole(1_000_000)
_BACKENDS: Final = ("auto", "gloo", "nccl", "mpi")


@click.group("bench", cls=PageGroup)
@language_option
def command() -> None:
    """Measure this chip, the links between processes, or the collectives over them.

    \b
    Examples:
      artery bench chip
      artery bench collectives all_reduce --ranks 4
      artery bench collectives --ranks 4 --compare --on ethernet-10g:4
      artery bench links --ranks 4
      torchrun --nproc-per-node 8 --no-python artery bench collectives

    What is written with -o is read back by artery read, diagnose and calibrate.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)


def _party_options(made: _Command) -> _Command:
    """Give a command the options that say who measures together, and how often."""
    for option in (
        click.option(
            "--timeout",
            type=float,
            default=600.0,
            show_default=True,
            metavar="SECONDS",
            help="End the whole run after so long.",
        ),
        click.option(
            "--warmup", type=click.IntRange(min=0), metavar="N", help="Runs that do not count."
        ),
        click.option("--repeats", type=_COUNT, metavar="N", help="Runs that are timed."),
        click.option(
            "--backend",
            type=click.Choice(_BACKENDS),
            default="auto",
            show_default=True,
            help="Who carries messages; auto: nccl with a GPU per process, else gloo.",
        ),
        click.option(
            "--ranks",
            type=_COUNT,
            metavar="N",
            help="Processes to start here (2), or to take of torchrun's, srun's, mpirun's.",
        ),
    ):
        made = option(made)
    return made


@command.command("collectives")
@click.argument("collectives", metavar="[COLLECTIVE]...", nargs=-1)
@click.option(
    "--sizes",
    default="8:16M:x4",
    show_default=True,
    metavar="BEGIN:END:xFACTOR",
    help="Sizes in bytes, K M G binary; +STEP instead of xFACTOR; or a list with commas.",
)
@click.option(
    "--algorithm",
    default="library",
    show_default=True,
    metavar="library|NAME",
    help="The library's own, or a schedule to execute: ring, tree, halving_doubling, ...",
)
@click.option("--compare", is_flag=True, help="All algorithms beside each other, by size.")
@click.option("--on", metavar="SYSTEM", help="Predict for this system, beside what is measured.")
@click.option(
    "--paced", is_flag=True, help="Hold sends back so that rates follow the links of --on."
)
@click.option("--per-node", type=_COUNT, metavar="M", help="Ranks that count as one node.")
@click.option(
    "--dtype",
    default="float",
    show_default=True,
    metavar="TYPE",
    help="Type of the elements, by nccl-tests' names.",
)
@click.option(
    "--seconds",
    type=float,
    default=10.0,
    show_default=True,
    metavar="S",
    help="Spend at most so long on each size.",
)
@click.option("--check/--no-check", default=True, help="Hold results to the exact sum first.")
@_party_options
@set_option
@shared_options
def collectives(
    *,
    collectives: tuple[str, ...],
    overrides: tuple[str, ...],
    warmup: int | None,
    repeats: int | None,
    as_json: bool,
    lang: Language,
    out: str,
    **asked: Any,  # noqa: ANN401 - click's
) -> None:
    """Time collectives between real processes, by the library or by a schedule executed.

    \b
    Examples:
      artery bench collectives --ranks 4
      artery bench collectives all_reduce alltoall --sizes 1K:16M:x4 -o bench.log
      artery bench collectives --ranks 8 --algorithm hierarchical --per-node 4
      artery bench collectives --ranks 4 --compare --on ethernet-10g:4
      artery bench collectives --ranks 4 --algorithm ring --paced --on mine.toml
      srun -N 4 artery bench collectives all_reduce --json -o bench.json

    Collectives: all_reduce (if none is named), all_gather, reduce_scatter, alltoall, broadcast,
    reduce, sendrecv. Times are those of the slowest rank; the table has nccl-tests' columns, with
    the median as time. Switches that add are played by one more process. Exit code 1 if a result
    is not the exact sum, 5 if time was up.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.bench import bench_collectives
    from artery.report.bench import collectives_text, compared_drawing, compared_width
    from artery.report.bench.payload import collectives_payload
    from artery.report.writing.files import write_whole

    answer = bench_collectives(
        collectives or "all_reduce",
        overrides=overrides,
        warmup=5 if warmup is None else warmup,
        repeats=20 if repeats is None else repeats,
        heard=_progress(),
        **asked,
    )
    if answer is None:
        return
    if not as_json and not answer.compared:
        write_whole(out, collectives_text(answer, lang))
    else:
        _print(
            collectives_payload(answer) if as_json else None,
            lambda: compared_drawing(answer, lang),
            out,
            compared_width(answer),
        )
    wrong = sum(row.wrong or 0 for row in answer.rows)
    if wrong:
        raise RunError(f"{wrong} elements are not the exact sum: no time of this run counts")


@command.command("links")
@click.option(
    "--size", default="4M", show_default=True, metavar="SIZE", help="Size of large messages."
)
@click.option(
    "--tool",
    type=click.Choice(["auto", "ucx"]),
    default="auto",
    show_default=True,
    help="Messages of the backend, or ucx_perftest between each two.",
)
@click.option("--together", is_flag=True, help="Disjoint pairs at the same time.")
@_party_options
@shared_options
def links(
    *,
    warmup: int | None,
    repeats: int | None,
    as_json: bool,
    lang: Language,
    out: str,
    **asked: Any,  # noqa: ANN401 - click's
) -> None:
    """Measure latency and bandwidth between all pairs of processes, and point out slow ones.

    \b
    Examples:
      artery bench links --ranks 4
      mpirun -n 16 artery bench links --backend mpi --together
      artery bench links --tool ucx
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.bench import bench_links
    from artery.report.bench import links_drawing
    from artery.report.bench.payload import links_payload

    answer = bench_links(
        warmup=2 if warmup is None else warmup,
        repeats=10 if repeats is None else repeats,
        heard=_progress(),
        **asked,
    )
    if answer is None:
        return
    width = 8 * (answer.party.ranks + 1)
    _print(
        links_payload(answer) if as_json else None,
        lambda: links_drawing(answer, lang),
        out,
        max(width, 80),
    )


@command.command("chip")
@click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="auto|cpu|cuda:N",
    help="The chip; auto: a GPU if there is one.",
)
@click.option("--dtypes", metavar="TYPE,...", help="fp64, fp32, tf32, bf16, fp16, fp8, int8.")
@click.option("--shapes", metavar="MxNxK,...", help="Shapes of products; one number is a square.")
@click.option("--array", metavar="SIZE", help="Bytes of an array of the memory test.")
@click.option("--threads", type=_COUNT, metavar="N", help="Threads of a CPU (all cores).")
@click.option("--warmup", type=click.IntRange(min=0), default=2, show_default=True, metavar="N",
              help="Runs that do not count.")  # fmt: skip
@click.option("--repeats", type=_COUNT, default=20, show_default=True, metavar="N",
              help="Runs that are timed.")  # fmt: skip
@click.option(
    "--seconds",
    type=float,
    default=2.0,
    show_default=True,
    metavar="S",
    help="Spend at most so long on each row.",
)
@shared_options
def chip(
    *,
    dtypes: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    **asked: Any,  # noqa: ANN401 - click's
) -> None:
    """Measure products of matrices, memory bandwidth, and what it costs to begin an operation.

    \b
    Examples:
      artery bench chip
      artery bench chip --device cpu --threads 1 --dtypes fp32,bf16 --shapes 512
      artery bench chip --json -o chip.json

    Products by type and shape, two operations per multiplication and addition; memory over arrays
    larger than every cache. Under a launcher the first process measures; each does with -o.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.bench.chip import bench_chip
    from artery.answers.bench.run import stands_behind
    from artery.report.bench import chip_drawing
    from artery.report.bench.payload import chip_payload

    if out == "-" and stands_behind():  # one document on stdout; files may be as many as ranks
        return
    kinds = tuple(one.strip() for one in dtypes.split(",")) if dtypes else ()
    answer = bench_chip(dtypes=kinds, heard=_progress(), **asked)
    _print(chip_payload(answer) if as_json else None, lambda: chip_drawing(answer, lang), out, 80)


def _print(
    payload: Any,  # noqa: ANN401 - a payload, or none
    drawing: Callable[[], Any],
    out: str,
    least: int,
) -> None:
    """Write the document of ``payload``, or else the drawing."""
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    if payload is not None:
        write_whole(out, document("bench", payload))
    else:
        deliver(drawing(), out, least=least)


def _progress() -> Callable[[str], None] | None:
    """Return what shows on a terminal what is done; none without one."""
    if not sys.stderr.isatty():
        return None

    def show(line: str) -> None:
        click.echo(f"\r\x1b[K{line}", err=True, nl=False)

    return show
