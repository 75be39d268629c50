"""``artery lab``: hosts and a shaped network on this Linux machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from artery.cli.options import language_option, set_option, shared_options
from artery.cli.pages import PageGroup
from artery.report.words import Language

_NAME = click.option(
    "--name", default="lab", show_default=True, metavar="NAME", help="Which lab, if several are up."
)

_MADE = (
    click.option("--rate", metavar="RATE", help="Of the fastest wire: 200Mbit (default), 1Gbit."),
    click.option("--rate-scale", metavar="X", help="The wires' rates over the real ones: 0.0005."),
    click.option("--mode", default="auto", show_default=True, metavar="auto|root|user|paced",
                 help="What it is made of; artery doctor says what is possible."),
    click.option("--engine", metavar="kernel|tap",
                 help="Who moves frames: the kernel, or a switch in user space (root)."),
    click.option("--delay", metavar="TIME", help="One way through a wire: 1ms (tap)."),
    click.option("--queue", metavar="SIZE", help="Bytes that wait for a wire: 1M (tap)."),
    click.option("--loss", metavar="SHARE", help="Frames that a wire loses: 0.1% (tap)."),
    click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True,
                 metavar="N", help="Draws the switches' hashes, and losses."),
)  # fmt: skip


def _made(command: Any) -> Any:  # noqa: ANN401 - a click decorator
    for flag in reversed(_MADE):
        command = flag(command)
    return set_option(command)


@click.group("lab", cls=PageGroup)
@language_option
def command() -> None:
    """A small cluster on this machine: hosts, switches, shaped wires, real TCP and real ranks.

    \b
    Examples:
      artery lab up lab-leaf-spine
      artery lab bench --order interleaved
      artery lab run -- hostname
      artery lab fail "leaf 0 -> spine 1"
      artery lab down
      artery lab ib dgx-h100:512
    """  # noqa: D301 (click's \\b keeps the lines of the examples)


@command.command("up")
@click.argument("system", metavar="SYSTEM")
@_NAME
@_made
@shared_options
def up(
    *,
    system: str,
    as_json: bool,
    lang: Language,
    out: str,
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Build a system's network of namespaces: every node a host, every cable a shaped wire.

    \b
    Examples:
      artery lab up lab-switch
      artery lab up ethernet-10g:8 --rate 100Mbit
      artery lab up lab-fat-tree --delay 1ms --loss 0.01%
      artery lab up dgx-h100:32 --rate-scale 0.0005 --mode user

    SYSTEM is a name of the catalog with :CHIPS, or a file, as for artery plan; lab-switch,
    lab-leaf-spine and lab-fat-tree are made for this. Rates are scaled, for a processor moves no
    400 Gbit/s; the scale is said. The lab stays up until artery lab down, or until the process
    that holds it ends: then everything in it is gone at once.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_up

    _deliver("up", lab_up(system, **options), as_json=as_json, lang=lang, out=out)


@command.command("status")
@_NAME
@shared_options
def status(*, name: str, as_json: bool, lang: Language, out: str) -> None:
    """Say what is up, and what is wrong with its wires.

    \b
    Examples:
      artery lab status
      artery lab status --json
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_status

    _deliver("status", lab_status(name), as_json=as_json, lang=lang, out=out)


@command.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@_NAME
@click.option("--order", default="packed", show_default=True, metavar="packed|interleaved|0,2,...",
              help="Which rank sits on which host.")  # fmt: skip
