"""The table of commands, and the group that loads one of them when it is called.

The short help lives in the table so that ``artery --help`` imports no command. A new command is
one file, ``cli/<name>.py``, exposing a click command called ``command``, one line here, and its
help in Chinese, ``report/said/help/<name>.toml``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Final

import click

from artery.cli.options import (
    LANGUAGE,
    NO_LANGUAGE,
    asked_language,
    debug_option,
    language_option,
    unknown_language,
)
from artery.cli.pages import PageContext, PageGroup, paged, write_commands
from artery.report.words import Language

COMMANDS: Final = {
    "plan": "The best ways to split a job over a system: step time, limits, what would help.",
    "explain": "Any number of a plan opened up: formula, inputs, source.",
    "scale": "The same job on more and more chips: what breaks, and where.",
    "expect": "What a collective should give, by size, in nccl-tests' columns.",
    "simulate": "A collective played on a network: collisions, failures, the hottest links.",
    "goodput": "What failures leave of a run, the best checkpoint interval, what to fix first.",
    "schedule": "Jobs on a cluster under a policy: queueing, utilisation, the chips needed.",
    "fabric": "A network for so many chips; the faults of a cabling; files for other tools.",
    "read": "What a foreign file is and what it says; a topology as a system file.",
    "train": "A real data-parallel run that survives failures; predicted beside measured.",
    "bench": "What this chip, these links and these processes really reach.",
    "lab": "Hosts and a shaped network on this Linux machine; real ranks beside predictions.",
    "diagnose": "Measured against expected, ranked causes that fit the numbers, what to run next.",
    "calibrate": "A system fitted to what was measured on it, with intervals.",
    "lint": "How a job is started: scripts, environments and manifests against rules.",
    "demo": "A bundled broken cluster found, proved and repaired, in a minute.",
    "catalog": "The chips, links, systems and models that are known, with sources.",
    "tour": "How AI networks grew, stop by stop, with the right numbers.",
    "doctor": "What this machine can do.",
}
"""Command name to short help, in the order that ``--help`` prints them."""

_EXAMPLES: Final = """\
artery tells how long an AI job takes on a set of chips, what holds it back, what would help.

  artery plan llama3-70b --on dgx-h100:128 --tokens 15T
  artery expect all_reduce --on dgx-h100:16
  artery tour

All commands: artery --help"""


class LazyGroup(PageGroup):
    """A group whose commands are imported when they are called, and not before."""

    context_class = PageContext

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command; note the language that the whole line asks for."""
        ctx.meta[LANGUAGE] = asked_language(args)
        ctx.meta[NO_LANGUAGE] = unknown_language(args)
        return super().parse_args(ctx, args)

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the command names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or ``None`` if there is no such command."""
        module = f"artery.cli.{cmd_name}"
        if cmd_name not in COMMANDS or find_spec(module) is None:
            return None
        command = import_module(module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.command is no click command")
        return paged(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands from the table, importing none."""
        write_commands(formatter, COMMANDS.items())


@click.group(
    name="artery",
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="How long an AI job takes on a set of chips, what holds it back, what would help.",
    epilog="Sizes (--size 16G) are binary, token counts (--tokens 15T) decimal. "
    "Every command takes --json, and --debug for a traceback.",
)
@click.version_option(package_name="artery", message="%(prog)s %(version)s")
@language_option
@debug_option
@click.pass_context
def root(context: click.Context) -> None:
    """Print examples when no command is given."""
    if context.invoked_subcommand is None:
        click.echo(_alone(context.meta[LANGUAGE]))


def _alone(language: Language) -> str:
    if language == "en":
        return _EXAMPLES
    from artery.report.said.pages import told_lines

    return told_lines(_EXAMPLES, "commands")
