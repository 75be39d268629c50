"""The frozen list of command-line flags: ``python -m checks.flags [--write]``.

Scripts are written against the flags, so a flag that appears, changes its type or goes away must
show in a change of ``tests/cli/flags.txt``, which a test compares with the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from artery.cli.commands import root

FROZEN: Final = Path(__file__).parent.parent / "tests" / "cli" / "flags.txt"


def flags() -> str:
    """Return one line for each argument and option of every command."""
    return "\n".join(_lines(root, "artery")) + "\n"


def _lines(command: click.Command, path: str) -> Iterator[str]:
    for parameter in command.params:
        yield f"{path}  {_spelled(parameter)}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _lines(inner, f"{path} {name}")


def _spelled(parameter: click.Parameter) -> str:
    many = "..." if parameter.nargs != 1 or parameter.multiple else ""
    if not isinstance(parameter, click.Option):
        return f"{(parameter.name or '').upper()}{many}"
    names = "/".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    kind = parameter.type
    values = "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name
    return f"{names} {values}{many}"


def main() -> int:
    """Print the flags, or write them to the frozen list."""
    if "--write" in sys.argv[1:]:
        FROZEN.write_text(flags(), encoding="utf-8")
    else:
        print(flags(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
