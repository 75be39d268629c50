"""``artery schedule``: a fleet of jobs on a cluster, policy by policy."""

from __future__ import annotations

import os
import sys
from typing import Any, Final

import click

from artery.cli.all_flags import AllFlags, refused, told_on_the_line
from artery.cli.options import quantity, set_option, shared_options, system_option
from artery.cli.outputs import writable
from artery.errors import InfeasibleError, InputError, UsageError
from artery.report.words import Language

_TIME: Final = quantity("s")
_PER: Final = click.FloatRange(min=0)


def _names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Read ``fifo,backfill``; which policies there are is for the answer to say."""
    return None if value is None else tuple(name.strip() for name in value.split(","))


def _window(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Read ``0d:10d``."""
    if value is None:
        return None
    begin, colon, end = value.partition(":")
    if not colon:
        message = f'"{value}" must be FROM:TO, for example 0d:10d'
        raise click.BadParameter(message, context, parameter)
    read = quantity("s")
    return read.convert(begin, parameter, context), read.convert(end, parameter, context)


_FLAGS: Final = (
    click.option("--policies", "--policy", "policies", metavar="NAMES", callback=_names,
                 help="Of fifo, backfill, backfill-limits, elastic, elastic-backfill, priority; "
                      "several with commas (default fifo,backfill,elastic-backfill)."),
    click.option("--size-for", metavar="MEASURE=TARGET",
                 help="Chips needed: p90-queue=1h, or as good as a policy, p90-queue=fifo; those "
                      "of --serve among them."),
    click.option("--model", metavar="MODEL", help="What jobs train that do not say it."),
    click.option("--tp", type=click.IntRange(1), help="Tensor-parallel degree of that model."),
    click.option("--pp", type=click.IntRange(1), help="Its pipeline stages."),
    click.option("--cp", type=click.IntRange(1), help="Its context-parallel degree."),
    click.option("--jobs", type=click.IntRange(1), metavar="N", help="Only the first N jobs."),
    click.option("--window", metavar="FROM:TO", callback=_window,
                 help="Only jobs submitted between two times from the first, 0d:10d."),
    click.option("--elastic", type=click.FloatRange(0, 1), metavar="SHARE",
                 help="Share of the jobs of several chips that can be resized (default 1)."),
    click.option("--network", type=click.Choice(["closed", "simulate"]),
                 help="How a step is priced: in closed form, or played on the network."),
    click.option("--placing", type=click.Choice(["topology", "blind"]),
                 help="Keep jobs within few leaves, or take the first free nodes."),
    click.option("--max-wait", type=_TIME, metavar="TIME",
                 help="Wait so long for a placement at full speed (default 0)."),
    click.option("--defragment", is_flag=True, default=None,
                 help="Move running jobs together when that pays."),
    click.option("--rate", metavar="NAME",
                 help="Failures at a published rate: rsc-1, rsc-1-jobs, rsc-2 or llama-3."),
    click.option("--node-failures-per-1000-days", type=_PER, metavar="X",
                 help="Failures that stop a job, per 1,000 node-days."),
    click.option("--spares", type=click.IntRange(0), metavar="N",
                 help="Nodes kept for failures (default 0)."),
    click.option("--repair-time", type=_TIME, metavar="TIME",
                 help="Until a lost node is back (default 1 d)."),
    click.option("--notice-time", type=_TIME, metavar="TIME",
                 help="Until a silent error is noticed (default 1 h)."),
    click.option("--restart-time", type=_TIME, metavar="TIME",
                 help="From failure to work again, in all (default: computed)."),
    click.option("--resize-time", type=_TIME, metavar="TIME",
                 help="Pause of a planned resize (default: computed)."),
    click.option("--save-time", type=_TIME, metavar="TIME", help="Time that a save blocks."),
    click.option("--interval", type=_TIME, metavar="TIME",
                 help="Work between checkpoints (default: best)."),
    click.option("--store-bandwidth", type=quantity("B/s", positive=True), metavar="RATE",
                 help="The shared store's, in all."),
    click.option("--maintenance", multiple=True, metavar="START:DURATION:NODES",
                 help="Planned work, 2d:4h:0-31. Repeatable."),
    click.option("--spot", metavar="FILE", help="Nodes that a provider grants over time."),
    click.option("--serve", metavar="chips=N,peak=N",
                 help="Replicas that serve beside the training, up and down once a day."),
    click.option("--seed", type=click.IntRange(0, 2**31 - 1), metavar="N",
                 help="Draws made-up jobs and failures (default 0)."),
)  # fmt: skip


