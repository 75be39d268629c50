"""``artery calibrate``: a system's constants fitted to what was measured on it."""

from __future__ import annotations

import click

from artery.cli.options import (
    SIZE,
    debug_option,
    form_options,
    set_option,
    system_option,
)
from artery.cli.outputs import guarded, writable
from artery.report.words import Language


@click.command("calibrate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@system_option
@click.option(
    "--fit",
    "wanted",
    multiple=True,
    metavar="VALUE",
    help="A value to fit, for example fabric.nic.efficiency. Repeatable; else what can be told.",
)
@click.option(
    "--smallest",
    type=SIZE,
    default=0,
    metavar="SIZE",
    help="Leave out smaller messages, for example 1M.",
)
@click.option(
    "--from",
    "plan_from",
    multiple=True,
    metavar="RUN",
    help="What launched the training logs: script, configuration, saved plan. One, or one a log.",
)
@click.option("--nccl", metavar="VERSION", help="Version of NCCL, for example 2.27.")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    callback=writable,
    help="Write the fitted system as a file for --on (- = stdout).",
)
@click.option(
    "--even-worse",
    is_flag=True,
    help="Write it even where sizes that the fit did not see got worse.",
)
@form_options
@set_option
@debug_option
@guarded
def command(
    *,
    files: tuple[str, ...],
    on: str,
    wanted: tuple[str, ...],
    smallest: int,
    plan_from: tuple[str, ...],
    nccl: str | None,
    out: str | None,
    even_worse: bool,
    as_json: bool,
    lang: Language,
    overrides: tuple[str, ...],
) -> None:
    """Fit a system to measurements, and write it as a file that says what changed and why.

    \b
    Examples:
      artery calibrate nccl-tests.log --on aws-p5 -o mine.toml
      artery calibrate one-node.log two-nodes.log --on dgx-h100 --smallest 1M
      artery calibrate nccl-tests.log --on aws-p5 --fit fabric.nic.efficiency
      artery calibrate train.log --from run.sh --on dgx-h100 -o mine.toml
      artery calibrate a.log b.log --from a.sh --from b.sh --on aws-p5 -o my.toml
      artery plan llama3-8b --on mine.toml:64

    Rates of links and cards, what the library takes to start, and with a training log the clock of
    the chips, are fitted with priors; every value has an interval of 80 %. Several training logs
    also tell what the framework takes to launch and what it does not hide. What the data cannot
    tell apart is refused if it was asked for, and left as it is otherwise. A system that
    does worse than before on sizes that the fit did not see is not written (exit code 5).
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    if out == "-" and as_json:
        raise click.UsageError("-o - and --json both write stdout; name a file for the system")
    from artery.answers.calibrate import calibrate, check_better
    from artery.answers.calibrate.file import calibrated_values
    from artery.report.calibrate import calibrate_drawing, calibrate_payload, calibrated_file
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = calibrate(
        *files,
        on=on,
        wanted=wanted,
        smallest=smallest,
        plan_from=plan_from,
        overrides=overrides,
        nccl=nccl,
    )
    worse = answer.check is not None and answer.check.worse and not even_worse
    refused, out = (out, None) if worse else (None, out)
    if out is not None:
        write_whole(out, calibrated_file(calibrated_values(answer, overrides), answer))
    if as_json:
        write_whole("-", document("calibrate", calibrate_payload(answer, out)))
    elif "-" not in {out, refused}:
        deliver(calibrate_drawing(answer, lang, out), "-")
    if refused is not None:
        check_better(answer)
