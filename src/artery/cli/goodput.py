"""``artery goodput``: what failures leave of a run, and what to fix first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from artery.cli.all_flags import AllFlags, refused, told_on_the_line
from artery.cli.flags import from_option, plan_flags, request
from artery.cli.options import node_option, quantity, set_option, shared_options
from artery.errors import InfeasibleError, InputError, UsageError
from artery.report.words import Language

if TYPE_CHECKING:
    from artery.answers.goodput.log import MeasuredRun
    from artery.answers.goodput.result import GoodputAnswer

_Command = TypeVar("_Command", bound=Callable[..., Any])

_TIME: Final = quantity("s")
_PER: Final = click.FloatRange(min=0)


def _tiers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Read ``memory,shared``; what tiers there are is for the answer to say."""
    return None if value is None else tuple(name.strip() for name in value.split(","))


_TOLD: Final = (
    click.option(
        "--node-failures-per-1000-days",
        type=_PER,
        metavar="X",
        help="Failures that stop a job, per 1,000 node-days (default: RSC-1's 6.5).",
    ),
    click.option(
        "--rate", metavar="NAME", help="A published rate: rsc-1, rsc-1-jobs, rsc-2 or llama-3."
    ),
    click.option(
        "--user-faults-per-day", type=_PER, metavar="X", help="The job's own faults (default 0)."
    ),
    click.option(
        "--slow-nodes-per-1000-days",
        type=_PER,
        metavar="X",
        help="Nodes that turn slow for 72 min, per 1,000 node-days (default 0).",
    ),
    click.option(
        "--link-flaps-per-1000-days",
        type=_PER,
        metavar="X",
        help="Links that are down for seconds, per 1,000 link-days (default 0).",
    ),
    click.option(
        "--lemon-nodes",
        type=click.FloatRange(0, 0.5),
        metavar="SHARE",
        help="Share of nodes that fail again and again, as 0.012 (default 0).",
    ),
    click.option(
        "--young-factor",
        type=click.FloatRange(min=1),
        metavar="X",
        help="New hardware fails so many times as often as settled (default 1).",
    ),
    click.option("--age", type=_TIME, metavar="TIME", help="How long it has run in (default 0)."),
    click.option(
        "--domain-failures-per-1000-days",
        type=_PER,
        metavar="X",
        help="Parts that stop --domain-nodes nodes at once, per 1,000 part-days (default 0).",
    ),
    click.option("--domain-nodes", type=click.IntRange(min=2), metavar="N", help="See above."),
    click.option(
        "--checkpoint",
        metavar="TIERS",
        callback=_tiers,
        help="Where checkpoints go: shared, local,shared or memory,shared (default shared).",
    ),
    click.option(
        "--blocking-save/--async-save",
        default=None,
        help="The job waits until the checkpoint is written (default: only for the copy).",
    ),
    click.option(
        "--async-slowdown",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Share of the steps' time lost while an async save is written (default 0).",
    ),
    click.option(
        "--store-bandwidth",
        type=quantity("B/s", positive=True),
        metavar="RATE",
        help="The shared store's, in all.",
    ),
    click.option("--save-time", type=_TIME, metavar="TIME", help="Time that a save blocks."),
    click.option(
        "--restart-time", type=_TIME, metavar="TIME", help="From failure to work again, in all."
    ),
    click.option(
        "--interval", type=_TIME, metavar="TIME", help="Work between checkpoints (default: best)."
    ),
    click.option("--queue-time", type=_TIME, metavar="TIME", help="Wait before the first start."),
    click.option(
        "--repair-time", type=_TIME, metavar="TIME", help="Until a lost node is back (default 1 d)."
    ),
    click.option(
        "--notice-time",
        type=_TIME,
        metavar="TIME",
        help="Until a silent error is noticed (default 1 h).",
    ),
    click.option(
        "--spare-risk",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Accepted chance of too few spares (default 0.01).",
    ),
)


_NAMES: Final = (
    "node_failures_per_1000_days",
    "rate",
    "user_faults_per_day",
    "slow_nodes_per_1000_days",
    "link_flaps_per_1000_days",
    "lemon_nodes",
    "young_factor",
    "age",
    "domain_failures_per_1000_days",
    "domain_nodes",
    "checkpoint",
    "blocking_save",
    "async_slowdown",
    "store_bandwidth",
    "save_time",
    "restart_time",
    "interval",
    "queue_time",
    "repair_time",
    "notice_time",
    "spare_risk",
)
"""What these options are called; the rest are the plan's."""


def _told(command: _Command) -> _Command:
    """Give the command what can be told of failures."""
    for option in reversed(_TOLD):
        command = option(command)
    return command


