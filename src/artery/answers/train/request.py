"""What ``train`` can be asked, checked before anything is started."""

from __future__ import annotations

import math
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from artery.answers.train.shares import Wrong, of_shares
from artery.errors import InputError, Problem, Problems, UsageError
from artery.places import is_folder
from artery.runner.faults import Fault, read_faults
from artery.runner.settings import Settings

_MOST_RANKS: Final = 1024

_LARGEST_SEED: Final = 2**63 - 1
"""What torch takes as a seed."""

_AT_LEAST: Final = {
    "steps": 1, "global_batch": 1, "accumulate": 1, "save_every": 1, "keep": 2, "consistent": 0,
    "warmup": 0, "powersgd_rank": 1, "bucket_bytes": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A run to be started. Times in seconds; all are assumed, and can be given.

    ``ranks`` processes on ``agents`` simulated hosts; between ``min_ranks`` and ``max_ranks`` it
    shrinks and grows. ``spares``: processes per host with torch imported that wait for a rank;
    without ``warm`` every process starts from nothing. ``hang_after``: without progress;
    ``slow_factor``: over the others' computing; ``lost_after``: a host is silent. ``grace``: to
    leave a broken attempt. ``begin_limit``: to the first step of an attempt; ``start_limit``: to
    gather the fewest ranks (an agent has 40 % of it to import torch and join); ``settle``: before
    newcomers are taken in; ``pause_limit``: to finish a step and save. ``fruitless``: attempts
    that go on from no further than the one before. ``directory``: the run's folder; ``log``: where
    the phases are copied to; ``listen``: where other hosts may join.
    """

    settings: Settings
    ranks: int = 2
    min_ranks: int | None = None
    max_ranks: int | None = None
    agents: int = 1
    spares: int = 1
    warm: bool = True
    replace_slow: bool = False
    hang_after: float = 30.0
    slow_factor: float = 2.0
    lost_after: float = 10.0
    grace: float = 5.0
    begin_limit: float = 120.0
    start_limit: float = 300.0
    settle: float = 2.0
    pause_limit: float = 120.0
    fruitless: int = 10
    directory: str | None = None
    log: str | None = None
    listen: tuple[str, int] | None = None
    signals: tuple[str, ...] = ("SIGTERM", "SIGUSR1", "SIGINT")
    predict: bool = False

    @property
    def least(self) -> int:
        """The fewest ranks that the run goes on with."""
        return self.min_ranks if self.min_ranks is not None else self.ranks

    @property
    def most(self) -> int:
        """The most ranks that the run takes in."""
        return max(self.ranks, self.max_ranks or self.ranks)


def read_request(model: str, options: dict[str, Any]) -> Request:
    """Return the request that ``options`` make; all that is wrong with them at once."""
    of_run = {field.name for field in fields(Request)} - {"settings"}
    of_settings = {field.name for field in fields(Settings)} - {"model"}
    unknown = sorted(options.keys() - of_run - of_settings)
    if unknown:
        raise UsageError(f"train takes no {', '.join(unknown)}")
    settings = Settings(
        model=model, **{name: value for name, value in options.items() if name in of_settings}
    )
    asked = Request(settings=settings, **{name: options[name] for name in of_run & options.keys()})
    _check(asked)
    return asked


def _check(asked: Request) -> None:
    """Raise ``InputError`` with everything that cannot be."""
    with Problems() as problems:
        for field, found, rule, fix in (
            *_of_settings(asked.settings),
            *of_shares(asked.settings, asked.ranks, asked.most),
            *_of_ranks(asked),
            *_of_doors(asked),
        ):
            flag = "--" + field.replace("_", "-")
            problems.add(Problem(field=flag, found=found, rule=rule, fix=fix))
        try:
            faults = read_faults(asked.settings.faults)
        except InputError as error:
            problems.absorb(error)
            return
        for found, rule, fix in _of_faults(asked, faults):
            problems.add(Problem(field="--fault", found=found, rule=rule, fix=fix))


def _of_settings(settings: Settings) -> Iterator[Wrong]:
    for name, least in _AT_LEAST.items():
        value = getattr(settings, name)
        if value < least:
            yield name, str(value), f"must be {least} or more", f"for example {least}"
    for name in ("lr", "momentum", "weight_decay"):
        value = getattr(settings, name)
        if not math.isfinite(value):
            yield name, str(value), "must be a finite number", "for example 0.1"
    if settings.seed > _LARGEST_SEED:
        yield "seed", str(settings.seed), f"must be at most {_LARGEST_SEED}", "for example 0"
    for name in ("optimizer", "schedule"):
        known = get_args(get_type_hints(Settings)[name])
        if getattr(settings, name) not in known:
            yield name, getattr(settings, name), f"one of {', '.join(known)}", known[0]
    yield from _of_consistent(settings)


def _of_consistent(settings: Settings) -> Iterator[Wrong]:
    if settings.consistent:
        if settings.compress != "none" or settings.sync not in ("every", 1):
            rule = "gradients are summed whole, in every step"
            yield "consistent", "with --compress or --sync", rule, "leave one of them out"
        if settings.consistent > settings.global_batch:
            rule = "each logical worker needs a sample"
            yield "consistent", str(settings.consistent), rule, "ask for a larger --global-batch"


def _of_ranks(asked: Request) -> Iterator[Wrong]:
    settings, most = asked.settings, asked.most
    if not 1 <= asked.least <= asked.ranks <= _MOST_RANKS:
        found = f"{asked.ranks} ranks, at least {asked.least}"
        yield "ranks", found, f"1 to {_MOST_RANKS}, no fewer than --min-ranks", "choose others"
    if asked.max_ranks is not None and asked.max_ranks < asked.ranks:
        rule = f"no fewer than --ranks {asked.ranks}"
        yield "max_ranks", str(asked.max_ranks), rule, "ask for more, or for fewer --ranks"
    if not 1 <= asked.agents <= asked.ranks:
        yield "agents", str(asked.agents), "from 1 to the number of ranks", "choose fewer"
    if settings.global_batch < most:
        rule = f"each of {most} ranks needs a sample"
        yield "global_batch", str(settings.global_batch), rule, f"ask for {most}"
    if settings.consistent and settings.consistent < most:
        found = f"{settings.consistent} logical workers"
        yield "consistent", found, f"each of {most} ranks needs one", "ask for more"
    for name in asked.signals:
        if name not in signal.Signals.__members__:
            yield "signals", name, "no signal of this system", "for example SIGTERM,SIGUSR1"
        elif name in ("SIGKILL", "SIGSTOP"):
            yield "signals", name, "no process can catch it", "for example SIGTERM,SIGUSR1"


def _of_doors(asked: Request) -> Iterator[Wrong]:
    """Yield what a run would stumble over when its work is done."""
    if asked.directory is not None and not asked.directory.strip():
        yield "dir", '""', "a run needs a folder", "name one; . is the one you are in"
    if asked.log is not None and not asked.log.strip():
        yield "log", '""', "the copy needs a file", "name one"
    elif asked.log is not None:
        place = Path(asked.log)
        if is_folder(place):
            yield "log", f"{asked.log} is a folder", "a file is written there", "name a file in it"
        elif not is_folder(place.parent):
            rule = "the folder of the copy must be there"
            yield "log", f"there is no folder {place.parent}", rule, "make it, or name another"
        elif why := _unwritable(place):
            yield "log", f"{asked.log}: {why}", "a file is written there", "name another"


def _unwritable(place: Path) -> str:
    """Return why no file can be written to ``place``, empty if one can; it is left as it is."""
    try:
        if place.exists():
            with place.open("ab"):
                return ""
        with tempfile.NamedTemporaryFile(prefix=f".{place.name}.", dir=place.parent):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _of_faults(asked: Request, faults: tuple[Fault, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield drills that could never happen; hosts that join are agents too."""
    more = asked.listen is not None or any(fault.kind == "join" for fault in faults)
    for fault in faults:
        spec = asked.settings.faults[fault.index]
        if fault.step > asked.settings.steps:
            rule = f"the run has {asked.settings.steps} steps"
            yield (
                f"{spec}: step {fault.step}",
                rule,
                "name an earlier step, or ask for more --steps",
            )
        if fault.target == "rank" and fault.which >= asked.most:
            rule = f"ranks are 0 to {asked.most - 1}"
            yield f"{spec}: rank {fault.which}", rule, "name one of them"
        if fault.target == "agent" and fault.which >= asked.agents and not more:
            rule = f"agents are 0 to {asked.agents - 1}"
            yield f"{spec}: agent {fault.which}", rule, "name one of them, or ask for more --agents"


def endpoint(text: str) -> tuple[str, int]:
    """Return the host and port of ``HOST:PORT``; ``UsageError`` if it is none."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f'"{text}" is no HOST:PORT, for example 10.0.0.1:29400')
    return host, int(port)
