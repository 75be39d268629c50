"""``lab``: a small cluster on one Linux machine, brought up, used, broken, and taken down."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, cast

from artery.answers.arguments import refused
from artery.errors import InputError, UnknownNameError, UsageError, did_you_mean, nearest

if TYPE_CHECKING:
    from artery.runner.lab.client import Lab
    from artery.runner.lab.commanded import Ended
    from artery.runner.lab.modes import Mode
    from artery.runner.lab.shape import Conditions, Engine, Shape

NAME: Final = "lab"
"""What a lab is called unless it is given a name."""

PATIENCE: Final = 600.0
"""Seconds after which a command in a lab is ended, unless asked otherwise."""


@dataclass(frozen=True, slots=True)
class WireState:
    """One wire: its two ends, its rate now in B/s, and which ``share`` of the whole that is."""

    name: str
    rate: float
    share: float


@dataclass(frozen=True, slots=True)
class HostState:
    """One host: the switch of its first card, and the address of every card."""

    name: str
    leaf: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """A lab that is up.

    ``scale`` is the rates of its wires over those of ``system``, ``rate`` that of the fastest in
    B/s; ``delay`` in seconds, ``queue`` in bytes and ``loss`` (a share) are those of a wire under
    the engine ``tap``; ``runs`` counts the commands that are running.
    """

    name: str
    system: str
    mode: str
    engine: str
    scale: float
    rate: float
    hosts: tuple[HostState, ...]
    switches: tuple[str, ...]
    wires: tuple[WireState, ...]
    delay: float
    queue: int
    loss: float
    runs: int


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """How a command ended on every host."""

    lab: LabAnswer
    ended: tuple[Ended, ...]

    @property
    def code(self) -> int:
        """The exit code: of the first rank that failed by itself; 128 and a signal's number."""
        failed = [one.exit_code for one in self.ended if one.exit_code]
        if not failed:
            return 0
        code = next((one for one in failed if one != -signal.SIGKILL), failed[0])
        return code if code > 0 else 128 - code


def lab_up(
    on: str,
    *,
    name: str = NAME,
    mode: str = "auto",
    engine: str | None = None,
    rate: str | None = None,
    rate_scale: str | None = None,
    delay: str | None = None,
    queue: str | int | None = None,
    loss: str | None = None,
    seed: int = 0,
    overrides: Sequence[str] = (),
    bound: bool = False,
) -> LabAnswer:
    """Bring a lab up and return it.

    ``mode`` is ``auto``, ``root`` or ``user``; ``engine`` ``kernel`` or ``tap``, which ``delay``,
    ``queue`` and ``loss`` ask for; the others are as in
    :func:`artery.answers.lab.system.lab_system`. With ``bound`` it ends with this process. Raises
    ``InputError`` and ``UsageError``.
    """
    from artery.answers.lab.system import lab_system
    from artery.runner.lab import client

    _check_name(name)
    conditions = _conditions(delay, queue, loss, seed)
    moved = _engine(engine, asked=any(one is not None for one in (delay, queue, loss)))
    chosen = _mode(mode, moved)
    found = lab_system(
        on, overrides, rate=rate, rate_scale=rate_scale, engine=moved, conditions=conditions
    )
    return told(client.start(name, found.shape, chosen, bound=bound))


def lab_status(name: str = NAME) -> LabAnswer:
    """Return the lab of that name; raises ``InputError`` if it is not up."""
    return told(_needed(name))


def lab_run(
    words: Sequence[str],
    *,
    name: str = NAME,
    order: str = "packed",
    timeout: str | None = None,
    heard: Callable[[str, str], None] | None = None,
) -> RunAnswer:
    """Run a command on every host of a lab, a rank each, and return how it ended everywhere.

    ``heard`` is called with host and line of everything that is said.
    """
    from artery.runner.lab import commanded

    if not words:
        raise UsageError("no command was given; for example: artery lab run -- hostname")
    lab = _needed(name)
    patience = _patience(timeout)
    ended = commanded.command(lab, words, order=ranked(lab, order), patience=patience, heard=heard)
    return RunAnswer(told(lab), ended)


def lab_fail(wire: str, *, name: str = NAME, to: str = "0") -> LabAnswer:
    """Take a wire down, or leave it the share ``to`` of its rate; 1 repairs it. Return the lab."""
    from artery.answers.simulate.asked import share

    lab = _needed(name)
    left = share(to, "to")
    if 0.0 < left < 0.001:
        raise refused("to", to, "is less than a thousandth of the rate", "0 takes the wire down")
    lab.limit(wire_number(lab, wire), left)
    return told(_needed(name))


def lab_repair(wire: str | None, *, name: str = NAME) -> LabAnswer:
    """Repair a wire, or all; return the lab."""
    lab = _needed(name)
    for number in lab.share if wire is None else [wire_number(lab, wire)]:
        lab.limit(number, 1.0)
    return told(_needed(name))


def lab_down(name: str = NAME) -> bool:
    """Take a lab down and return whether there was one; nothing of it is left."""
    from artery.runner.lab import client

    _check_name(name)
    return client.end(name)


def told(lab: Lab) -> LabAnswer:
    """Return what is said of a lab that is up."""
    return described(lab.shape, lab.name, lab.mode, lab.share, lab.runs)


