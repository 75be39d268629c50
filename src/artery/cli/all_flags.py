"""A command that says all that is wrong with its flags at once."""

from __future__ import annotations

import click

from artery.errors import InputError


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


def told_on_the_line(error: InputError, but: tuple[str, ...] = ("system", "model")) -> bool:
    """Return whether all that is wrong stands on the command line, and nothing in a file.

    Problems of the fields ``but`` are not counted: those may be files as well.
    """
    return all(
        problem.file is None and not (problem.field or "").startswith(but)
        for problem in error.problems
    )
