"""The flags that say how a job is split and run, shared by ``plan``, ``explain`` and ``scale``.

A flag that is not given is searched, or left to the framework profile. ``Request`` is what a
command line asked: a model, a system, and the options given, as ``artery.plan`` takes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from artery.cli.options import COUNT
from artery.errors import UsageError

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Whole(click.ParamType[int]):
    """A whole number from 1 to ``largest``."""

    name = "n"

    def __init__(self, largest: int) -> None:
        self._largest = largest

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number, or fail with what was found and what would do."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:20]) <= self._largest):
            self.fail(f'"{text}" must be a whole number from 1 to {self._largest:,}', param, ctx)
        return int(text)


_DEGREE: Final = Whole(10_000_000)
_BATCH: Final = Whole(1_000_000_000)
_OVERLAPS: Final = ("dp", "tp", "pp", "cp", "ep")


def _overlap(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Read ``dp,tp`` or ``none``."""
    if value is None or value == "none":
        return None if value is None else ()
    kinds = tuple(kind.strip() for kind in value.split(","))
    unknown = [kind for kind in kinds if kind not in _OVERLAPS]
    if unknown:
        choices = ", ".join(_OVERLAPS)
        message = f'"{unknown[0]}" must be none or some of {choices}, for example dp,tp'
        raise click.BadParameter(message, context, parameter)
    return kinds