@click.option("--timeout", metavar="TIME", help="After which all are ended (default 600s).")
@shared_options
def run(
    *,
    words: tuple[str, ...],
    name: str,
    order: str,
    timeout: str | None,
    as_json: bool,
    lang: Language,
    out: str,
) -> None:
    """Run a command on every host, a rank each, and wait for all of them.

    \b
    Examples:
      artery lab run -- ip -brief address
      artery lab run --order interleaved -- python train.py
      artery lab run --timeout 60s --json -- python -c "print(1)"

    Set are RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT,
    GLOO_SOCKET_IFNAME, OMP_NUM_THREADS=1, ARTERY_HOST and ARTERY_TIMEOUT. When one fails the
    others have five seconds. The exit code is that of the first rank that failed; 124 if time was
    up.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_run
    from artery.report.drawing.terminal import deliver
    from artery.report.lab import run_drawing, run_payload
    from artery.report.writing.files import check_writable, write_or_print, write_whole
    from artery.report.writing.json import document

    check_writable(out)
    heard = None if as_json else _heard()
    answer = lab_run(words, name=name, order=order, timeout=timeout, heard=heard)
    if as_json:
        write_or_print(lambda place: write_whole(place, document("lab", run_payload(answer))), out)
    elif answer.code or out != "-":
        write_or_print(lambda place: deliver(run_drawing(answer, lang), place), out)
    raise click.exceptions.Exit(answer.code)


@command.command("bench")
@click.argument("system", metavar="[SYSTEM]", required=False)
@_NAME
@click.option("--order", default="packed", show_default=True, metavar="packed|interleaved|0,2,...",
              help="Which rank sits on which host.")  # fmt: skip
@click.option("--sizes", default="4M,16M", show_default=True, metavar="SIZES",
              help="Bytes, as nccl-tests counts them: 4M,16M or 1M:16M:x4.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(1, 10_000), default=7, show_default=True,
              metavar="N", help="Of each size; the median is compared.")  # fmt: skip
@_made
@shared_options
def bench(
    *,
    system: str | None,
    sizes: str,
    as_json: bool,
    lang: Language,
    out: str,
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Measure an all-reduce between the hosts, beside the closed form and the simulator.

    \b
    Examples:
      artery lab bench
      artery lab bench --order interleaved --sizes 16M
      artery lab bench lab-switch --mode user
      artery lab bench lab-leaf-spine --mode paced

    Without SYSTEM the lab that is up is measured; with it one is made for this and taken down. The
    ranks are PyTorch's, over gloo. Every wire's bytes are counted: where hashes sent several flows
    over one, the simulator plays the same.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.expect import parse_sizes
    from artery.answers.lab.bench import lab_bench
    from artery.report.drawing.terminal import deliver
    from artery.report.lab import bench_drawing, bench_payload
    from artery.report.writing.files import check_writable, write_or_print, write_whole
    from artery.report.writing.json import document

    check_writable(out)
    _check_unmade(system, options)
    answer = lab_bench(system, sizes=parse_sizes(sizes), heard=_progress(), **options)
    if as_json:
        text = document("lab", bench_payload(answer))
        write_or_print(lambda place: write_whole(place, text), out)
    else:
        write_or_print(lambda place: deliver(bench_drawing(answer, lang), place), out)


@command.command("fail")
@click.argument("link", metavar="LINK")
@_NAME
@click.option("--to", default="0", show_default=True, metavar="SHARE",
              help="What is left of its rate: 25%, 0 is down.")  # fmt: skip
@shared_options
def fail(*, link: str, name: str, to: str, as_json: bool, lang: Language, out: str) -> None:
    """Take a wire down, or slow it; what can go another way does.

    \b
    Examples:
      artery lab fail "leaf001[3] - spine001[1]"
      artery lab fail "leaf 0 -> spine 1" --to 25%
      artery lab fail node0002-leaf001

    LINK names the two devices, as artery lab up --json or artery simulate do.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_fail

    _deliver("fail", lab_fail(link, name=name, to=to), as_json=as_json, lang=lang, out=out)


@command.command("repair")
@click.argument("link", metavar="[LINK]", required=False)
@_NAME
@shared_options
def repair(*, link: str | None, name: str, as_json: bool, lang: Language, out: str) -> None:
    """Make a wire whole again, or all of them.

    \b
    Examples:
      artery lab repair
      artery lab repair "leaf 0 -> spine 1"
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_repair

    _deliver("repair", lab_repair(link, name=name), as_json=as_json, lang=lang, out=out)


@command.command("down")
@_NAME
@shared_options
def down(*, name: str, as_json: bool, lang: Language, out: str) -> None:
    """Take a lab down with all that runs in it; nothing is left behind.

    \b
    Examples:
      artery lab down
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab import lab_down
    from artery.report.drawing.terminal import deliver
    from artery.report.lab import down_drawing, down_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    was_up = lab_down(name)
    if as_json:
        write_whole(out, document("lab", down_payload(name, was_up=was_up)))
    else:
        deliver(down_drawing(name, lang, was_up=was_up), out)


