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

``phase`` is one of ``idle, rendezvous, load, step, exchange, save, evaluate`` (default ``step``),
of an agent also ``import``; ``attempt`` counts from 1 (default: whichever comes first). A fault
happens once in a run, whoever dies of it.
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

PHASES: Final = ("idle", "import", "rendezvous", "load", "step", "exchange", "save", "evaluate")

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
    values = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    target, which = _target(values)
    made: dict[str, Any] = {"kind": kind, "target": target, "which": which}
    for name, value in values.items():
        try:
            made[name] = _VALUES[name](value)
        except KeyError:
            known = ", ".join((*get_args(Target), *_VALUES))
            wrong(f'"{name}"', "nothing of a fault", f"known: {known}")
            return None
        except ValueError:
            wrong(f'{name}="{value}"', "this value cannot be", _RULES[name])
            return None
    if kind not in _MAY[target]:
        wrong(f"{kind} of {target}", "that does not exist", f"{target}: {', '.join(_MAY[target])}")
        return None
    return Fault(index, **made)


def _target(values: dict[str, str]) -> tuple[Target, int]:
    """Take the target out of ``values``."""
    for name in get_args(Target):
        if name in values:
            which = values.pop(name)
            return name, int(which) if which.isdigit() else 0
    return "rank", 0


def _phase(text: str) -> str:
    if text not in PHASES:
        raise ValueError(text)
    return text


def _how(text: str) -> str:
    if text not in ("truncate", "flip"):
        raise ValueError(text)
    return text


_VALUES: Final[dict[str, Callable[[str], object]]] = {
    "step": int,
    "attempt": int,
    "factor": float,
    "phase": _phase,
    "how": _how,
}
_RULES: Final = {
    "step": "a whole number",
    "attempt": "a whole number",
    "factor": "a number",
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
        if fault.kind in ("disk-full", "torn"):
            mine = self.rank == 0  # who writes checkpoints
        when = step >= fault.step or fault.phase in {"rendezvous", "load", "idle"}
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
        if fault.kind in ("disk-full", "torn") or not self._mark(fault):
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
