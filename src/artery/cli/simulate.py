"""``artery simulate``: a collective played on a system's network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from artery.cli.options import node_option, set_option, shared_options, system_option
from artery.cli.outputs import writable
from artery.cli.watching import watching
from artery.errors import UsageError
from artery.report.words import Language

_FLAGS = (
    click.option("--size", metavar="SIZE",
                 help="Bytes, as nccl-tests counts them; K M G binary.  [default: 1G]"),
    click.option("--algorithm", default="auto", show_default=True, metavar="auto|best|NAME",
                 help="What the library would choose, the fastest that can be played, or a name."),
    click.option("--routing", type=click.Choice(["auto", "ecmp", "adaptive", "spray", "static"]),
                 default="auto", show_default=True,
                 help="How packets choose among equal paths; auto: EFA sprays, others hash."),
    click.option("--queue-pairs", type=click.IntRange(1, 64), default=1, show_default=True,
                 metavar="N", help="Paths hashed per pair of ranks."),
    click.option("--placement", default="packed", show_default=True,
                 metavar="packed|interleaved|random|FILE", help="Which rank sits on which chip."),
    click.option("--transport", metavar="NAME",
                 help="infiniband, roce, roce-dcqcn, efa, tcp (default: the system's)."),
    click.option("--fail-links", metavar="1%|LINKS",
                 help="A share of links between switches (if none: of all), or names: "
                 "'leaf 3 -> spine 5'."),
    click.option("--fail-switches", type=click.IntRange(0), default=0, metavar="N",
                 help="Switches that are down, drawn above the leaves (if none: leaves)."),
    click.option("--fail-at", metavar="TIME", help="They fail during the run, after TIME."),
    click.option("--background", multiple=True, metavar="SPEC",
                 help="Others on the network: 30%, or a job, alltoall:1G:64-127. Repeatable."),
    click.option("--matrix", metavar="FILE",
                 help="CSV: what each rank of an all-to-all sends to each."),
    click.option("--slow", multiple=True, metavar="RANK=2x|RANK=5ms",
                 help="A rank whose links are slower, or that begins later. Repeatable."),
    click.option("--store-and-forward", is_flag=True, help="Switches without cut-through."),
    click.option("--flow-control", type=click.Choice(["auto", "none", "pfc", "credit"]),
                 default="auto", show_default=True,
                 help="What full port buffers do; none: they are endless."),
    click.option("--reduce-rate", metavar="RATE|chip",
                 help="How fast chips add (default: as the library's constants hold it)."),
    click.option("--offload", default="auto", show_default=True, metavar="auto|none|switch|NIC",
                 help="Who adds: chips, switches, or a card of the catalog (bf2, bf3)."),
    click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True,
                 metavar="N", help="Draws hashes and failures."),
    click.option("--seeds", type=click.IntRange(1, 1000), default=1, show_default=True,
                 metavar="K", help="Runs K draws and says the range."),
    click.option("--engine", type=click.Choice(["auto", "coupled", "messages", "fluid", "sampled"]),
                 default="auto", show_default=True, help="How it is played."),
    click.option("--links", type=click.IntRange(0, 10_000), default=10, show_default=True,
                 metavar="N", help="Hottest links to show."),
    click.option("--nccl", metavar="VERSION", help="Version of NCCL, for example 2.27."),
)  # fmt: skip


def _flags(command: Any) -> Any:  # noqa: ANN401 - a click decorator
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


@click.command("simulate")
@click.argument("collective", metavar="COLLECTIVE", required=False)
@system_option
@_flags
@click.option(
    "--work",
    metavar="FILE|FOLDER",
    help="Play a whole job instead: Chakra traces (one, or a folder of all) or GOAL.",
)
@click.option(
    "--map",
    "map_file",
    metavar="FILE",
    callback=writable,
    help="Write the load of every link (CSV, JSON).",
)
@click.option(
    "--trace",
    "trace_file",
    metavar="FILE",
    callback=writable,
    help="Write a timeline for Perfetto.",
)
@click.option(
    "--export",
    "export_file",
    metavar="FILE",
    callback=writable,
    help="Write the schedule: GOAL, or .cm for htsim.",
)
@node_option
@set_option
@shared_options
def command(
    *,
    collective: str | None,
    on: str,
    work: str | None,
    map_file: str | None,
    trace_file: str | None,
    export_file: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Play a collective on a system's network, link by link.

    \b
    Examples:
      artery simulate all_reduce --on dgx-h100:64
      artery simulate all_reduce --on rail-clos-h100:8192 --fail-links 1%
      artery simulate alltoall --on dgx-h100:64 --size 64M --map links.csv
      artery simulate all_reduce --on dgx-h100:16 --slow 3=2x --seeds 20
      artery simulate all_reduce --on dgx-h100:64 --offload bf3
      artery simulate alltoall --on dgx-h100:64 --export alltoall.goal
      artery simulate --work traces/ --on dgx-h100:16

    Collectives: all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv.
    The time is the network's, simulated, and what the communication library takes to start.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.simulate import watched
    from artery.report.drawing.terminal import deliver
    from artery.report.said import warned
    from artery.report.simulate import TABLE_WIDTH, simulate_drawing
    from artery.report.simulate.files import export, link_map, message_trace
    from artery.report.simulate.payload import simulate_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    _check_endings({"--map": map_file, "--trace": trace_file, "--export": export_file})
    if work is not None:
        if collective is not None:
            raise UsageError(f"--work plays what its file says; leave {collective} out")
        if (map_file, trace_file, export_file) != (None, None, None):
            raise UsageError(
                "--map, --trace and --export are of a collective; leave them out with --work"
            )
        _play_work(work, on, options, (as_json, lang, out))
        return
    if collective is None:
        raise UsageError("COLLECTIVE is missing; name one, or give --work FILE")
    files: list[tuple[str, str]] = []
    warnings: list[str] = []
    laid = None if export_file is None else partial(export, export_file, files, warnings)
    with watching() as told:
        timed = trace_file is not None
        fits = _fitting(export_file, timed=timed)
        answer = watched(told, collective, on, laid=laid, fits=fits, timed=timed, **options)
    if map_file is not None:
        files.append((map_file, link_map(answer, as_json=map_file.endswith(".json"))))
    if trace_file is not None:
        files.append((trace_file, message_trace(answer)))
    for name, text in files:
        write_whole(name, text)
    for warning in warned(warnings, lang):
        click.echo(warning, err=True)
    if as_json:
        write_whole(out, document("simulate", simulate_payload(answer)))
    else:
        deliver(simulate_drawing(answer, lang), out, least=TABLE_WIDTH)


def _fitting(export_file: str | None, *, timed: bool) -> Callable[[Any, str], None] | None:
    """Return what refuses schedules that the files asked for cannot hold; none without files."""
    from artery.report.simulate.files import check_export, check_trace

    if export_file is None and not timed:
        return None

    def fits(jobs: Any, engine: str) -> None:  # noqa: ANN401 - handed through from answers to report
        if export_file is not None:
            check_export(export_file, jobs, engine)
        if timed:
            check_trace(jobs, engine)

    return fits


def _play_work(
    work: str,
    on: str,
    options: dict[str, Any],
    shown: tuple[bool, Language, str],
) -> None:
    """Play a work of many tasks and show what came out."""
    from artery.answers.simulate.request import Request
    from artery.answers.simulate.work import simulate_work
    from artery.report.drawing.terminal import deliver
    from artery.report.simulate.work import work_drawing, work_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    request = Request(collective="", on=on, **options)
    request.check()
    with watching() as told:
        answer = simulate_work(work, request, told)
    as_json, lang, out = shown
    if as_json:
        write_whole(out, document("simulate", work_payload(answer)))
    else:
        deliver(work_drawing(answer, lang), out)


ENDINGS = {"--map": (".csv", ".json"), "--trace": (".json",), "--export": (".goal", ".cm")}
"""How the files' names may end; devices and pipes have no ending."""


def _check_endings(given: dict[str, str | None]) -> None:
    """Refuse a file of another format than the one that its name promises."""
    from artery.report.writing.files import is_special

    for flag, name in given.items():
        endings = ENDINGS[flag]
        if not name or name == "-" or is_special(name) or name.lower().endswith(endings):
            continue
        raise UsageError(f"{flag} writes {' or '.join(endings)}, not {name!r}; end its name so")
