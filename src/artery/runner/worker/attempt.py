"""One attempt of one rank: meet, go on from a state, train, save, leave."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]

from artery.runner.checkpoint.folder import Folder, Torn
from artery.runner.checkpoint.memory import copied_step, read_copy, write_copy
from artery.runner.checkpoint.state import cloned, digest, packed, unpacked
from artery.runner.checkpoint.writer import Writer
from artery.runner.faults import Faults
from artery.runner.phases import PhaseLog
from artery.runner.ranks import gather
from artery.runner.settings import Settings
from artery.runner.task import Task
from artery.runner.worker.link import GO_ON, SAVE, Assignment, Link, Stopped
from artery.runner.worker.progress import Progress
from artery.runner.worker.training import Training

AGREE: Final = 0.1
"""Seconds between two questions to all ranks whether to go on (assumed): one costs a small
all-reduce, so short steps do not pay it each time."""

MOST: Final = 64
"""Steps between two such questions at most (assumed)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker finds things: checkpoints, its host's memory, the log of phases."""

    checkpoints: Path
    copy: Path | None
    log: Path | None


class Attempt:
    """One rank's part of one attempt; :meth:`run` returns how it ended."""

    def __init__(
        self,
        task: Task,
        settings: Settings,
        given: Assignment,
        *,
        place: Place,
        link: Link,
        faults: Faults,
        progress: Progress,
    ) -> None:
        self.task, self.settings, self.given, self.place = task, settings, given, place
        self.link, self.faults, self.progress = link, faults, progress
        self.log = PhaseLog(place.log, given.rank, given.attempt, warn=self._warn)
        self.folder = Folder(place.checkpoints, settings.keep)
        self.writer = Writer(self.folder, self.log, faults, self._saved, self._not_saved)
        self.training: Training | None = None
        self.met = self.from_memory = False
        self._next_question = 0
        self._slowest = 0.0
        self._diverged = False

    @property
    def step(self) -> int:
        """Steps that are done, as far as this rank knows."""
        return self.training.step if self.training is not None else 0

    def run(self) -> dict[str, Any]:
        """Train until all steps are done, or until all ranks agree to leave.

        Returns ``kind`` ``done`` (rank 0 adds ``digest``, ``score``, ``loss``) or ``left``.
        Raises whatever goes wrong: a peer that is gone makes a collective fail.
        """
        try:
            return self._run()
        finally:
            self.log.close()

    def _run(self) -> dict[str, Any]:
        with self.log.timed("rendezvous"):
            self._meet()
        self.met = True
        with self.log.timed("load"):
            training = self._load()
        self.link.send(
            "resumed",
            attempt=self.given.attempt,
            step=training.step,
            memory=self.from_memory,
        )
        self._next_question = training.step
        wish = GO_ON
        first, begun = True, time.time()
        while training.step < self.settings.steps:
            if self.link.stopped(self.given.attempt):
                raise Stopped
            begun = self._one_step(training, begun, first=first)
            if first:
                self.link.send("stepped", attempt=self.given.attempt, step=training.step)
                first = False
            begun = self._keep(training, begun)
            wish = self._agree(training)
            if wish != GO_ON:
                break
        return self._leave(training, wish) if wish != GO_ON else self._finish(training)

    # Coming together

    def _meet(self) -> None:
        given = self.given
        self._mark()
        self.faults.at("rendezvous", given.step)
        limit = timedelta(seconds=self.settings.timeout)
        if given.store is None:
            gather(
                "gloo",
                init_method=given.meeting,
                rank=given.rank,
                world_size=given.ranks,
                timeout=limit,
            )
            return
        host, port = given.store
        store = TCPStore(host, port, None, is_master=False, timeout=limit)
        gather(
            "gloo",
            store=PrefixStore(f"attempt-{given.attempt}", store),
            rank=given.rank,
            world_size=given.ranks,
            timeout=limit,
        )

    def _load(self) -> Training:
        given = self.given
        self.faults.at("load", given.step)
        training = Training(self.task, self.settings, given.rank, given.ranks, self._meeting)
        state = self._state()
        if state is not None:
            training.load(unpacked(state))
        self.training = training
        self._mark(done=True)
        return training

    def _state(self) -> bytes | None:
        """Return the state to go on from, as the source has it and gives it to all."""
        data = self._read() if self.given.rank == self.given.source else b""
        length = torch.tensor([len(data)])
        dist.broadcast(length, self.given.source)
        if not int(length):
            return None
        if self.given.rank == self.given.source:
            whole = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        else:
            whole = torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(whole, self.given.source)
        return whole.numpy().tobytes()

    def _read(self) -> bytes:
        """Return the newest good state, empty for none; what is torn is said and put aside."""
        torn: list[str] = []
        held, copy = self._copied(torn)
        self.folder.sweep()
        # Not only up to the step that was named: news of a save may be on its way.
        for step in self.folder.newest(most=self.settings.steps):
            if step <= held:
                break
            try:
                state = self.folder.read(step)[0]
            except Torn as why:
                self.folder.put_aside(step)
                self.link.send("torn", step=step, memory=False)
                torn.append(str(why))
            else:
                self._used(torn, f"the state of step {step} is used")
                return state
        if copy:
            self.from_memory = True
            self._used(torn, f"the copy of step {held} in memory is used")
            return copy
        self._used(torn, "there is no older state: training begins anew")
        return b""

    def _copied(self, torn: list[str]) -> tuple[int, bytes]:
        """Return the step and state in this host's memory: -1 and nothing if there is none.

        It may be further than anybody told the supervisor: a rank that hung was killed.
        """
        place, given = self.place.copy, self.given
        if place is None or not (given.memory or copied_step(place) > given.step):
            return -1, b""
        try:
            return read_copy(place)
        except Torn as why:
            self.link.send("torn", step=given.step, memory=True)
            torn.append(str(why))
            return -1, b""

    def _used(self, torn: list[str], instead: str) -> None:
        """Say which states are torn, each in turn, and what is gone on from after all."""
        for number, why in enumerate(torn, 1):
            self._warn(f"{why}; {instead if number == len(torn) else 'an older one is tried'}")

    # Training

    def _one_step(self, training: Training, begun: float, *, first: bool) -> float:
        """Do one step and log it; return when it ended."""
        step = training.step + 1
        self.faults.at("step", step)
        before = training.computed
        training.advance(self._between)
        ended = time.time()
        self.progress.touch(self.given.attempt, training.step)
        own = training.computed - before
        self._slowest = max(self._slowest, ended - begun)
        if training.diverged and not self._diverged:
            self._diverged = True
            self.link.send("diverged", step=training.diverged, text=diverged(training.diverged))
        self.log.write(
            "first_step" if first else "step",
            begun,
            ended - begun,
            training.step,
            compute_s=round(own, 6),
        )
        return ended

    def _between(self, seconds: float) -> None:
        """Between computing and meeting the others: be slow if a drill says so."""
        assert self.training is not None  # noqa: S101 - it is set before the first step
        if self.faults.slowness > 1.0:
            time.sleep((self.faults.slowness - 1.0) * seconds)
        self.faults.at("exchange", self.training.step + 1)

    def _meeting(self, waits: bool) -> None:
        if self.training is not None:
            self.progress.put(
                self.given.attempt, self.training.step, self.training.computed, meeting=waits
            )

    def _mark(self, *, done: bool = False, busy: bool = False) -> None:
        computed = self.training.computed if self.training is not None else 0.0
        at = time.time() if done else None
        self.progress.put(self.given.attempt, self.step, computed, busy=busy, at=at)

    def _agree(self, training: Training) -> int:
        """Ask all ranks whether to go on, from time to time; all get the same answer."""
        if training.step < self._next_question or training.step >= self.settings.steps:
            return GO_ON
        wish = self.link.wish(self.given.attempt)
        asked = torch.tensor([float(wish), self._slowest])
        dist.all_reduce(asked, dist.ReduceOp.MAX)
        pace = max(float(asked[1]), 1e-6)
        self._slowest = 0.0
        self._next_question = training.step + max(1, min(MOST, int(AGREE / pace)))
        return int(asked[0])

    # Saving

    def _keep(self, training: Training, begun: float) -> float:
        """Save what is due after this step; return when that was done."""
        due = training.step % self.settings.save_every == 0 and training.step < self.settings.steps
        if not due and not self.settings.copies:
            return begun
        state = self._whole(training)
        if self.settings.copies:
            self._copy(training, state)
            begun = self._logged("copy", begun, training.step)
        if due and self.given.rank == 0:
            self.writer.save(training.step, cloned(state), self._about(training))
            if self.settings.blocking_save:
                self.writer.wait()
        if due:
            begun = self._logged("save", begun, training.step)
        return begun

    def _logged(self, phase: str, begun: float, step: int) -> float:
        ended = time.time()
        self.log.write(phase, begun, ended - begun, step)
        return ended

    def _whole(self, training: Training) -> dict[str, Any]:
        """Return the state with what each rank alone has; all ranks call it together."""
        every: list[Any] = []
        if training.private:
            every = [None] * self.given.ranks
            dist.all_gather_object(every, training.own_state())
        return {**training.state(), "own": every}

    def _copy(self, training: Training, state: dict[str, Any]) -> None:
        if not self.given.leader or self.place.copy is None:
            return
        try:
            write_copy(self.place.copy, training.step, packed(state))
        except OSError as error:
            self.link.send("warning", text=f"no copy in memory: {error.strerror}")

    def _about(self, training: Training) -> dict[str, Any]:
        return {
            "samples": training.step * self.settings.global_batch,
            "ranks": self.given.ranks,
            "run": self.settings.identity(),
        }

    def _warn(self, text: str) -> None:
        self.link.send("warning", text=text)

    def _saved(self, step: int) -> None:
        self.link.send("saved", step=step)

    def _not_saved(self, step: int, reason: str) -> None:
        self.link.send("warning", text=f"the checkpoint of step {step} was not written: {reason}")

    # Leaving

    def _leave(self, training: Training, wish: int) -> dict[str, Any]:
        """Leave as agreed: with the state in memory, and on disk if that was wished."""
        self._mark(busy=True)
        begun = time.time()
        state = self._whole(training)
        if self.place.copy is not None:
            self._copy(training, state)
        if wish == SAVE and self.given.rank == 0:
            self.writer.save(training.step, state, self._about(training))
            self.writer.wait()
        self.writer.wait()
        self._together()
        self._logged("save", begun, training.step)
        return {"kind": "left", "attempt": self.given.attempt, "step": training.step, "reason": ""}

    def _finish(self, training: Training) -> dict[str, Any]:
        """All steps are done: save the last state, evaluate, say what came out."""
        self._mark(busy=True)
        begun = time.time()
        state = self._whole(training)
        if self.given.rank == 0:
            self.writer.save(training.step, cloned(state), self._about(training))
        self.writer.wait()
        begun = self._logged("save", begun, training.step)
        self.faults.at("evaluate", training.step)
        said: dict[str, Any] = {"kind": "done", "attempt": self.given.attempt}
        said |= {"step": training.step}
        if self.given.rank == 0:
            score = self.task.evaluate(training.model) if self.settings.evaluate else None
            said |= {"metric": getattr(self.task, "metric", "score")}
            said |= {"digest": digest(training.model), "score": score, "loss": training.loss}
        figures = getattr(training.exchange, "figures", None)
        said |= {"figures": figures() if figures and not self.settings.consistent else {}}
        self._together()
        self._logged("evaluate", begun, training.step)
        return said

    def _together(self) -> None:
        dist.barrier()


def diverged(step: int) -> str:
    """Say that the loss is no number any more from ``step`` on."""
    return (
        f"the loss is not finite from step {step} on: the run has diverged, and its weights are "
        "of no use; try a smaller --lr, or --warmup"
    )


def disband() -> None:
    """Leave the process group, if there is one."""
    with suppress(Exception):  # whatever is wrong with it, it is left
        if dist.is_initialized():
            dist.destroy_process_group()
