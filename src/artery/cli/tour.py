"""``artery tour``: the article's ladder, stop by stop."""

from __future__ import annotations

import click

from artery.cli.options import shared_options
from artery.report.words import Language


@click.command("tour")
@click.argument("stops", metavar="[STOP]...", nargs=-1)
@shared_options
def command(*, stops: tuple[str, ...], as_json: bool, lang: Language, out: str) -> None:
    """Walk from one chip to ten thousand: an article's sentences, checked by computing.

    \b
    Examples:
      artery tour
      artery tour amdahl falling
      artery tour --lang zh

    Each stop has the sentence, its picture, a verdict, the right figures, and the command that
    gives them. Stops: one-chip does-it-fit memory inside links dgx-1 wiring amdahl
    falling all-reduce ten-thousand infiniband gpt3 failures recovery minutes pool
    energy ten-trillion.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.tour import chosen, tour

    names = chosen(stops)
    if as_json:
        from artery.report.tour import tour_payload
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        write_whole(out, document("tour", tour_payload(tour(*names), lang)))
        return
    from rich.console import Group

    from artery.report.drawing.terminal import deliver
    from artery.report.tour import closing, opening, stop_drawing

    drawings = (stop_drawing(tour(name).stops[0], lang) for name in names)
    if out != "-":
        deliver(Group(*drawings), out)
        return
    # One after the other, so that the first stop can be read while the next is computed.
    if len(names) > 1:
        deliver(opening(names, lang), out)
    for drawing in drawings:
        deliver(drawing, out)
    deliver(closing(names[0], lang), out)
