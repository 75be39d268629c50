"""``artery diagnose``: measured against expected, and the causes that fit the numbers."""

from __future__ import annotations

import click

from artery.cli.flags import degree_options
from artery.cli.options import node_option, set_option, share_type, shared_options
from artery.report.words import Language


@click.command("diagnose")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--on", metavar="SYSTEM", help="The system that was measured; else from the files.")
@click.option(
    "--fail-under",
    type=share_type(),
    metavar="SHARE",
    help="Exit with 5 if measured is below this share of expected, for example 80%.",
)
@node_option
@click.option("--model", metavar="MODEL", help="The job that runs there: what the fault costs it.")
@click.option(
    "--from",
    "plan_from",
    metavar="FILE",
    help="What launched a training run: its log is held against that plan.",
)
@degree_options
@click.option(
    "--prove/--no-prove",
    default=True,
    show_default=True,
    help="Play the likeliest cause on the network.",
)
@click.option("--anonymise", is_flag=True, help="Mask names, paths, addresses and GUIDs.")
@set_option
@shared_options
def command(
    *,
    files: tuple[str, ...],
    on: str | None,
    fail_under: float | None,
    model: str | None,
    plan_from: str | None,
    prove: bool,
    anonymise: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: Language,
    out: str,
    **degrees: int | None,
) -> None:
    """Join files into one case and say what holds it back: verdict, causes, the missing fact.

    \b
    Examples:
      artery diagnose nccl-tests.log
      artery diagnose nccl-tests.log nccl-debug.log topo.txt ibstat.txt
      artery diagnose nccl-tests.log --on dgx-h100:32 --fail-under 80%
      artery diagnose tests.log ibnetdiscover.txt --model qwen3-30b-a3b --ep 8
      artery diagnose train.log --from run.sh --on dgx-a100:1024
      artery diagnose facts.yaml --json

    What was measured is held against what the system should give at every size. Causes that can
    be said as a changed system or library price the whole curve again, and are ranked by what
    remains; the likeliest is played on the network, link by link. Verdicts: healthy, degraded,
    faulty, refused (no number counts), unknown.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.diagnose import check_threshold, diagnose
    from artery.report.diagnose import diagnose_drawing
    from artery.report.diagnose.payload import diagnose_payload
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = diagnose(
        *files, on=on, overrides=overrides, model=model, prove=prove, anonymise=anonymise,
        plan_from=plan_from,
        degrees={name: count for name, count in degrees.items() if count is not None},
    )  # fmt: skip
    if as_json:
        write_whole(out, document("diagnose", diagnose_payload(answer)))
    else:
        deliver(diagnose_drawing(answer, lang), out)
    if fail_under is not None:
        check_threshold(answer, fail_under)
