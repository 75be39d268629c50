"""``artery catalog``: the chips, links, systems, models and profiles that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from artery.answers.catalog import catalog, catalog_list, catalog_schema, catalog_show
from artery.cli.commands import COMMANDS
from artery.cli.options import shared_options
from artery.report.words import Language

if TYPE_CHECKING:
    from rich.console import RenderableType

_WANTED = {
    "list": "a KIND, for example chips",
    "show": "a NAME, for example h100-sxm",
    "schema": "a KIND or a COMMAND, for example system",
}


@click.command("catalog")
@click.argument("action", type=click.Choice(["list", "show", "schema"]), required=False)
@click.argument("name", metavar="[KIND|NAME|FILE|COMMAND]", required=False)
@shared_options
def command(action: str | None, name: str | None, as_json: bool, lang: Language, out: str) -> None:
    """Say what is known: chips, links, systems, switches, cards, optics, models, libraries.

    Every value has a source, a date and how far to trust it: datasheet, measured, recalled or
    assumed. A chip, link, system or part of your own is a small TOML or YAML file; schema prints
    what belongs in it as JSON Schema, and show checks it. Of a command, schema prints what its
    --json answers.

    \b
    Examples:
      artery catalog
      artery catalog list chips
      artery catalog list switches
      artery catalog show h100-sxm
      artery catalog show ./my-chip.toml
      artery catalog show ./my-model/config.json
      artery catalog schema system
      artery catalog schema plan
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.report.catalog import TABLE_WIDTH
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document, published

    if action is not None and name is None:
        raise click.UsageError(f"{action} needs {_WANTED[action]}")
    if action == "schema":
        import json

        schema = published(str(name)) if name in COMMANDS else catalog_schema(str(name))
        text = (
            document("catalog", {"json_schema": schema})
            if as_json
            else json.dumps(schema, indent=2)
        )
        write_whole(out, text)
        return
    payload, drawing = _answer(action, str(name), lang)
    if as_json:
        write_whole(out, document("catalog", payload))
    else:
        deliver(drawing, out, least=TABLE_WIDTH)


def _answer(
    action: str | None, name: str, lang: Language
) -> tuple[Mapping[str, object], RenderableType]:
    """Return the answer as keys of the document and as a drawing."""
    from artery.report import catalog as report

    if action == "list":
        listing = catalog_list(name)
        return report.listing_payload(listing), report.listing_drawing(listing, lang)
    if action == "show":
        entries = catalog_show(name)
        return report.entries_payload(entries), report.entries_drawing(entries, lang)
    counts = catalog()
    return report.counts_payload(counts), report.counts_drawing(counts, lang)
