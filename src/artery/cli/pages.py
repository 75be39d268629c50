"""Help pages in the language asked for.

The library of the command line writes every page into a formatter, which the context of a command
makes. Here it makes one that says in Chinese what it is given, if the line asks for Chinese; so no
command need know of it. The texts are in ``report/said/help/``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from artery.cli.options import LANGUAGE, NO_LANGUAGE
from artery.report.writing.files import printing


class PageContext(click.Context):
    """A context whose help and usage are in the language asked for."""

    def __init__(self, command: click.Command, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (as click has them)
        super().__init__(command, *arguments, **named)
        option = command.get_help_option(self)
        if option is not None:
            option.callback = _show

    def make_formatter(self) -> click.HelpFormatter:
        """Return what the page is written into."""
        if self.meta.get(LANGUAGE) != "zh":
            return super().make_formatter()
        from artery.cli.chinese import ChinesePage

        return ChinesePage(
            subject(self), width=self.terminal_width, max_width=self.max_content_width
        )


def _show(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the page, as an answer is printed, once the whole line asks for a known language."""
    if not asked or context.resilient_parsing:
        return
    wrong = context.meta.get(NO_LANGUAGE)
    if wrong is not None:
        option = next(one for one in context.find_root().command.params if one.name == "lang")
        option.type.convert(wrong, option, context)
    with printing():
        click.echo(context.get_help(), color=context.color)
    context.exit()


def subject(context: click.Context) -> str:
    """Return which table has the texts of a command: that of its file, or that of ``artery``."""
    while context.parent is not None and context.parent.parent is not None:
        context = context.parent
    return "commands" if context.parent is None else context.command.name or ""


class PageGroup(click.Group):
    """A group that lists its commands with the whole first sentence of each."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands."""
        listed = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        write_commands(
            formatter, [(name, first_sentence(one)) for name, one in listed if one is not None]
        )


def first_sentence(command: click.Command) -> str:
    """Return what a command is said to do in one line."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


def write_commands(formatter: click.HelpFormatter, rows: Iterable[tuple[str, str]]) -> None:
    """Write the commands of a group, each with a sentence."""
    with formatter.section("Commands"):
        formatter.write_dl(list(rows))


def paged(command: click.Command) -> click.Command:
    """Let a command, and those under it, show their pages in the language asked for."""
    command.context_class = PageContext
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            paged(inner)
    return command
