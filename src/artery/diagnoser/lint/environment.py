"""Checks of environment variables that need more than a name and a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from artery.diagnoser.lint.nccl_variables import KNOWN, NUMBERS, near
from artery.diagnoser.lint.rule import Check, Found
from artery.formats.launch.file import LaunchFile, Setting

IB_TICK: Final = 4.096e-6
"""Seconds: a card waits 4.096 us times 2 to the NCCL_IB_TIMEOUT for an acknowledgement."""

RETRIES: Final = 7
"""Default of NCCL_IB_RETRY_CNT."""

COLLECTIVE: Final = 600.0
"""Seconds: PyTorch's default timeout of a NCCL collective (10 minutes since 2.2)."""

HEARTBEAT: Final = 480.0
"""Seconds: PyTorch's default TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC."""

DUMP: Final = 60.0
"""Seconds: PyTorch's default TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC."""

_BEATS: Final = "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"
_DUMP: Final = "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC"
_MANY: Final = 2


def interface_missing(file: LaunchFile) -> Iterator[Found]:
    """Several nodes, and nobody says which interface they meet on."""
    nodes = file.nodes
    if nodes is None or nodes < _MANY or file.variable("NCCL_SOCKET_IFNAME") is not None:
        return
    starts = next(file.programs("torchrun", "srun", "mpirun", "deepspeed"), None)
    line = starts.line if starts is not None else file.pods[0].line if file.pods else 1
    yield Found(line, f"{nodes} nodes, NCCL_SOCKET_IFNAME is not set")


def interfaces_differ(file: LaunchFile) -> Iterator[Found]:
    """NCCL and Gloo meet on different interfaces."""
    nccl, gloo = file.variable("NCCL_SOCKET_IFNAME"), file.variable("GLOO_SOCKET_IFNAME")
    if nccl is None or gloo is None:
        return
    if nccl.value.lstrip("=") != gloo.value.lstrip("="):
        yield Found(gloo.line, f"NCCL_SOCKET_IFNAME={nccl.value}, GLOO_SOCKET_IFNAME={gloo.value}")


def card_prefix(file: LaunchFile) -> Iterator[Found]:
    """``mlx5_1`` without ``=`` in front also names ``mlx5_10`` and on."""
    for one in file.variables:
        listed = one.value.removeprefix("^")
        if one.name != "NCCL_IB_HCA" or listed.startswith("="):
            continue
        names = [part.partition(":")[0] for part in listed.split(",")]
        if any(re.fullmatch(r"[a-z]+\d*_1", name) for name in names):
            yield Found(one.line, f"NCCL_IB_HCA={one.value}"[:160])


def timeouts_in_order(file: LaunchFile) -> Iterator[Found]:
    """Card before collective, record before heartbeat, last call before the rendezvous ends."""
    yield from _card_gives_up(file)
    beats, dump = (_number(file, name) for name in (_BEATS, _DUMP))
    if beats is not None or dump is not None:
        beat = float(beats[1]) if beats is not None else HEARTBEAT
        waits = dump[1] / 1000.0 if dump is not None else DUMP
        if waits >= beat:
            line = (dump or beats or (1, 0))[0]
            yield Found(line, f"a record may take {waits:.0f} s, the heartbeat allows {beat:.0f} s")
    for command in file.programs("torchrun"):
        conf = command.option("rdzv_conf")
        given = dict(re.findall(r"(\w{1,40})=(\d{1,9})", conf.value if conf is not None else ""))
        last, join = int(given.get("last_call_timeout", 0)), int(given.get("join_timeout", 10**9))
        if last >= join:
            yield Found(command.line, f"last_call_timeout {last} s, join_timeout {join} s")


def _card_gives_up(file: LaunchFile) -> Iterator[Found]:
    waits = _number(file, "NCCL_IB_TIMEOUT")
    if waits is None or waits[1] > NUMBERS["NCCL_IB_TIMEOUT"][1]:
        return
    tries = _number(file, "NCCL_IB_RETRY_CNT")
    longest = IB_TICK * 2 ** waits[1] * ((tries[1] if tries else RETRIES) + 1)
    limit = _collective(file)
    if longest >= limit:
        yield Found(
            waits[0], f"a card gives up after {longest:.0f} s, the collective after {limit:.0f} s"
        )


def _number(file: LaunchFile, name: str) -> tuple[int, int] | None:
    """Return line and value of a variable that holds a whole number."""
    one = file.variable(name)
    return None if one is None or one.number is None else (one.line, one.number)


def _collective(file: LaunchFile) -> float:
    """Return the timeout of collectives in s, as the command line sets it or PyTorch does."""
    for command in file.commands:
        for name, unit in (("distributed_timeout_minutes", 60.0), ("ddp_timeout", 1.0)):
            given = command.option(name)
            if given is not None and given.number:
                return given.number * unit
    return COLLECTIVE


def no_such_value(file: LaunchFile) -> Iterator[Found]:
    """A number that is none, or that does not fit in its field."""
    for one in file.variables:
        if one.name not in NUMBERS or "$" in one.value or not one.value.strip():
            continue
        least, most = NUMBERS[one.name]
        value = one.value.strip()
        if re.fullmatch(r"[+-]?(?:0[xX][0-9a-fA-F]{1,9}|\d{1,9})", value) is None:
            yield Found(one.line, f"{one.name}={value} is not a whole number"[:160])
        elif not least <= _integer(value) <= most:
            yield Found(one.line, f"{one.name}={value} is not between {least} and {most}")


def _integer(text: str) -> int:
    """Return a whole number, in base 16 after ``0x``."""
    return int(text, 16 if "x" in text.casefold() else 10)


def misspelt(file: LaunchFile) -> Iterator[Found]:
    """A variable that nobody reads, one letter off one that NCCL does."""
    for one in file.variables:
        if one.name.startswith("NCCL") and one.name not in KNOWN:
            meant = next((known for known in sorted(KNOWN) if near(one.name, known)), None)
            if meant is not None:
                yield Found(one.line, f"{one.name}: {meant}?")


def connections(file: LaunchFile) -> Iterator[Found]:
    """One queue helps Megatron's tensor-parallel overlap, and hurts FSDP."""
    one = file.variable("CUDA_DEVICE_MAX_CONNECTIONS")
    if one is None or one.value.strip() != "1":
        return
    tensor = any(
        (given := command.option("tensor_model_parallel_size", "tp", "tp_size")) is not None
        and (given.number or 0) > 1
        for command in file.commands
    )
    if not tensor:
        yield Found(one.line, "CUDA_DEVICE_MAX_CONNECTIONS=1 without tensor parallelism")


def memlock(file: LaunchFile) -> Iterator[Found]:
    """A limit on locked memory, where RDMA must lock its buffers."""
    for command in file.programs("ulimit"):
        limit: Setting | None = command.option("l")
        if limit is not None and limit.value not in {"unlimited", ""}:
            yield Found(command.line, f"ulimit -l {limit.value}")


CHECKS: Final[Mapping[str, Check]] = {
    "interface-missing": interface_missing,
    "interfaces-differ": interfaces_differ,
    "card-prefix": card_prefix,
    "timeouts-order": timeouts_in_order,
    "no-such-value": no_such_value,
    "misspelt": misspelt,
    "one-connection": connections,
    "memlock-limited": memlock,
}
