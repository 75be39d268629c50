"""Checks of batch scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from artery.diagnoser.lint.rule import Check, Found
from artery.formats.launch.file import Command, LaunchFile, Setting

EARLY: Final = 60
"""Seconds: Slurm may send a signal so much earlier than asked (sbatch manual page, --signal)."""

_ISOLATING: Final = ("gpus_per_task", "gpu_bind", "ntasks_per_gpu", "tres_per_task")


def _several(file: LaunchFile) -> Setting | None:
    """Return the option that asks for several nodes, ``None`` if the job has one."""
    asked = file.sbatch.get("nodes")
    first = re.match(r"\d{1,7}", asked.value) if asked is not None else None
    return asked if asked is not None and first is not None and int(first[0]) > 1 else None


def _steps(file: LaunchFile) -> Iterator[Command]:
    return file.programs("srun")


def gpus_isolated(file: LaunchFile) -> Iterator[Found]:
    """A task that sees one GPU cannot reach its neighbours directly."""
    given = [file.sbatch[name] for name in _ISOLATING if name in file.sbatch]
    given += [
        one.options[name] for one in _steps(file) for name in _ISOLATING if name in one.options
    ]
    for one in given:
        if one.name == "gpu_bind" and one.value.startswith("none"):
            continue
        yield Found(one.line, f"--{one.name.replace('_', '-')}={one.value}")


def cpus_not_inherited(file: LaunchFile) -> Iterator[Found]:
    """``srun`` takes no ``--cpus-per-task`` from ``sbatch`` since Slurm 22.05."""
    asked = file.sbatch.get("cpus_per_task")
    if asked is None or file.variable("SRUN_CPUS_PER_TASK") is not None:
        return
    for one in _steps(file):
        if one.option("cpus_per_task") is None:
            yield Found(
                one.line, f"--cpus-per-task={asked.value} of line {asked.line} stays behind"
            )


def options_late(file: LaunchFile) -> Iterator[Found]:
    """Slurm reads no ``#SBATCH`` below the first command."""
    for one in file.late:
        yield Found(one.line, f"#SBATCH {one.value}"[:160])


def no_requeue(file: LaunchFile) -> Iterator[Found]:
    """A node failure ends the job for good."""
    nodes = _several(file)
    if nodes is not None and "requeue" not in file.sbatch:
        yield Found(nodes.line, f"--nodes={nodes.value} without --requeue")


def no_signal(file: LaunchFile) -> Iterator[Found]:
    """The time limit kills without a warning in which to save."""
    nodes = _several(file)
    if nodes is not None and "signal" not in file.sbatch:
        yield Found(nodes.line, f"--nodes={nodes.value} without --signal")


def signal_late(file: LaunchFile) -> Iterator[Found]:
    """The warning may come too late to save."""
    asked = file.sbatch.get("signal")
    seconds = re.search(r"@(\d{1,9})", asked.value) if asked is not None else None
    if asked is None or "signal" not in file.sbatch:
        return
    if seconds is None or int(seconds[1]) <= EARLY:
        yield Found(asked.line, f"--signal={asked.value}")


def signal_untrapped(file: LaunchFile) -> Iterator[Found]:
    """``B:`` signals the batch shell alone, and nothing there listens."""
    asked = file.sbatch.get("signal")
    if asked is None or not asked.value.upper().startswith("B:"):
        return
    if not any(file.programs("trap")):
        yield Found(asked.line, f"--signal={asked.value} and no trap in the script")


def log_overwritten(file: LaunchFile) -> Iterator[Found]:
    """After a requeue the log begins anew."""
    again = file.sbatch.get("requeue")
    mode = file.sbatch.get("open_mode")
    if again is not None and (mode is None or mode.value != "append"):
        yield Found(again.line, "--requeue without --open-mode=append")


def launchers_multiplied(file: LaunchFile) -> Iterator[Found]:
    """A launcher per GPU, each of which starts a process per GPU."""
    for one in file.programs("torchrun"):
        per_node = one.option("nproc_per_node")
        tasks = file.sbatch.get("ntasks_per_node")
        step = next((step for step in _steps(file) if step.line == one.line), None)
        own = step.option("ntasks_per_node") if step is not None else None
        tasks = own or tasks
        if one.under != "srun" or tasks is None or per_node is None:
            continue
        if (tasks.number or 1) > 1 and per_node.value != "1":
            yield Found(
                one.line,
                f"--ntasks-per-node={tasks.value} launchers start {per_node.value} processes each",
            )


def bad_exit(file: LaunchFile) -> Iterator[Found]:
    """When one rank dies the others wait for their timeout."""
    for one in _steps(file):
        if _several(file) is not None and one.option("kill_on_bad_exit") is None:
            yield Found(one.line, "srun without --kill-on-bad-exit=1")


def memory_default(file: LaunchFile) -> Iterator[Found]:
    """A whole node is asked for, and a part of its memory."""
    whole = file.sbatch.get("exclusive")
    names = {"mem", "mem_per_cpu", "mem_per_gpu"}
    if whole is not None and not names & set(file.sbatch):
        yield Found(whole.line, "--exclusive without --mem=0")


def anywhere(file: LaunchFile) -> Iterator[Found]:
    """Nothing keeps the nodes together in the network."""
    nodes = _several(file)
    names = {"switches", "segment", "nodelist", "constraint", "reservation"}
    if nodes is not None and not names & set(file.sbatch):
        if file.sbatch.get("exclusive") is not None and "topo" in file.sbatch["exclusive"].value:
            return
        yield Found(nodes.line, f"--nodes={nodes.value} without --switches or --segment")


CHECKS: Final[Mapping[str, Check]] = {
    "gpus-isolated": gpus_isolated,
    "cpus-not-inherited": cpus_not_inherited,
    "options-late": options_late,
    "no-requeue": no_requeue,
    "no-signal": no_signal,
    "signal-late": signal_late,
    "signal-untrapped": signal_untrapped,
    "log-overwritten": log_overwritten,
    "launchers-multiplied": launchers_multiplied,
    "bad-exit-ignored": bad_exit,
    "memory-default": memory_default,
    "nodes-anywhere": anywhere,
}
