"""``artery plan``: the best ways to split a job over a system, or one given way."""

from __future__ import annotations

from dataclasses import replace

import click

from artery.cli.flags import Whole, from_option, plan_flags, request
from artery.cli.options import node_option, set_option, shared_options
from artery.cli.outputs import writable
from artery.cli.watching import watching
from artery.errors import InfeasibleError
from artery.report.words import Language


@click.command("plan")
@click.argument("model", metavar="MODEL", required=False)
@from_option
@plan_flags
@click.option(
    "--top", type=Whole(1000), metavar="K", default=1, help="Plans to show, best first (default 1)."
)
@click.option(
    "--seeds",
    type=Whole(1000),
    metavar="N",
    help="Plays the network with N draws of the hashes and says the range.",
)
@click.option(
    "--trace", metavar="FILE", callback=writable, help="Write one step as a Perfetto trace."
)
@node_option
@set_option
@shared_options
def command(
    *,
    model: str | None,
    on: str | None,
    saved: str | None,
    trace: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    **flags: object,
) -> None:
    """Say how long one step takes, where the time goes, what limits it, what would help.

    \b
    Examples:
      artery plan llama3-70b --on dgx-h100:128 --tokens 15T
      artery plan gpt3-175b --on dgx-a100:1024 --tp 8 --pp 16 --top 5
      artery plan ./my-model/config.json --on my-cluster.yaml --json -o plan.json
      artery plan --from plan.json --tp 4 --trace step.json

    MODEL is a catalog name, a Hugging Face config.json (or its folder), or - for standard
    input. What is not given is searched: the plan shown is the best that fits in memory.
    Exit code 4 says that none fits; the answer is printed all the same.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    asked = request(model, on, saved, flags)
    from artery.answers.plan import plan

    with watching(long=asked.plays):
        answer = plan(asked.model, asked.on, **asked.options)
    remarks = asked.remarks(answer.system.chips)
    answer = replace(answer, warnings=(*remarks, *answer.warnings))
    if as_json:
        from artery.report.plan.payload import plan_payload
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        write_whole(out, document("plan", plan_payload(answer, asked.document())))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.plan import plan_drawing

        deliver(plan_drawing(answer, lang, asked.typed()), out)
    if trace is not None:
        from artery.report.plan.trace import trace as step_trace
        from artery.report.writing.files import write_whole

        write_whole(trace, step_trace(answer))
    if answer.fitting == 0:
        raise click.exceptions.Exit(InfeasibleError.exit_code)
