"""The facts that a diagnosis may lack: why each is needed, and who tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from artery.answers.diagnose.mpi import MPI
from artery.diagnoser.case import Case
from artery.diagnoser.verdict import Missing
from artery.formats.reading import Reading

RANKS: Final = Missing(
    "ranks",
    "busbw and its limit depend on the number of GPUs",
    "the header of the test (# Rank ...), or ranks in a facts file",
)
NETWORK: Final = Missing(
    "network",
    "two nodes or more go at the rate of their network cards",
    "how many cards a node has, and their rate: ibstat, rdma link, or --on SYSTEM",
)
CHIP: Final = Missing(
    "chip", "the links of a node follow from its chips", "nvidia-smi -L, or --on SYSTEM"
)


NODES: Final = "how many nodes took part (--on must be the system that was measured)"
CONTRADICTS: Final = Missing(
    "step",
    "the log contradicts itself: its rates do not follow from its time of a step",
    "the raw log; whether time, TFLOP/s and batch are of the same run, model and number of GPUs",
)
FASTER: Final = Missing(
    "model",
    "a step is faster than its plan can be: the script, the model or the system is another",
    "the script of this very run, and nvidia-smi -L where it ran",
)
PEAK: Final = Missing(
    "measured",
    "an average over all sizes is far below the plateau of a healthy run, for small messages pull "
    "it down: it is compared with nothing",
    "busbw of the largest messages: all_reduce_perf -b 8 -e 16G -f 2, its last rows",
)


MEASURED_ON: Final = Missing(
    "system",
    "sizes and times are measured, and nobody says on what, by how many ranks",
    "--on SYSTEM with the number of its chips that took part, such as --on dgx-a100:4",
)
PLAN: Final = Missing(
    "plan",
    "a step is slow or fast beside what its plan should take",
    "--from the script, configuration or saved plan that launched it, and --on SYSTEM",
)


def unknown_server(chip: str) -> Missing:
    """Return that ``chip`` comes in no server that is known."""
    return Missing(
        "system",
        f"no common server of {chip} is known here: how its chips are joined decides",
        "--on SYSTEM, or a file of ours with its node",
    )


def lacking(case: Case, readings: Sequence[tuple[str, Reading]]) -> tuple[Missing, ...]:
    """Return what would have to be told before a case without a curve can be judged."""
    if any(one.format == "megatron-log" for _, one in readings):
        return (PLAN,)
    if not case.curves and not case.refusals and _averages(readings):
        return (PEAK,)
    if not case.curves and not case.refusals and any(one.format in MPI for _, one in readings):
        return (MEASURED_ON,)
    if not case.curves and not case.refusals:
        return (Missing("measured", "without a measured bandwidth nothing can be compared",
                        "the output of all_reduce_perf -b 8 -e 16G -f 2"),)  # fmt: skip
    return ()


def _averages(readings: Sequence[tuple[str, Reading]]) -> bool:
    """Whether somebody tells an average over all sizes."""
    told = [one.fields["measured"] for _, one in readings if one.format == "facts"]
    return any(row.get("average") for rows in told for row in rows)