def described(
    shape: Shape, name: str, mode: str, share: Mapping[int, float], runs: int
) -> LabAnswer:
    """Return what is said of a lab: its shape, and what is left of its wires."""
    wires = tuple(
        WireState(wire.name, wire.rate * share.get(number, 1.0), share.get(number, 1.0))
        for number, wire in enumerate(shape.wires)
    )
    return LabAnswer(
        name=name,
        system=shape.system,
        mode=mode,
        engine="paced" if mode == "paced" else shape.engine,
        scale=shape.scale,
        rate=max(wire.rate for wire in shape.wires),
        hosts=tuple(
            HostState(host.name, host.leaf, tuple(card.address for card in host.cards))
            for host in shape.hosts
        ),
        switches=tuple(one.name for one in shape.switches),
        wires=wires,
        delay=shape.conditions.delay,
        queue=shape.conditions.queue,
        loss=shape.conditions.loss,
        runs=runs,
    )


def ranked(lab: Lab, order: str) -> tuple[int, ...]:
    """Return the host of each rank: ``packed``, ``interleaved`` over leaves, or hosts' numbers.

    Raises ``InputError`` for anything else, and for hosts that are not there or named twice.
    """
    hosts = lab.shape.hosts
    if order == "packed":
        return tuple(range(len(hosts)))
    if order == "interleaved":
        leaves: dict[str, list[int]] = {}
        for number, host in enumerate(hosts):
            leaves.setdefault(host.leaf, []).append(number)
        turns = chain.from_iterable(zip_longest(*leaves.values()))
        return tuple(number for number in turns if number is not None)
    parts = [part.strip() for part in order.split(",")]
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 5]
    if len(numbers) != len(parts) or len(set(numbers)) != len(numbers):
        fix = "packed, interleaved, or for example 0,2,1,3"
        raise refused("order", order, "must be an order or the numbers of hosts, each once", fix)
    if max(numbers) >= len(hosts):
        rule = f"there are {len(hosts)} hosts, numbered from 0"
        raise refused("order", order, rule, f"at most {len(hosts) - 1}")
    return tuple(numbers)


def _needed(name: str) -> Lab:
    from artery.runner.lab import client

    _check_name(name)
    return client.needed(name)


def wire_number(lab: Lab, text: str) -> int:
    """Return the number of the wire between two devices, by the names of either spelling."""
    parts = text.replace("->", " - ").split(" - ")
    if len(parts) == 1:
        parts = text.split("-") if text.count("-") == 1 else parts
    wanted = [" ".join(part.split()) for part in parts]
    for number, wire in enumerate(lab.shape.wires):
        lower, upper = wire.name.split(" - ")
        one = {lower, wire.lower.device, wire.lower.alias}
        other = {upper, wire.upper.device, wire.upper.alias}
        if len(wanted) == 2 and (
            (wanted[0] in one and wanted[1] in other) or (wanted[1] in one and wanted[0] in other)
        ):
            return number
    known = [wire.name for wire in lab.shape.wires]
    fix = did_you_mean(nearest(text, known)) or f'for example "{known[-1]}"'
    raise refused("LINK", text, "no wire of the lab joins these two", fix)


def _conditions(
    delay: str | None, queue: str | int | None, loss: str | None, seed: int
) -> Conditions:
    from artery.answers.lab.system import seconds
    from artery.answers.simulate.asked import amount, share
    from artery.runner.lab.shape import Conditions

    plain = Conditions()
    waiting = plain.queue if queue is None else amount(queue, "queue")
    if waiting < 65_536:
        raise refused("queue", str(queue), "must hold one frame of 64K", "1M")
    return Conditions(
        delay=seconds(delay, "delay"),
        queue=waiting,
        loss=0.0 if loss is None else share(loss, "loss"),
        seed=seed,
    )


def _engine(engine: str | None, *, asked: bool) -> Engine:
    """Return who moves frames; the kernel has neither delay nor loss of its own here."""
    if engine not in {None, "kernel", "tap"}:
        raise UnknownNameError("engine", str(engine), ("kernel", "tap"))
    if engine == "kernel" and asked:
        raise UsageError("--delay, --queue and --loss need --engine tap: a switch in user space")
    return cast("Engine", engine or ("tap" if asked else "kernel"))


def _mode(mode: str, engine: Engine) -> Mode:
    """Return the mode; raises ``InputError`` with the reason if it is not possible here."""
    from artery.runner.lab import modes

    if mode == "paced":
        fix = "artery lab bench SYSTEM --mode paced"
        raise refused("mode", mode, "delays sends and has no hosts that stay up", fix)
    if mode not in {"auto", "root", "user"}:
        raise UnknownNameError("mode", mode, ("auto", "root", "user", "paced"))
    found = {one.mode: one for one in modes.modes()}
    able, detail = modes.taps()
    if engine == "tap" and not able:
        rule = f"a switch in user space is not possible here: {detail}"
        raise refused(
            "engine", "tap", rule, "run as root, or leave --delay, --queue and --loss out"
        )
    wanted = [found[cast("Mode", mode)]] if mode != "auto" else [found["root"], found["user"]]
    for one in wanted:
        if one.able:
            return one.mode
    reasons = "; ".join(f"{one.mode}: {one.detail}" for one in wanted)
    fix = "artery lab bench SYSTEM --mode paced works everywhere"
    raise refused("mode", mode, f"is not possible here ({reasons})", fix)


def _patience(timeout: str | None) -> float:
    from artery import units

    if timeout is None:
        return PATIENCE
    try:
        return units.parse(timeout, "s", positive=True)
    except InputError as error:
        raise error.at(field="timeout") from None


def _check_name(name: str) -> None:
    from artery.runner.lab.door import NAME as ALLOWED

    if not ALLOWED.fullmatch(name):
        raise refused(
            "name", name, "must be of small letters, digits and hyphens, 31 at most", "lab2"
        )
