"""``artery doctor``: what this machine can do."""

from __future__ import annotations

import click

from artery.answers.doctor import doctor
from artery.cli.options import shared_options
from artery.report.words import Language


@click.command("doctor")
@shared_options
def command(as_json: bool, lang: Language, out: str) -> None:
    """Say what this machine can do: Python, cores, memory, compiler, packages, GPUs, tools.

    It looks and changes nothing. What is missing is needed only for what stands beside it.

    \b
    Examples:
      artery doctor
      artery doctor --json
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.report.doctor import doctor_drawing, doctor_payload
    from artery.report.drawing.terminal import deliver
    from artery.report.writing.files import write_whole
    from artery.report.writing.json import document

    answer = doctor()
    if as_json:
        write_whole(out, document("doctor", doctor_payload(answer)))
    else:
        deliver(doctor_drawing(answer, lang), out)
