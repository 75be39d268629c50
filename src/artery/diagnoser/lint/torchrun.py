"""Checks of launchers' command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from artery.diagnoser.lint.rule import Check, Found
from artery.formats.launch.file import Command, LaunchFile, Setting

_LOCAL: Final = re.compile(
    r"(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?)(:\d*)?", re.IGNORECASE
)

_OWN: Final = re.compile(
    r"(\$\(\s*(?:hostname|uname\s+-n)\b[^)]*\)|`\s*(?:hostname|uname\s+-n)\b[^`]*`"
    r"|\$[{(]?(?:HOSTNAME|HOST|SLURMD_NODENAME|POD_IP|POD_NAME|MY_POD_IP|NODE_NAME)[})]?)(:.*)?"
)
"""The name of whichever node evaluates it."""

_CONTINUED: Final = 20
"""Assumed: lines that a continued command has at most."""

_ELSEWHERE: Final = re.compile(r"\b(?:ssh|pdsh|dsh|clush|mpiexec|parallel|blaunch|echo)\b")
"""What starts the rest of a line on other nodes, or not at all."""


def _launches(file: LaunchFile) -> Iterator[Command]:
    return file.programs("torchrun", "torch.distributed.launch")


def _nodes(command: Command) -> int:
    """Return the nodes a launcher expects: the most of a range; 1 if it does not say."""
    given = command.option("nnodes")
    counts = re.findall(r"\d{1,7}", given.value) if given is not None else []
    return int(counts[-1]) if counts else 1


def rendezvous_missing(file: LaunchFile) -> Iterator[Found]:
    """Several nodes, and no address at which they meet."""
    addressed = file.variable("MASTER_ADDR") is not None or file.variable("PET_RDZV_ENDPOINT")
    for one in _launches(file):
        alone = one.option("standalone") is not None
        if _nodes(one) > 1 and (alone or not addressed):
            if not alone and one.option("rdzv_endpoint", "master_addr") is not None:
                continue
            what = "--standalone" if alone else "no --rdzv-endpoint"
            yield Found(one.line, f"{_nodes(one)} nodes with {what}")


def rendezvous_loopback(file: LaunchFile) -> Iterator[Found]:
    """Every node would meet itself."""
    for one in _launches(file):
        given = one.option("rdzv_endpoint", "master_addr")
        if _nodes(one) > 1 and given is not None and _is_own(file, given):
            yield Found(one.line, f"{_nodes(one)} nodes meet at {given.value}")
    address = file.variable("MASTER_ADDR")
    many = file.nodes is not None and file.nodes > 1
    if address is not None and many and _is_own(file, address):
        yield Found(address.line, f"{file.nodes} nodes, MASTER_ADDR={address.value}")


def _is_own(file: LaunchFile, given: Setting) -> bool:
    """Whether an address is another one on every node.

    A batch script runs on the first node, so that ``$(hostname)`` is that one's name there, unless
    quotes keep it for the shell that a step starts.
    """
    if _LOCAL.fullmatch(given.value):
        return True
    own = _OWN.fullmatch(given.value)
    if own is None or file.kind != "sbatch":
        return own is not None
    lines = file.content.split("\n")[given.line - 1 :]
    before, found, _ = "\n".join(lines[:_CONTINUED]).partition(own[1])
    return bool(found) and before.count("'") % 2 == 1


def node_rank_fixed(file: LaunchFile) -> Iterator[Found]:
    """All nodes run the same line, so that all have the same rank."""
    if file.kind not in {"sbatch", "manifest"}:
        return
    for one in _launches(file):
        given = one.option("node_rank")
        if _nodes(one) > 1 and given is not None and given.number is not None:
            yield Found(one.line, f"--node-rank={given.value} on each of {_nodes(one)} nodes")


def rendezvous_shared(file: LaunchFile) -> Iterator[Found]:
    """Two jobs with the same identity join each other."""
    for one in _launches(file):
        given = one.option("rdzv_id")
        if _nodes(one) > 1 and given is not None and "$" not in given.value:
            yield Found(one.line, f"--rdzv-id={given.value} for every run")


def first_node_only(file: LaunchFile) -> Iterator[Found]:
    """A batch script runs on the first of its nodes; only a step starts the launcher on each."""
    asked = file.sbatch.get("nodes")
    first = re.match(r"\d{1,7}", asked.value) if asked is not None else None
    if asked is None or first is None or int(first[0]) < 2:
        return
    if "<<" in file.content and next(file.programs("srun", "mpirun"), None) is not None:
        return  # a script is written out here, which the step may run
    lines = file.content.split("\n")
    for one in _launches(file):
        if one.under or _nodes(one) < 2 or _ELSEWHERE.search(lines[one.line - 1]):
            continue
        yield Found(one.line, f"--nodes={asked.value}, {one.program} on the first node only")


def elastic_without_restarts(file: LaunchFile) -> Iterator[Found]:
    """A range of nodes, and no restart in which to change their number."""
    for one in _launches(file):
        given, limit = one.option("nnodes"), one.option("max_restarts")
        ranged = given is not None and ":" in given.value
        if ranged and limit is not None and limit.value == "0":
            yield Found(one.line, f"--nnodes={given.value if given else ''} --max-restarts=0")


def old_launcher(file: LaunchFile) -> Iterator[Found]:
    """The launcher that torchrun replaced."""
    for one in file.programs("torch.distributed.launch"):
        yield Found(one.line, "python -m torch.distributed.launch")


def threads(file: LaunchFile) -> Iterator[Found]:
    """Without a number torchrun sets one thread a process."""
    for one in _launches(file):
        count = one.option("nproc_per_node")
        many = count is not None and count.value not in {"1", ""}
        if many and file.variable("OMP_NUM_THREADS") is None:
            yield Found(one.line, "torchrun sets OMP_NUM_THREADS=1")
            return


def recorder(file: LaunchFile) -> Iterator[Found]:
    """Nothing will say which rank was missing when it hangs."""
    names = ("TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE")
    if any(file.variable(name) is not None for name in names):
        return
    for one in _launches(file):
        if _nodes(one) > 1:
            yield Found(one.line, "the flight recorder is off")
            return


CHECKS: Final[Mapping[str, Check]] = {
    "rendezvous-missing": rendezvous_missing,
    "rendezvous-loopback": rendezvous_loopback,
    "node-rank-fixed": node_rank_fixed,
    "rendezvous-shared": rendezvous_shared,
    "first-node-only": first_node_only,
    "elastic-without-restarts": elastic_without_restarts,
    "old-launcher": old_launcher,
    "threads-unset": threads,
    "flight-recorder-off": recorder,
}
