"""``artery explain``: any term of a plan opened up."""

from __future__ import annotations

import click

from artery.cli.flags import from_option, plan_flags, request
from artery.cli.options import node_option, set_option, shared_options
from artery.cli.watching import watching
from artery.report.words import Language


@click.command("explain")
@click.argument("words", metavar="MODEL [PATH]...", nargs=-1)
@from_option
@plan_flags
@node_option
@set_option
@shared_options
def command(
    *,
    words: tuple[str, ...],
    on: str | None,
    saved: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    **flags: object,
) -> None:
    """Open up any number of a plan: its value and interval, formula, inputs and source.

    \b
    Examples:
      artery explain llama3-70b --on dgx-h100:128
      artery explain llama3-70b --on dgx-h100:128 step.dp memory.activations
      artery explain --from plan.json step.bubble

    A PATH starts at step (seconds) or memory (bytes per chip). With --from, every word is a
    PATH.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    model, paths = (None, words) if saved is not None else (next(iter(words), None), words[1:])
    asked = request(model, on, saved, flags)
    from artery.answers.explain import explain

    with watching(long=asked.plays):
        answer = explain(asked.model, asked.on, *paths, **asked.options)
    if as_json:
        from artery.report.explain import explain_payload
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        write_whole(out, document("explain", explain_payload(answer, asked.document())))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.explain import explain_drawing

        deliver(explain_drawing(answer, lang, asked.typed()), out)
