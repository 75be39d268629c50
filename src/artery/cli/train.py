"""``artery train``: a real data-parallel run that survives failures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from artery.cli.options import SIZE, quantity, shared_options
from artery.errors import UsageError
from artery.report.words import Language

_Command = TypeVar("_Command", bound=Callable[..., Any])

PREEMPTED: Final = 75
"""The exit code of a run that was told to go, saved, and can go on: EX_TEMPFAIL of sysexits.h."""

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as of every command; the run was saved all the same."""

_COUNT: Final = click.IntRange(min=1)
_TIME: Final = quantity("s", positive=True)


def _sync(_: click.Context, __: click.Parameter, value: str) -> str | int:
    if value.isdigit() and int(value) > 0:
        return int(value)
    if value not in ("every", "none"):
        raise click.BadParameter(f'"{value}" must be every, none or a number of steps')
    return value


def _names(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """Read ``TERM,USR1``."""
    names = (name.strip().upper() for name in value.split(",") if name.strip())
    return tuple(name if name.startswith("SIG") else f"SIG{name}" for name in names)


_WHAT: Final = (
    click.option("--ranks", type=_COUNT, default=2, help="Processes that train (default 2)."),
    click.option("--steps", type=_COUNT, default=100, help="Steps in all (default 100)."),
    click.option(
        "--data",
        metavar="synthetic|digits|FOLDER",
        default="synthetic",
        help="What is learned: made-up samples, scikit-learn's digits, a folder of images.",
    ),
    click.option("--size", type=_COUNT, help="Pixels per side, or tokens per sample."),
    click.option(
        "--global-batch", type=_COUNT, default=32, help="Samples per step, however many ranks."
    ),
    click.option("--accumulate", type=_COUNT, default=1, help="Passes per rank and step."),
    click.option(
        "--optimizer",
        type=click.Choice(["sgd", "adamw"]),
        default="sgd",
        help="How weights are updated.",
        show_default=True,
    ),
    click.option(
        "--lr",
        type=click.FloatRange(min=0, min_open=True),
        default=0.1,
        help="Learning rate.",
        show_default=True,
    ),
    click.option(
        "--momentum",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.9,
        help="Momentum of sgd.",
        show_default=True,
    ),
    click.option(
        "--weight-decay",
        type=click.FloatRange(min=0),
        default=0.0,
        help="Weight decay.",
        show_default=True,
    ),
    click.option(
        "--schedule",
        type=click.Choice(["constant", "cosine"]),
        default="constant",
        help="Course of the learning rate.",
        show_default=True,
    ),
    click.option("--warmup", type=click.IntRange(min=0), default=0, help="Steps of warm-up."),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        help="Draws weights and the order of samples.",
        show_default=True,
    ),
)

_EXCHANGE: Final = (
    click.option(
        "--sync",
        metavar="every|N|none",
        callback=_sync,
        default="every",
        help="When ranks agree: in every step, every N steps (local SGD), never.",
    ),
    click.option(
        "--compress",
        type=click.Choice(["none", "fp16", "bf16", "powersgd"]),
        default="none",
        help="How gradients travel.",
    ),
    click.option(
        "--powersgd-rank",
        type=_COUNT,
        default=4,
        help="Rank of powersgd's matrices.",
        show_default=True,
    ),
    click.option("--bucket", "bucket_bytes", type=SIZE, default="25M", help="Bytes per bucket."),
    click.option(
        "--consistent",
        type=_COUNT,
        metavar="L",
        help="L logical workers: the same weights bit for bit on 1 to L ranks.",
    ),
)

_SAVING: Final = (
    click.option(
        "--dir",
        "directory",
        metavar="FOLDER",
        help="Checkpoints and logs; a run goes on from what is there (default: temporary).",
    ),
    click.option("--save-every", type=_COUNT, default=50, help="Steps between checkpoints."),
    click.option("--keep", type=click.IntRange(min=2), default=3, help="Checkpoints kept."),
    click.option(
        "--blocking-save/--async-save",
        default=False,
        help="Training waits until a checkpoint is on disk (default: only for the copy).",
    ),
    click.option(
        "--copies",
        type=click.Choice(["none", "memory"]),
        default="none",
        help="memory: every step is copied to the memory of each host.",
    ),
    click.option("--log", metavar="FILE", help="Copy the log of phases to FILE."),
)

_SURVIVING: Final = (
    click.option("--min-ranks", type=_COUNT, help="Go on with no fewer (default: --ranks)."),
    click.option("--max-ranks", type=_COUNT, help="Take in no more (default: --ranks)."),
    click.option("--agents", type=_COUNT, default=1, help="Simulated hosts (default 1)."),
    click.option(
        "--spares", type=click.IntRange(min=0), default=1, help="Warm spares per host (default 1)."
    ),
    click.option(
        "--warm/--cold",
        default=True,
        help="Processes have torch imported already, or start from nothing.",
    ),
    click.option("--replace-slow", is_flag=True, help="A slow rank makes way for a spare."),
    click.option("--hang-after", type=_TIME, default=30.0, help="Without progress (default 30 s)."),
    click.option("--lost-after", type=_TIME, default=10.0, help="A host is silent (default 10 s)."),
    click.option("--timeout", type=_TIME, default=60.0, help="Of any collective (default 60 s)."),
    click.option(
        "--start-limit",
        type=_TIME,
        default=300.0,
        help="To gather ranks; an agent has 40 % of it to join (default 300 s).",
    ),
    click.option(
        "--signals",
        metavar="NAMES",
        callback=_names,
        default="TERM,USR1,INT",
        help="Signals that tell the run to save and go.",
    ),
    click.option(
        "--preempted-code",
        type=click.IntRange(1, 255),
        default=PREEMPTED,
        help="Exit code after such a signal (default 75).",
    ),
    click.option(
        "--listen", metavar="HOST:PORT", help="Other hosts may join here; says how on stderr."
    ),
    click.option("--join", metavar="HOST:PORT", help="Join a run with --ranks more places."),
    click.option(
        "--fault",
        "faults",
        multiple=True,
        metavar="SPEC",
        help="A drill, for example kill:rank=1,step=20 (docs/recovery.md).",
    ),
    click.option(
        "--predict/--no-predict",
        default=False,
        help="Calibrate this machine, predict the step, measure it.",
    ),
)


