"""``artery lint``: how a job is started, held against rules that each say why."""

from __future__ import annotations

import click

from artery.cli.options import share_type, shared_options
from artery.report.words import Language


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help="Exit with 5 if anything as bad as this is found.",
)
@click.option(
    "--fail-under",
    type=share_type(),
    metavar="SHARE",
    help="Exit with 5 if fewer of the rules that apply are kept, for example 90%.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE,...",
    help="Rules to leave out, with commas between them. Repeatable.",
)
@click.option("--rules", "listed", is_flag=True, help="List the rules instead.")
@click.option("--anonymise", is_flag=True, help="Mask names, paths, addresses and GUIDs.")
@shared_options
def command(
    *,
    files: tuple[str, ...],
    fail_on: str | None,
    fail_under: float | None,
    ignore: tuple[str, ...],
    listed: bool,
    anonymise: bool,
    as_json: bool,
    lang: Language,
    out: str,
) -> None:
    """Look for what goes wrong again and again in how jobs are started.

    \b
    Examples:
      artery lint train.sbatch
      artery lint job.yaml nccl.env --fail-on error
      kubectl get jobset train -o yaml | artery lint -
      artery lint --rules

    Batch scripts of Slurm, shell scripts with torchrun, NAME=value files and Kubernetes manifests
    are known by their content. Every finding says the line, why, the fix and a reference.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lint import check_limits, lint, lint_rules
    from artery.report.drawing.terminal import deliver
    from artery.report.lint import lint_drawing, lint_payload, rules_drawing, rules_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    if listed:
        rules = lint_rules()
        if as_json:
            write_whole(out, document("lint", rules_payload(rules)))
        else:
            deliver(rules_drawing(rules, lang), out)
        return
    if not files:
        raise click.UsageError("name a FILE to look at, - for standard input; --rules lists rules")
    left_out = [name.strip() for some in ignore for name in some.split(",") if name.strip()]
    answer = lint(*files, ignore=left_out, anonymise=anonymise)
    if as_json:
        write_whole(out, document("lint", lint_payload(answer)))
    else:
        deliver(lint_drawing(answer, lang), out)
    check_limits(answer, fail_on, fail_under)