@command.command("ib")
@click.argument("system", metavar="SYSTEM")
@click.option("--engine", default="ftree", show_default=True, metavar="NAME",
              help="OpenSM's routing engine: ftree, minhop, updn, dfsssp, ...")  # fmt: skip
@click.option("--save", metavar="FOLDER", help="Keep what the tools wrote: ibnetdiscover, tables.")
@set_option
@shared_options
def ib(
    *,
    system: str,
    engine: str,
    save: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
    lang: Language,
    out: str,
) -> None:
    """Bring a system's fabric up under ibsim and OpenSM; hold its routes against artery's.

    \b
    Examples:
      artery lab ib lab-fat-tree
      artery lab ib dgx-h100:512 --json
      artery lab ib lab-fat-tree --engine minhop --save fabric

    It needs Debian's ibsim-utils, opensm and infiniband-diags, no hardware. Exit code 5 if a path
    of OpenSM's is none of artery's.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.lab.ib import lab_ib
    from artery.errors import ThresholdError
    from artery.report.drawing.terminal import deliver
    from artery.report.lab import ib_drawing, ib_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    if save is not None:
        _check_folder(save)
    answer = lab_ib(system, engine=engine, overrides=overrides)
    if save is not None:
        for file, text in answer.files.items():
            write_whole(_inside(save, file), text)
    if as_json:
        write_whole(out, document("lab", ib_payload(answer)))
    else:
        deliver(ib_drawing(answer, lang), out)
    if answer.legal < answer.paths:
        astray = answer.paths - answer.legal
        raise ThresholdError(f"{astray:,} paths of OpenSM's are none of artery's")


def _deliver(what: str, answer: Any, *, as_json: bool, lang: Language, out: str) -> None:  # noqa: ANN401
    """Write a lab that is up, as JSON or for people."""
    from artery.report.drawing.terminal import deliver
    from artery.report.lab import lab_drawing, lab_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    if as_json:
        write_whole(out, document("lab", lab_payload(what, answer)))
    else:
        deliver(lab_drawing(answer, lang), out)


def _heard() -> Callable[[str, str], None]:
    """Return what passes on the lines of hosts, each with its host in front."""

    def hear(host: str, line: str) -> None:
        click.echo(f"{host} | {line}")

    return hear


def _progress() -> Callable[[str, str], None] | None:
    """Return what shows on a terminal which size is done; none without one."""
    if not sys.stderr.isatty():
        return None

    def hear(_: str, line: str) -> None:
        if " bytes: " in line:
            click.echo(line, err=True)

    return hear


def _check_unmade(system: str | None, options: dict[str, Any]) -> None:
    """Refuse what makes a lab where one that is up is to be measured."""
    from artery.errors import UsageError

    asked = [name for name in ("rate", "rate_scale", "engine", "delay", "queue", "loss")
             if options[name] is not None]  # fmt: skip
    asked += [name for name, usual in (("mode", "auto"), ("seed", 0)) if options[name] != usual]
    asked += ["set"] if options["overrides"] else []
    if system is None and asked == ["mode"] and options["mode"] == "paced":
        return
    if system is None and asked:
        flag = asked[0].replace("_", "-")
        raise UsageError(f"--{flag} makes a lab: name a SYSTEM, or leave it out for one that is up")


def _check_folder(folder: str) -> None:
    """Refuse a folder that could not be made, or not be written into, before any work is done."""
    from pathlib import Path

    from artery.errors import UsageError
    from artery.report.writing.files import check_folder

    if not folder:
        raise UsageError("--save names no folder; . is the one you are in")
    place = Path(folder).absolute()
    there = next(one for one in (place, *place.parents) if os.path.lexists(one))
    check_folder(str(there))


def _inside(folder: str, file: str) -> str:
    """Return a file in a folder that is made if it is not there."""
    from pathlib import Path

    from artery.report.writing.files import unwritten

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritten(folder, error, "name a folder that can be made") from None
    return str(Path(folder) / file)