_NAMED: Final = frozenset({
    "policy", "policies", "failure rate", "rate", "placing", "network", "size-for", "tp", "pp",
    "cp", "chips", "jobs", "window", "elastic", "max_wait", "node_failures_per_1000_days",
    "spares", "repair_time", "notice_time", "restart_time", "resize_time", "save_time", "interval",
    "store_bandwidth", "maintenance", "serve", "seed", "mix of jobs", "days", "load", "large",
    "burst", "synthetic", "size_for", "defragment", "spot",
})  # fmt: skip
"""What problems of the command line are called: its flags, and the parts of a made-up mix."""


def _flags(command: Any) -> Any:  # noqa: ANN401 - a click decorator
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


@click.command("schedule", cls=AllFlags)
@click.argument("trace", metavar="TRACE")
@system_option
@_flags
@click.option("--timeline", "timeline_file", metavar="FILE", callback=writable,
              help="What every job did: .csv, .json, or .trace.json for Perfetto.")  # fmt: skip
@set_option
@shared_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    trace: str,
    on: str,
    timeline_file: str | None,
    as_json: bool,
    lang: Language,
    out: str,
    overrides: tuple[str, ...],
    **flags: Any,  # noqa: ANN401 - click's
) -> None:
    """Play a fleet of jobs on a cluster, under one policy after the other.

    \b
    Examples:
      artery schedule synthetic:llm,jobs=2000,days=2 --on dgx-h100:4096
      artery schedule philly.csv --on dgx-1v:640 --size-for p90-queue=fifo
      artery schedule jobs.csv --on dgx-h100:1024 --rate rsc-1 --spares 2
      artery schedule synthetic:llm --on dgx-h100:10016 --serve chips=10,peak=40
      artery schedule spot.csv --on ethernet-10g:64 --model resnet50

    TRACE is a file of jobs (Philly, openb, Helios, Acme, sacct, or submit,run,chips as
    CSV, or a list of them in JSON or YAML), a trace of spot instances, or synthetic:MIX
    (llm, philly, helios) with jobs=, days=, load=, large= and burst=. How fast a job runs
    follows from its model, its plan and the placement that it gets. Progress of long runs
    goes to stderr. Exit code 4 says that the model fits no number of spot instances; the
    answer is printed all the same.
    """  # noqa: D301 (click's \\b keeps the lines of the examples)
    _check_ending(timeline_file)
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    from artery.answers.schedule import schedule

    watch = _Watch()
    try:
        answer = schedule(
            trace,
            on,
            overrides=overrides,
            recorded=timeline_file is not None,
            progress=watch.told,
            **given,
        )
    except KeyboardInterrupt:
        watch.stopped()
        raise
    except InputError as error:
        watch.over()
        if not told_on_the_line(error, _NAMED):
            raise
        refused(error, context, lang)
    watch.over()
    from artery.report.writing.files import write_whole

    if timeline_file is not None:
        if answer.spot is not None:
            raise UsageError("--timeline is for traces of jobs; leave it out for spot instances")
        from artery.report.schedule.files import timeline

        write_whole(timeline_file, timeline(answer, timeline_file))
    if as_json:
        from artery.report.schedule.payload import schedule_payload
        from artery.report.writing.json import document

        request = {"trace": trace, "on": on, **given}
        write_whole(out, document("schedule", schedule_payload(answer, request)))
    else:
        from artery.report.drawing.terminal import deliver
        from artery.report.schedule import LEAST_WIDTH, schedule_drawing

        asked = f"{trace} --on {on}"
        deliver(schedule_drawing(answer, lang, asked), out, least=LEAST_WIDTH)
    if answer.spot is not None and not answer.spot.fits:
        raise click.exceptions.Exit(InfeasibleError.exit_code)


def _check_ending(name: str | None) -> None:
    """Refuse a timeline of a kind that there is not."""
    if name in {None, "-", os.devnull} or str(name).lower().endswith((".csv", ".json")):
        return
    raise UsageError(f"--timeline {name!r} must end in .csv, .json, or .trace.json for Perfetto")


class _Watch:
    """Says on stderr how far a long run is: a line that is written over, on a terminal alone."""

    def __init__(self) -> None:
        self._last = ""
        self._shown = False

    def told(self, what: str, done: int, jobs: int, seconds: float) -> None:
        """Hear of progress."""
        self._last = f"{what}: {done:,} of {jobs:,} jobs done, day {seconds / 86400:.1f}"
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{self._last}", err=True, nl=False)
            self._shown = True

    def stopped(self) -> None:
        """Say what was done when somebody had enough."""
        self.over()
        click.echo(f"stopped at {self._last}" if self._last else "stopped before the first job",
                   err=True)  # fmt: skip

    def over(self) -> None:
        """Take the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._shown = False