def _options(command: _Command) -> _Command:
    for option in reversed((*_WHAT, *_EXCHANGE, *_SAVING, *_SURVIVING)):
        command = option(command)
    return command


@click.command("train")
@click.argument("model", metavar="MODEL", required=False)
@_options
@shared_options
def command(
    *,
    model: str | None,
    join: str | None,
    preempted_code: int,
    as_json: bool,
    lang: Language,
    out: str,
    **options: Any,  # noqa: ANN401 - click gives each its type
) -> None:
    """Train MODEL for real, data-parallel, and survive whatever happens.

    \b
    Examples:
      artery train resnet18 --data digits --ranks 2 --steps 100
      artery train resnet18 --data digits --fault kill:rank=1,step=30
      artery train transformer --ranks 2 --min-ranks 1 --max-ranks 4 --agents 2
      artery train resnet18 --consistent 4 --dir run --copies memory
      torchrun --nproc-per-node 2 -m artery train resnet18 --dir run

    MODEL is resnet18, resnet50, transformer or module:function. Under torchrun or srun each
    process is one rank. Exit code 75 says that the run was told to go, has saved, and will go on
    when it is started again with the same --dir (130: by Ctrl-C); 4 that it could not go on, or
    that its last state in --dir or its --log could not be written; 3 that the model or the data
    failed twice the same way at the same step.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    from artery.answers import train as answers
    from artery.report.writing.files import check_writable, write_or_print

    check_writable(out)
    if join is not None:
        answers.joined(join, options["ranks"])
        return
    if model is None:
        raise UsageError("MODEL is missing: resnet18, resnet50, transformer or module:function")
    asked = _asked(options)
    said = answers.launched(model, asked, _typed())
    if said is not None:
        _one_rank(said, preempted_code)
        return
    try:
        answer = answers.train(model, note=_note, progress=_Progress(), **asked)
    except answers.RunFailedError as failed:
        told = failed.answer
        if told is not None and (as_json or isinstance(failed, answers.UnkeptError)):
            write_or_print(lambda place: _deliver(told, as_json=as_json, lang=lang, out=place), out)
        raise
    write_or_print(lambda place: _deliver(answer, as_json=as_json, lang=lang, out=place), out)
    if answer.preempted:
        raise click.exceptions.Exit(INTERRUPTED if answer.interrupted else preempted_code)


def _typed() -> dict[str, str]:
    """Return the options that stand on the command line, as they are spelled."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return {
        one.name: one.opts[0]
        for one in context.command.params
        if context.get_parameter_source(one.name) is source
    }


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as the answer takes them."""
    from artery.answers.train.request import endpoint

    asked = {name: value for name, value in options.items() if value is not None}
    asked["copies"] = options["copies"] == "memory"
    asked["bucket_bytes"] = int(options["bucket_bytes"])
    if options["listen"] is not None:
        asked["listen"] = endpoint(options["listen"])
    return asked


def _deliver(answer: Any, *, as_json: bool, lang: Language, out: str) -> None:  # noqa: ANN401
    from artery.report.train import train_drawing, train_payload

    if as_json:
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        write_whole(out, document("train", train_payload(answer)))
    else:
        from artery.report.drawing.terminal import deliver

        deliver(train_drawing(answer, lang), out)


def _one_rank(said: dict[str, Any], preempted_code: int) -> None:
    """Say what one rank of torchrun or srun came to; rank 0 speaks for all."""
    for text in said["warnings"]:
        _note(text)
    if said["kind"] == "left":
        interrupted = said["told"] == "SIGINT"
        raise click.exceptions.Exit(INTERRUPTED if interrupted else preempted_code)
    if said["rank"] == 0:
        click.echo(f"{said['step']} steps on {said['ranks']} ranks, {said['metric']} "
                   f"{said['score']:.4g}, weights {said['digest']}")  # fmt: skip


def _note(text: str) -> None:
    click.echo(f"train  {text}", err=True)


class _Progress:
    """One line on stderr that counts the steps, on a terminal only."""

    def __init__(self) -> None:
        self._shown = -1
        self._live = sys.stderr.isatty()

    def __call__(self, step: int, steps: int) -> None:
        percent = 100 * step // steps
        if self._live and percent != self._shown:
            self._shown = percent
            click.echo(f"\rstep {step:,} of {steps:,} ({percent} %)", err=True, nl=step >= steps)
