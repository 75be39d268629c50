"""``artery demo``: a bundled broken cluster found, proved and repaired, in a minute."""

from __future__ import annotations

import click

from artery.cli.options import shared_options
from artery.report.words import Language


@click.command("demo")
@click.option("--files", "folder", metavar="FOLDER", help="Write the three files there as well.")
@click.option(
    "--train/--no-train", default=True, show_default=True,
    help="End with some seconds of real training, where torch is there.",
)  # fmt: skip
@shared_options
def command(*, folder: str | None, train: bool, as_json: bool, lang: Language, out: str) -> None:
    """Find, prove and repair a broken cluster, from three files that come with artery.

    \b
    Examples:
      artery demo
      artery demo --files . && artery diagnose nccl-tests.txt ibnetdiscover.txt
      artery demo --lang zh

    The files are an nccl-tests log, a topology and a fabric of 128 GPUs. They were written from
    physics by hand, not by the simulator that proves the cause. No GPU, no network, no torch.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers.demo import demo, with_training, write_files
    from artery.report.demo import demo_drawing, demo_payload, trained_drawing
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import check_folder, write_whole
    from artery.report.writing.json import document

    def note(text: str) -> None:
        click.echo(text, err=True)

    if folder is not None:
        check_folder(folder)
    at_once = out == "-" and not as_json
    answer = demo(train=train and not at_once, note=note)
    if folder is not None:
        write_files(answer, folder, write_whole)
    if as_json:
        write_whole(out, document("demo", demo_payload(answer)))
        return
    deliver(demo_drawing(answer, lang), out)
    if train and at_once:
        trained = with_training(answer, note).trained
        if trained is not None:
            deliver(trained_drawing(trained, lang), "-")
