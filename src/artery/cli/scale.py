"""``artery scale``: the same job on more and more chips."""

from __future__ import annotations

import click

from artery.cli.flags import plan_flags, request
from artery.cli.options import (
    model_argument,
    node_option,
    set_option,
    shared_options,
    system_option,
)
from artery.cli.watching import watching
from artery.errors import InfeasibleError
from artery.report.words import Language

_LARGEST = 4_000_000


def _counts(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """Read ``1,8,64`` as counts of chips."""
    words = [word.strip() for word in value.split(",")]
    counts = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 10]
    if len(counts) < len(words) or not all(1 <= count <= _LARGEST for count in counts):
        message = f'"{value}" must be counts from 1 to {_LARGEST:,}, for example 1,8,64,1024'
        raise click.BadParameter(message, context, parameter)
    return tuple(counts)


@click.command("scale")
@model_argument
@system_option
@click.option(
    "--chips",
    default="1,8,64,512,4096",
    show_default=True,
    metavar="COUNTS",
    callback=_counts,
    help="Numbers of chips, with commas.",
)
@click.option(
    "--parallel-fraction",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Add Amdahl's 1/((1-P)+P/N).",
)
@plan_flags
@node_option
@set_option
@shared_options
def command(
    *,
    model: str,
    on: str,
    chips: tuple[int, ...],
    parallel_fraction: float | None,
    as_json: bool,
    lang: Language,
    out: str,
    **flags: object,
) -> None:
    """Say how a job scales from one chip up, and what holds each size back.

    \b
    Examples:
      artery scale llama3-8b --on dgx-h100 --chips 8,64,512,4096
      artery scale resnet50 --on ethernet-10g --chips 1,2,4,8 --global-batch 256
      artery scale resnet50 --on dgx-1v --chips 1,8,1024 --parallel-fraction 0.9

    Strong scaling keeps the global batch, weak scaling the batch per chip; each point is the
    best plan at that count. Speed-up is against the smallest count that fits. Any :CHIPS of
    the system is ignored. Exit code 4 says that no size fits; the answer is printed all the same.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    asked = request(model, on, None, flags)
    from artery.answers.scale import scale

    with watching(long=asked.plays):
        answer = scale(
            asked.model, asked.on, chips, parallel_fraction=parallel_fraction, **asked.options
        )
    if as_json:
        from artery.report.scale import scale_payload
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        given = {**asked.document(), "chips": chips, "parallel_fraction": parallel_fraction}
        write_whole(out, document("scale", scale_payload(answer, given)))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.scale import TABLE_WIDTH, scale_drawing

        deliver(scale_drawing(answer, lang, asked.typed()), out, least=TABLE_WIDTH)
    if all(point.result is None or point.result.fits == "no" for point in answer.points):
        raise click.exceptions.Exit(InfeasibleError.exit_code)
