"""``artery expect``: what a collective should give, by size."""

from __future__ import annotations

from typing import Final

import click

from artery.cli.options import node_option, set_option, shared_options, system_option
from artery.report.words import Language

_SIZES: Final = "8:16G:x2"
"""What nccl-tests users ask for most: from latency to bandwidth."""


@click.command("expect")
@click.argument("collective", metavar="COLLECTIVE")
@system_option
@click.option(
    "--sizes",
    show_default=_SIZES,
    metavar="BEGIN:END:xFACTOR",
    help="Sizes in bytes, K M G binary; +STEP instead of xFACTOR; or a list with commas.",
)
@click.option("--size", metavar="SIZE", help="One size instead of a range.")
@click.option(
    "--algorithm",
    default="auto",
    show_default=True,
    metavar="auto|best|NAME",
    help="What the library would choose, the fastest known, or one by name.",
)
@click.option(
    "--chips-per-node",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use only N chips of every node.",
)
@click.option("--nccl", metavar="VERSION", help="Version of NCCL, for example 2.27.")
@click.option(
    "--dtype",
    default="float",
    show_default=True,
    metavar="TYPE",
    help="Type of the elements, by nccl-tests' names.",
)
@node_option
@set_option
@shared_options
def command(
    *,
    collective: str,
    on: str,
    sizes: str | None,
    size: str | None,
    algorithm: str,
    chips_per_node: int | None,
    nccl: str | None,
    dtype: str,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: Language,
    out: str,
) -> None:
    """Say what a collective should give on a system, by size, in nccl-tests' columns.

    \b
    Examples:
      artery expect all_reduce --on dgx-h100
      artery expect all_reduce --on dgx-h100:64 --sizes 1M:4G:x4 --algorithm best
      artery expect alltoall --on dgx-a100:32 --size 64M --json
      artery expect all_gather --on dgx-h100:64 --chips-per-node 1 --nccl 2.23

    Collectives: all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv.
    Columns: algbw is size over time, busbw compares with the link rate, wire is what one chip
    puts on the links that leave its node.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.expect import expect
    from artery.report.drawing.terminal import deliver
    from artery.report.expect import TABLE_WIDTH, expect_drawing, expect_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    if sizes is not None and size is not None:
        raise click.UsageError("--size and --sizes exclude each other; leave out one")
    if sizes is None:
        sizes = _SIZES if size is None else size
    answer = expect(
        collective,
        on,
        sizes=sizes,
        algorithm=algorithm,
        chips_per_node=chips_per_node,
        nccl=nccl,
        dtype=dtype,
        overrides=overrides,
    )
    if as_json:
        write_whole(out, document("expect", expect_payload(answer)))
    else:
        deliver(expect_drawing(answer, lang), out, least=TABLE_WIDTH)
