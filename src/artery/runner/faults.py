"""Drills: things that go wrong on purpose, at a given step, place and rank (``--fault SPEC``).

::

    kill:rank=1,step=12                 SIGKILL before step 12 is computed
    kill:rank=0,step=20,phase=save      ... while the checkpoint of step 20 is half written
    stop:rank=1,step=5                  SIGSTOP: it hangs
    hang:rank=1,step=5                  an endless loop
    slow:rank=1,step=5,factor=3         from then on it computes three times as long
    error:rank=0,step=9                 an exception in the user's code
    partition:rank=1,step=7             its network vanishes: what it sends is swallowed
    term:rank=1,step=7                  SIGTERM
    disk-full:step=20                   the first checkpoint from step 20 on finds the disk full
    torn:step=20,how=truncate           the first one from step 20 on is damaged (or how=flip)
    kill:agent=1,step=9                 a host: its agent and all on it (also stop, partition, term)
    kill:store,step=9                   the store where ranks meet
    kill:spare,step=9                   a warm spare
    term:run,step=9                     the whole run is told to go
    join:run,step=9                     one more host joins

``phase`` is one of ``rendezvous, load, step, exchange, save, evaluate`` (default ``step``), of an
agent also ``import``; ``attempt`` counts from 1 (default: whichever comes first). A fault happens
once in a run, whoever dies of it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from artery.errors import Problem, Problems, did_you_mean, nearest

Kind = Literal[
    "kill", "stop", "hang", "slow", "error", "partition", "term", "disk-full", "torn", "join"
]
Target = Literal["rank", "agent", "store", "spare", "run"]

PHASES: Final = ("import", "rendezvous", "load", "step", "exchange", "save", "evaluate")

_OF_DISK: Final = ("disk-full", "torn")
"""What befalls checkpoints, which rank 0 writes; these need no target."""

_NUMBERED: Final = ("rank", "agent")
"""Targets of which there are several, numbered from 0."""

_MAY: Final[dict[Target, tuple[Kind, ...]]] = {
    "rank": ("kill", "stop", "hang", "slow", "error", "partition", "term", "disk-full", "torn"),
    "agent": ("kill", "stop", "partition", "term"),
    "store": ("kill", "stop"),
    "spare": ("kill", "stop"),
    "run": ("term", "join"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. ``index`` numbers the faults of a run; ``which`` is the rank or the agent."""

    index: int
    kind: Kind
    target: Target
    which: int = 0
    step: int = 1
    phase: str = "step"
    attempt: int = 0
    factor: float = 3.0
    how: str = "truncate"


def read_faults(specs: Iterable[str]) -> tuple[Fault, ...]:
    """Return the faults that ``specs`` spell; ``InputError`` with all that is wrong."""
    faults: list[Fault] = []
    with Problems() as problems:
        for index, spec in enumerate(specs):
            fault = _read(index, spec, problems)
            if fault is not None:
                faults.append(fault)
    return tuple(faults)


def _read(index: int, spec: str, problems: Problems) -> Fault | None:
    def wrong(found: str, rule: str, fix: str) -> None:
        problems.add(Problem(field="--fault", found=f"{spec}: {found}", rule=rule, fix=fix))

    kind, _, rest = spec.partition(":")
    if kind not in get_args(Kind):
        near = did_you_mean(nearest(kind, get_args(Kind)))
        wrong(f'"{kind}"', "no such fault", near or f"one of {', '.join(get_args(Kind))}")
        return None
    parts = [part.partition("=") for part in rest.split(",") if part]
    values = {name: value for name, _, value in parts}
    if len(values) < len(parts):
        wrong("the same twice", "each part is said once", "leave one out")
        return None
    try:
        made = {"kind": kind, **_target(kind, values), **_values(kind, values)}
    except _WrongError as error:
        wrong(*error.args)
        return None
    if made["target"] != "agent" and made.get("phase") == "import":
        wrong("phase=import", "only agents import", "agent=0, or another phase")
        return None
    return Fault(index, **made)


class _WrongError(Exception):
    """Found, rule and fix."""


def _target(kind: str, values: dict[str, str]) -> dict[str, Any]:
    """Take the target out of ``values``."""
    named: list[Target] = [name for name in get_args(Target) if name in values]
    fix = _example(kind)
    if len(named) > 1:
        raise _WrongError(" and ".join(named), "a fault has one target", fix)
    if not named and kind not in _OF_DISK:
        raise _WrongError("no target", f"one of {', '.join(get_args(Target))} is needed", fix)
    target: Target = named[0] if named else "rank"
    if kind not in _MAY[target]:
        raise _WrongError(f"{kind} of {target}", "that does not exist",
                          f"{target}: {', '.join(_MAY[target])}")  # fmt: skip
    which = values.pop(target, "0")
    if target in _NUMBERED:
        number = _whole(which, least=0)
        if number is None:
            raise _WrongError(f'{target}="{which}"', "must be a whole number from 0 on", fix)
        if number and kind in _OF_DISK:
            raise _WrongError(f"{target}={which}", "rank 0 writes checkpoints", "leave it out")
        return {"target": target, "which": number}
    if which:
        raise _WrongError(f'{target}="{which}"', f"there is one {target}", f"leave out ={which}")
    return {"target": target}


