"""``artery fabric``: a network for so many chips, and the faults of a cabling."""

from __future__ import annotations

from typing import Any

import click

from artery.cli.flags import Whole
from artery.cli.options import COUNT, language_option, shared_options
from artery.cli.pages import PageGroup
from artery.report.words import Language


@click.group("fabric", cls=PageGroup)
@language_option
def command() -> None:
    """Design a network, check a cabling, compare two, or write one for another tool.

    \b
    Examples:
      artery fabric design --chips 16384 --radix 64 --port 800G --oversub 1:1
      artery fabric check ibnetdiscover.txt
      artery fabric diff plan.csv ibnetdiscover.txt
      artery fabric export dgx-h100:256 --to slurm -o topology.conf
    """  # noqa: D301 (click's \\b keeps the lines of the examples)


@command.command("design")
@click.option("--chips", type=COUNT, required=True, metavar="N", help="Chips to join.")
@click.option("--radix", type=int, metavar="N", help="Ports of a switch (default 64).")
@click.option("--port", metavar="RATE", help="Rate of a port: 400G, 800G (default).")
@click.option("--rails", type=int, default=8, show_default=True, help="Cards, chips per node.")
@click.option(
    "--oversub",
    default="1:1",
    show_default=True,
    metavar="DOWN:UP",
    help="At the leaves; with a comma also at the tier above, as in 1:1,7:1.",
)
@click.option("--planes", type=int, default=2, show_default=True, help="Of the dual-plane design.")
@click.option("--switch", metavar="NAME", help="Switch of the catalog; sets radix and port.")
@click.option("--nic", metavar="NAME", help="Card of the catalog.")
@click.option("--optic", metavar="NAME", help="Optic of the catalog, for the switches' ends.")
@click.option(
    "--nodes-per-rack",
    type=Whole(64),
    default=4,
    show_default=True,
    help="Sets the lengths of cables.",
)
@click.option("--cables", metavar="NAME", help="Write the cable plan of that candidate (CSV).")
@shared_options
def design(
    *,
    chips: int,
    as_json: bool,
    lang: Language,
    out: str,
    cables: str | None,
    **asked: Any,  # noqa: ANN401 - click's
) -> None:
    """Say which networks join N chips: switches, links, cables, power, price, failures.

    \b
    Examples:
      artery fabric design --chips 16384 --radix 64 --port 800G --oversub 1:1
      artery fabric design --chips 2048 --switch qm9700 --nic cx7
      artery fabric design --chips 24576 --switch th5 --oversub 1:1,7:1
      artery fabric design --chips 65536 --radix 64 --port 400G --json
      artery fabric design --chips 1024 --port 400G --cables rail-2 -o cables.csv

    \b
    Designs, each with as few tiers as hold the chips:
      rail        card r of each node on leaf r of its group, spines above
      tor         all cards of a node on one leaf, at the top of its rack
      rail-only   a network per rail; other rails through the node's links
      dual-plane  rail, every port split over two separate networks

    Counts follow from the ports. Cable lengths, prices and power are rough: what is assumed or
    unknown is said. Exit code 4 if three tiers are too few.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.fabric import cable_plan, fabric_design
    from artery.errors import InfeasibleError
    from artery.report.drawing.terminal import deliver
    from artery.report.fabric import TABLE_WIDTH, design_drawing
    from artery.report.fabric.payload import design_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = fabric_design(chips, **asked)
    request = {"chips": chips, **asked}
    if cables is not None and answer.candidates:
        write_whole(out, cable_plan(answer, cables))
    elif as_json:
        write_whole(out, document("fabric", design_payload(answer, request)))
    else:
        typed = " ".join(
            f"--{name.replace('_', '-')} {value}"
            for name, value in request.items()
            if value is not None and name in ("chips", "port", "rails", "switch", "nic", "optic")
        )
        deliver(design_drawing(answer, lang, typed), out, least=TABLE_WIDTH)
    if not answer.candidates:
        reach = max((one.reach for one in answer.rejected), default=0)
        raise InfeasibleError(
            f"{chips:,} chips are more than three tiers of these switches join "
            f"(at most {reach:,}); take switches with more ports"
        )


@command.command("check")
@click.argument("file", metavar="FILE")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help="Exit with 5 if anything as bad as this is found.",
)
@shared_options
def check(*, file: str, fail_on: str | None, as_json: bool, lang: Language, out: str) -> None:
    """Find the faults of a cabling: missing links, miswired rails, single points of failure.

    \b
    Examples:
      artery fabric check ibnetdiscover.txt
      artery fabric check cables.csv --fail-on error
      ibnetdiscover | artery fabric check -

    FILE is the output of ibnetdiscover, Slurm's topology.conf or topology.yaml, or a cable plan:
    CSV with the columns a_device, a_port, b_device, b_port and, if known, a_kind, b_kind (switch
    or host), a_card, b_card, rate (400 Gb/s), length (30 m) and part (dac400).
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.fabric.check import check_findings, fabric_check
    from artery.report.drawing.terminal import deliver
    from artery.report.fabric.check import check_drawing, check_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = fabric_check(file)
    if as_json:
        write_whole(out, document("fabric", check_payload(answer)))
    else:
        deliver(check_drawing(answer, lang), out)
    if fail_on is not None:
        check_findings(answer, fail_on)


@command.command("diff")
@click.argument("file", metavar="FILE")
@click.argument("other", metavar="OTHER")
@shared_options
def diff(*, file: str, other: str, as_json: bool, lang: Language, out: str) -> None:
    """Compare two cablings, for example a plan with what is there: gone, new and moved cables.

    \b
    Examples:
      artery fabric diff cables.csv ibnetdiscover.txt
      artery fabric diff monday.txt tuesday.txt --json

    The files are those of artery fabric check; devices are matched by name.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.fabric.check import fabric_diff
    from artery.report.drawing.terminal import deliver
    from artery.report.fabric.check import diff_drawing, diff_payload
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = fabric_diff(file, other)
    if as_json:
        write_whole(out, document("fabric", diff_payload(answer)))
    else:
        deliver(diff_drawing(answer, lang), out)


@command.command("export")
@click.argument("system", metavar="SYSTEM")
@click.option(
    "--to",
    type=click.Choice(["slurm", "dot", "htsim", "csv"]),
    required=True,
    help="topology.conf, Graphviz, a topology of csg-htsim, or a cable plan.",
)
@shared_options
def export(*, system: str, to: str, as_json: bool, lang: Language, out: str) -> None:
    """Write the network of a system for another tool; with -o the file is written whole.

    \b
    Examples:
      artery fabric export dgx-h100:256 --to slurm -o topology.conf
      artery fabric export dgx-h100:512 --to csv -o cables.csv
      artery fabric export rail-clos-h100:8192 --to htsim -o clos.topo
      artery fabric export dgx-a100:64 --to dot

    SYSTEM is a name of the catalog with :CHIPS, or a file, as for artery plan.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.fabric.export import fabric_export
    from artery.report.said import warned
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = fabric_export(system, to)  # the files have no words
    for warning in warned(answer.warnings, lang):
        click.echo(warning, err=True)
    if as_json:
        keys = ("system", "to", "text", "warnings")
        values = {key: getattr(answer, key) for key in keys}
        write_whole(out, document("fabric", {"answer": "export", **values}))
    else:
        write_whole(out, answer.text)
