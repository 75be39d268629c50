"""What facts imply by arithmetic: what cards carry, memory and GPUs needed, how scaling goes on.

A network's plateau is cards · rate · the share that messages reach. Training needs 16 bytes per
parameter with Adam in mixed precision (Rajbhandari et al., ZeRO, SC 2020, section 3.1); how many
GPUs, DeepSpeed's own estimate says: 18 bytes, and half as much again for buffers and activations
(``estimate_zero2_model_states_mem_needs``, ``additional_buffer_factor=1.5``), over what a GPU has
left beside context and fragmentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final

from artery.answers.diagnose.laid import link_for
from artery.answers.diagnose.scaling import total
from artery.answers.diagnose.training import GRADIENTS, WEIGHTS, states_of
from artery.catalog.chips import chip as chip_of
from artery.catalog.links import link as link_of
from artery.catalog.profiles import profile
from artery.diagnoser.case import Fact, number
from artery.errors import InputError

ESTIMATED, BUFFERS = 18.0, 1.5
"""Bytes per parameter, and the factor for buffers, of DeepSpeed's estimate."""

FLAT: Final = 0.9
"""Assumed: throughput per GPU that falls by less from one size to the next has stopped falling."""

LOST: Final = 0.8
"""Assumed: share of the smallest run's throughput per GPU below which something is lost."""


def sizing_facts(
    facts: Mapping[str, Fact], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Fact]]:
    """Yield what follows from ``facts`` and measured ``rows``.

    ``network_plateau`` (B/s), ``memory_needed`` (B), ``gpus_needed``, ``speedup_last``,
    ``efficiency_flat``, ``network_measured_share``, ``nccl_minor``.
    """
    yield from _network(facts, rows)
    yield from _memory(facts)
    yield from _scaling(rows)
    minor = str(facts.get("nccl", "")).split(".")
    if len(minor) > 1 and minor[0] == "2" and minor[1].isdecimal():
        yield "nccl_minor", float(minor[1][:3])


def _network(
    facts: Mapping[str, Fact], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Fact]]:
    rate, count = number(facts, "nic_rate"), number(facts, "nics_per_node")
    if not rate:
        return
    if count:
        reached = link_of(link_for(str(facts.get("fabric", "infiniband")), rate)).efficiency
        yield "network_plateau", count * rate * reached
    measured = [row["network_rate"] for row in rows if row.get("network_rate")]
    if measured:
        yield "network_measured_share", max(measured) / rate


def _memory(facts: Mapping[str, Fact]) -> Iterator[tuple[str, Fact]]:
    parameters = number(facts, "parameters")
    if not parameters:
        return
    yield "memory_needed", parameters * (WEIGHTS + GRADIENTS + states_of(facts))
    there = number(facts, "memory_per_gpu")
    if there is None and "chip" in facts:
        try:
            there = chip_of(str(facts["chip"])).memory.capacity
        except InputError:
            there = None
    usual = profile("megatron-core")
    left = 0.0 if there is None else there * (1 - usual.reserve) - usual.context
    if left > 0:
        yield "gpus_needed", float(ceil(parameters * ESTIMATED * BUFFERS / left))


def _scaling(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Fact]]:
    found = []
    for row in rows:
        rate = total(row, row.get("ranks"))
        if rate and row.get("ranks"):
            found.append((float(row["ranks"]), rate))
    found.sort()
    if len(found) < 2:
        return
    yield "speedup_last", found[-1][1] / found[-2][1]
    each = [rate / ranks for ranks, rate in found]
    if len(each) > 2 and each[-2] < LOST * each[0]:
        yield "efficiency_flat", each[-1] >= FLAT * each[-2]