def _values(kind: str, values: dict[str, str]) -> dict[str, Any]:
    """Return what else is said of a fault."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _VALUES:
            known = ", ".join((*get_args(Target), *_VALUES))
            raise _WrongError(f'"{name}"', "nothing of a fault", f"known: {known}")
        if _ONLY.get(name, kind) != kind:
            raise _WrongError(f"{name} of {kind}", f"only {_ONLY[name]} has it", "leave it out")
        if name in ("phase", "attempt") and kind in _OF_DISK:
            rule = "it happens to the first checkpoint from a step on"
            raise _WrongError(f"{name} of {kind}", rule, "leave it out")
        made[name] = _VALUES[name](value)
        if made[name] is None:
            raise _WrongError(f'{name}="{value}"', "this value cannot be", _RULES[name])
    return made


def _example(kind: str) -> str:
    """Return a fault of this kind that can be."""
    target = next(name for name in get_args(Target) if kind in _MAY[name])
    named = f"{target}=0" if target in _NUMBERED else target
    return f"for example {kind}:{named},step=5"


def _whole(text: str, least: int = 1) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if fits and int(text) >= least else None


def _factor(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 1.0 < found <= _SLOWEST else None


_SLOWEST: Final = 1e6
"""Times as long as before: more is a hang (assumed)."""

_VALUES: Final[dict[str, Callable[[str], object]]] = {
    "step": _whole,
    "attempt": _whole,
    "factor": _factor,
    "phase": lambda text: text if text in PHASES else None,
    "how": lambda text: text if text in ("truncate", "flip") else None,
}
_ONLY: Final = {"factor": "slow", "how": "torn"}
_RULES: Final = {
    "step": "a whole number from 1 on",
    "attempt": "a whole number from 1 on",
    "factor": "a number over 1, at most a million",
    "phase": f"one of {', '.join(PHASES)}",
    "how": "truncate or flip",
}


class Faults:
    """The faults of a run as one process meets them.

    ``once`` is a folder where a fault that happens leaves a mark, so that it happens once.
    ``elsewhere`` is called for what is not done in this process (an agent, the store, the run).
    """

    def __init__(
        self,
        faults: Iterable[Fault],
        once: Path,
        elsewhere: Callable[[Fault], None] = lambda _: None,
        cut: Callable[[], None] = lambda: None,
    ) -> None:
        self._faults = tuple(faults)
        self._once = once
        self._elsewhere = elsewhere
        self._cut = cut
        self.rank = 0
        self.attempt = 0
        self.slowness = 1.0

    def at(self, phase: str, step: int = 0) -> None:
        """Come to ``phase`` of ``step``: let happen what is due here."""
        for fault in self._faults:
            if fault.phase == phase and self._due(fault, step):
                self._happen(fault)

    def import_of(self, agent: int) -> None:
        """Come to the import of torch in ``agent``."""
        for fault in self._faults:
            mine = fault.target == "agent" and fault.which == agent and fault.phase == "import"
            if mine and not self._happened(fault) and self._mark(fault):
                os.kill(os.getpid(), signal.SIGSTOP if fault.kind == "stop" else signal.SIGKILL)

    def disk(self, step: int) -> str:
        """Return where the bytes of the checkpoint of ``step`` go instead of to its file, or ""."""
        full = [f for f in self._faults if f.kind == "disk-full" and self._due(f, step)]
        happened = sum(self._mark(fault) for fault in full)
        return "/dev/full" if happened else ""

    def tear(self, step: int, folder: Path) -> None:
        """Damage the checkpoint of ``step`` in ``folder`` if that is due."""
        for fault in self._faults:
            if fault.kind == "torn" and self._due(fault, step) and self._mark(fault):
                damage(folder / f"step-{step:08d}" / "state.bin", fault.how)

    def mark(self, fault: Fault) -> bool:
        """Take ``fault`` upon oneself; false if it has happened already."""
        return self._mark(fault)

    def _due(self, fault: Fault, step: int) -> bool:
        mine = fault.which == self.rank if fault.target == "rank" else self.rank == 0
        if fault.kind in _OF_DISK:
            mine = self.rank == 0  # who writes checkpoints
        when = step >= fault.step or fault.phase in {"rendezvous", "load"}
        if fault.phase in {"rendezvous", "load"} and fault.step > 1:
            when = step >= fault.step
        return mine and when and fault.attempt in (0, self.attempt) and not self._happened(fault)

    def _happened(self, fault: Fault) -> bool:
        return (self._once / str(fault.index)).exists()

    def _mark(self, fault: Fault) -> bool:
        self._once.mkdir(parents=True, exist_ok=True)
        try:
            (self._once / str(fault.index)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _happen(self, fault: Fault) -> None:
        if fault.kind in _OF_DISK or not self._mark(fault):
            return
        if fault.target != "rank":
            self._elsewhere(fault)
            return
        match fault.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "term":
                os.kill(os.getpid(), signal.SIGTERM)
            case "hang":
                while True:
                    time.sleep(0.01)
            case "slow":
                self.slowness = fault.factor
            case "partition":
                self._cut()
            case _:
                raise RuntimeError("a fault that was asked for")


def damage(file: Path, how: str) -> None:
    """Cut the last half off ``file``, or flip one bit in its middle."""
    content = bytearray(file.read_bytes())
    if how == "truncate":
        del content[len(content) // 2 :]
    else:
        content[len(content) // 2] ^= 1
    file.write_bytes(content)
