"""A command that says all that is wrong with its flags at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

import click

from artery.cli import endings
from artery.errors import InputError
from artery.report.words import Language


class AllFlags(click.Command):
    """As :class:`click.Command`; where one flag is wrong, the others are looked at as well."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; raise one usage error that names every bad flag."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as first:
            said = self._said(ctx, given)
            if len(said) < 2:
                raise
            message = "\n".join([*said, f"{len(said)} problems"])
            raise click.UsageError(message, ctx) from first

    def _said(self, ctx: click.Context, args: list[str]) -> list[str]:
        options, _, _ = self.make_parser(ctx).parse_args(args=args)
        said = []
        for parameter in self.get_params(ctx):
            if parameter.is_eager:
                continue
            try:
                value, _ = parameter.consume_value(ctx, options)
                parameter.process_value(ctx, value)
            except click.BadParameter as error:
                said.append(error.format_message())
        return said


def told_on_the_line(error: InputError, names: Collection[str]) -> bool:
    """Return whether all that is wrong are flags of the ``names``, and nothing in a file.

    A name that nobody knows stands behind its kind, as in ``policy "first"``.
    """
    return all(
        problem.file is None and (problem.field or problem.found.partition(' "')[0]) in names
        for problem in error.problems
    )


def refused(error: InputError, context: click.Context, language: Language) -> NoReturn:
    """Say what is wrong with the flags of a command line, and end with the code of wrong usage."""
    endings.report(error, debug=bool(context.meta.get("artery.debug")), language=language)
    raise click.exceptions.Exit(click.UsageError.exit_code) from None