def _load(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> float | tuple[float, float, float] | None:
    """Read ``1.2`` or ``1.0:1.2:1.6``."""
    if value is None:
        return None
    try:
        numbers = [float(part) for part in value.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 3 and numbers[0] <= numbers[1] <= numbers[2]:
        return numbers[0], numbers[1], numbers[2]
    message = f'"{value}" must be one number, or three that rise, for example 1.0:1.1:1.5'
    raise click.BadParameter(message, context, parameter)


def _integer(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)


def _later(feature: str, fix: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Return a callback that refuses every choice but the first, which is left unsaid."""

    def refuse(_: click.Context, parameter: click.Parameter, value: str) -> str:
        first = parameter.type.choices[0] if isinstance(parameter.type, click.Choice) else value
        if value not in (None, first):
            raise UsageError(f"--{parameter.name} {value}: {feature} is not available yet; {fix}")
        return value

    return refuse


_FLAGS: Final = (
    click.option("--tp", type=_DEGREE, help="Tensor-parallel degree."),
    click.option("--pp", type=_DEGREE, help="Pipeline stages."),
    click.option("--vpp", type=_DEGREE, help="Model chunks per stage (interleaved schedule)."),
    click.option("--cp", type=_DEGREE, help="Context-parallel degree."),
    click.option("--ep", type=_DEGREE, help="Expert-parallel degree; no factor of the chips."),
    click.option("--etp", type=_DEGREE, help="Expert-tensor-parallel degree."),
    click.option("--dp", type=_DEGREE, help="Data-parallel degree; tp·pp·cp·dp = chips."),
    click.option("--dp-replicate", type=_DEGREE, help="Copies that are only replicated (HSDP)."),
    click.option(
        "--zero",
        type=click.Choice(["0", "1", "2", "3"]),
        callback=_integer,
        help="ZeRO stage; 3 is FSDP.",
    ),
    click.option("--micro-batch", type=_BATCH, help="Samples per pass and pipeline."),
    click.option("--global-batch", type=_BATCH, help="Samples per step."),
    click.option("--seq", type=_BATCH, help="Tokens per sample."),
    click.option("--dtype", metavar="DTYPE", help="What products compute in: bf16, fp16, fp8, ..."),
    click.option("--grad-dtype", metavar="DTYPE", help="What gradients are kept in: fp32, bf16."),
    click.option(
        "--recompute",
        type=click.Choice(["none", "selective", "full"]),
        help="Activations computed again in the backward pass.",
    ),
    click.option(
        "--sequence-parallel/--no-sequence-parallel",
        default=None,
        help="Split norms and dropout over the tensor-parallel chips.",
    ),
    click.option(
        "--attention",
        type=click.Choice(["eager", "flash1", "flash2", "flash3"]),
        help="Attention kernel.",
    ),
    click.option(
        "--overlap",
        metavar="KINDS",
        callback=_overlap,
        help="Communication hidden behind compute: dp,tp,pp,cp,ep or none.",
    ),
    click.option(
        "--load-factor",
        metavar="LOW:LIKELY:HIGH",
        callback=_load,
        help="Busiest expert's load over the mean, or its range (assumed 1.0:1.1:1.5).",
    ),
    click.option("--framework", metavar="NAME", help="Framework profile of the catalog."),
    click.option("--optimizer", metavar="NAME", help="Optimizer: adam, sgd, ..."),
    click.option(
        "--placement",
        metavar="packed|interleaved|random|FILE",
        help="Which rank sits on which chip.",
    ),
    click.option(
        "--network",
        type=click.Choice(["closed", "simulate"]),
        help="How communication is priced: in closed form, or by playing all groups at once.",
    ),
    click.option("--nccl", metavar="VERSION", help="Version of NCCL, for example 2.21."),
    click.option(
        "--offload",
        metavar="auto|none|switch",
        help="Who may add in collectives: as the library does, chips alone, or network switches.",
    ),
    click.option("--tokens", type=COUNT, help="Tokens of the whole run, for example 15T."),
    click.option(
        "--task",
        type=click.Choice(["train", "inference", "hpc"]),
        callback=_later("another task than training", "leave it out to plan training"),
        help="What the job does.",
    ),
)


def degree_options(command: _Command) -> _Command:
    """Give a command ``--tp``, ``--pp``, ``--cp``, ``--ep`` and ``--dp``, ``None`` if not given."""
    for place in (6, 4, 3, 1, 0):
        command = _FLAGS[place](command)
    return command


def plan_flags(command: _Command) -> _Command:
    """Give a command every flag of the plan; each is ``None`` where it was not given."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


def from_option(command: _Command) -> _Command:
    """Give a command ``--on SYSTEM`` and ``--from FILE``, one of which must be there."""
    for option in (
        click.option(
            "--from",
            "saved",
            metavar="FILE",
            help="A former `artery plan --json`, a launch script or a configuration: asked again.",
        ),
        click.option(
            "--on",
            metavar="SYSTEM",
            help="The system: a catalog name with an optional :CHIPS, or a file.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked. ``options`` are keyword arguments of ``artery.plan``.

    If a ``saved`` plan is asked again, ``words`` are what was typed beside it, ``chips`` is how
    many its file asks for, and ``assumed`` what had to be added to it.
    """

    model: str
    on: str
    options: Mapping[str, Any]
    saved: str | None = None
    words: tuple[str, ...] = ()
    chips: int | None = None
    assumed: tuple[str, ...] = ()

    @property
    def plays(self) -> bool:
        """Whether the network is played, which may take long."""
        return self.options.get("network") == "simulate"

    def remarks(self, chips: int) -> tuple[str, ...]:
        """Return what to say of the file that was asked again, on so many ``chips``."""
        if self.chips in (None, chips):
            return self.assumed
        other = (
            f"what --from names asks for {self.chips:,} chips, the plan is for {chips:,}: its "
            "data-parallel degree does not hold"
        )
        return other, *self.assumed

    def document(self) -> dict[str, Any]:
        """Return the request as a JSON document keeps it."""
        return {"model": self.model, "on": self.on, **self.options}

    def typed(self) -> str:
        """Return ``MODEL --on SYSTEM`` and the flags that change the plan, as to be typed."""
        if self.saved is not None:
            return shlex.join(["--from", self.saved, *self.words])
        return shlex.join([self.model, "--on", self.on, *_all_spelled(self.options)])


def request(
    model: str | None, on: str | None, saved: str | None, flags: Mapping[str, object]
) -> Request:
    """Return what was asked: the flags given, on top of those of a saved plan.

    The saved data-parallel degree follows from the others and the chips: it is left out if one of
    them is given anew.

    Raises:
        UsageError: neither a model with a system nor a saved plan is given.
        InputError: the saved plan cannot be read, or no run can be started from it.
    """
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    if flags.get("overlap") == ():
        given["overlap"] = ()
    if saved is None:
        if model is None or on is None:
            missing = "MODEL" if model is None else "--on SYSTEM"
            raise UsageError(f"{missing} is missing; or give a former answer with --from FILE")
        return Request(model, on, given)
    from artery.answers.saved import read_plan

    former = read_plan(saved)
    former.check_possible(saved)
    options = dict(former.options)
    if on is not None or given.keys() & {"tp", "pp", "cp"}:
        options.pop("dp", None)
    asked = {**options, **given}
    which, where = model or former.model, on or former.on
    if which is None:
        raise former.without_model(saved, "MODEL")
    if where is None:
        raise UsageError(f"{saved} does not say on which system it runs: add --on SYSTEM")
    assumed = () if {"framework", "attention"} & given.keys() else former.assumed
    if model is not None:
        return Request(which, where, asked, None, (), former.chips, assumed)
    words = (["--on", on] if on is not None else []) + _all_spelled(given)
    return Request(which, where, asked, saved, tuple(words), former.chips, assumed)


_NOT_TYPED: Final = ("tokens", "top", "seeds")
"""Options that a next command does not need."""


def _all_spelled(options: Mapping[str, object]) -> list[str]:
    return [word for name, value in options.items() for word in _spelled(name, value)]


def _spelled(name: str, value: object) -> list[str]:
    if name in _NOT_TYPED:
        return []
    if name == "overrides" and isinstance(value, tuple):
        return [word for override in value for word in ("--set", str(override))]
    flag = "--" + name.replace("_", "-")
    if name == "sequence_parallel":
        return [flag if value else "--no-sequence-parallel"]
    if name == "load_factor" and isinstance(value, tuple):
        return [flag, ":".join(f"{part:g}" for part in value)]
    if isinstance(value, tuple):
        return [flag, ",".join(value) or "none"]
    return [flag, str(value)]