def _model_and_logs(
    words: tuple[str, ...], logs: tuple[str, ...], *, planned: bool
) -> tuple[str | None, tuple[str, ...]]:
    """Tell the model from the files after ``--log a b``: there is one only beside a system."""
    if not logs or not words:
        if len(words) > 1:
            raise UsageError(f'one MODEL only, not also "{words[1]}"; logs follow --log')
        return (words[0] if words else None), logs
    if not planned:
        return None, (*logs, *words)
    return words[0], (*logs, *words[1:])


def _measured(
    logs: tuple[str, ...], zone: str | None, predicted: GoodputAnswer | None
) -> MeasuredRun:
    from artery.answers.goodput.log import measured_run

    return measured_run(logs, predicted, time_zone=zone)


_OF_LOGS: Final = frozenset({"words", "logs", "time_zone", "as_json", "lang", "out"})
"""What an account of logs alone reads; other flags are those of the prediction."""


def _refuse_unread(context: click.Context) -> None:
    """Raise ``UsageError`` for flags of the prediction beside logs without a model."""
    typed = [
        parameter.opts[-1]
        for parameter in context.command.params
        if parameter.name not in _OF_LOGS
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    if typed:
        raise UsageError(
            f"{', '.join(typed)} would change nothing: logs alone are accounted for as they are; "
            "name a MODEL and --on SYSTEM for a prediction beside them, or leave it out"
        )


def _account(
    logs: tuple[str, ...], zone: str | None, *, as_json: bool, lang: Language, out: str
) -> None:
    """Print the account of a run that no model was named for."""
    run = _measured(logs, zone, None)
    from artery.report.goodput.log import measured_document, measured_drawing

    if as_json:
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        asked = {"log": list(logs), **({"time_zone": zone} if zone else {})}
        write_whole(out, document("goodput", measured_document(run, asked)))
    else:
        from artery.report.drawing.terminal import deliver

        deliver(measured_drawing(run, lang), out)


@click.command("goodput", cls=AllFlags)
@click.argument("words", metavar="[MODEL]", nargs=-1)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="FILE...",
    help="Logs of a real run: where its time went, beside the prediction if MODEL is given.",
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="Zone of logs whose times name none: UTC, +08:00, Europe/Berlin.",
)
@from_option
@_told
@plan_flags
@node_option
@set_option
@shared_options
def command(
    *,
    words: tuple[str, ...],
    logs: tuple[str, ...],
    time_zone: str | None,
    on: str | None,
    saved: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    **flags: object,
) -> None:
    """Say what failures leave of a run, the best checkpoint interval, what to fix first.

    \b
    Examples:
      artery goodput llama3-405b --on hgx-h100-roce:16384 --tokens 15T
      artery goodput llama3-70b --on dgx-h100:1024 --save-time 30s --interval 1h
      artery goodput gpt3-175b --on dgx-a100:1024 --node-failures-per-1000-days 4
      artery goodput --log phases.jsonl
      artery goodput llama3-8b --on dgx-h100:64 --log train.log sacct.txt

    The plan is the best one, or the one given, as in artery plan. Failure rates are published
    ones unless you give yours; checkpoints are the plan's own bytes over the system's bandwidths.
    Exit code 4 says that no plan fits; the answer is printed all the same.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    told = {name: flags.pop(name) for name in _NAMES}
    model, logs = _model_and_logs(words, logs, planned=on is not None or saved is not None)
    if time_zone is not None and not logs:
        raise UsageError("--time-zone is that of logs; add --log FILE")
    if logs and model is None and saved is None:
        _refuse_unread(click.get_current_context())
        try:
            _account(logs, time_zone, as_json=as_json, lang=lang, out=out)
        except InputError as error:
            if not told_on_the_line(error, {"time_zone"}):
                raise
            refused(error, click.get_current_context(), lang)
        return
    asked = request(model, on, saved, flags)
    given = {name: value for name, value in told.items() if value is not None}
    from artery.answers.goodput import goodput

    try:
        answer = goodput(asked.model, asked.on, **asked.options, **given)
        run = _measured(logs, time_zone, answer) if logs else None
    except InputError as error:
        if not told_on_the_line(error, {*_NAMES, "time_zone"}):
            raise
        refused(error, click.get_current_context(), lang)
    if as_json:
        from artery.report.goodput.payload import goodput_payload
        from artery.report.writing.files import write_whole
        from artery.report.writing.json import document

        zone = {"time_zone": time_zone} if time_zone else {}
        request_ = {**asked.document(), **given, **({"log": list(logs)} if logs else {}), **zone}
        write_whole(out, document("goodput", goodput_payload(answer, request_, run)))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.goodput import goodput_drawing

        deliver(goodput_drawing(answer, lang, asked.typed(), run), out)
    if answer.plan.fitting == 0:
        raise click.exceptions.Exit(InfeasibleError.exit_code)
