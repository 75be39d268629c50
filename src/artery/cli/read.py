"""``artery read``: what a foreign file is and what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from artery.cli.options import debug_option, form_options, set_option
from artery.cli.outputs import guarded, writable
from artery.report.words import Language


def _list_formats(lang: Language, others: bool) -> None:
    """Print every format with its kind; ``others`` says that more was asked beside it."""
    if others:
        raise click.UsageError("--formats lists what is known: give only --lang beside it")
    from artery.answers.read import known_formats
    from artery.report.read import formats_text
    from artery.report.writing.files import write_whole

    write_whole("-", formats_text(known_formats(), lang))


@click.command("read")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--format", "format_name", metavar="NAME", help="What the files are, if it is known.")
@click.option(
    "--formats",
    "list_them",
    is_flag=True,
    help="List the formats that are known, and end.",
)
@click.option("--anonymise", is_flag=True, help="Mask names, paths, addresses and GUIDs.")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    callback=writable,
    help="Write the system as a file of ours (- = stdout).",
)
@form_options
@set_option
@debug_option
@guarded
def command(
    *,
    files: tuple[str, ...],
    format_name: str | None,
    list_them: bool,
    anonymise: bool,
    out: str | None,
    as_json: bool,
    lang: Language,
    overrides: tuple[str, ...],
) -> None:
    """Recognise files by their content and say what they are, what they say, what was ignored.

    \b
    Examples:
      artery read nccl-tests.log topo.txt
      nvidia-smi topo -m | artery read -
      artery read topo.txt --set chip=h100-sxm -o node.toml
      artery read job.log --anonymise --json

    -o writes the system that a single file describes, as a file that --on takes; --set changes
    values of it. Known are the outputs of nvidia-smi, rocm-smi, NCCL and RCCL with their tests,
    PyTorch, MPI benchmarks, UCX, DCGM, InfiniBand and RoCE tools, Slurm, and more.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    if list_them:
        _list_formats(lang, bool(files or format_name or anonymise or out or as_json or overrides))
        return
    if not files:
        raise click.MissingParameter(param_hint="'FILE...'", param_type="argument")
    if out is not None and len(files) != 1:
        raise click.UsageError("-o writes one system: give it one FILE")
    if overrides and out is None:
        raise click.UsageError("--set changes the system that -o writes: add -o FILE")
    if out is not None and anonymise:
        raise click.UsageError("-o writes no names of hosts: leave out --anonymise")
    from artery.report.writing.files import write_whole

    if out is not None:
        from artery.answers.read import notes_on, system_values
        from artery.report.read import system_file

        values = system_values(files[0], overrides, format_name)
        write_whole(out, system_file(values, files[0], notes_on(values)))
        return
    from artery.answers.read import read

    answer = read(*files, format_name=format_name, anonymise=anonymise, progress=_progress())
    if as_json:
        from artery.report.read import read_payload
        from artery.report.writing.json import document

        write_whole("-", document("read", read_payload(answer)))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.read import read_drawing

        deliver(read_drawing(answer, lang), "-")


def _progress() -> Callable[[int], None] | None:
    """Return what shows on a terminal how much of a large file was read; none without one."""
    if not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        click.echo(f"\r{done / 2**20:,.0f} MiB\r", err=True, nl=False)

    return show
