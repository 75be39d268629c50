"""Chips by name or file, as :class:`artery.core.chip.Chip`.

What a chip's file leaves out of its efficiencies is assumed, and its provenance says so. The
assumed values are what a roofline needs to be useful on a chip that nobody has measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from artery.catalog.door import is_path, read, revise
from artery.catalog.loader import entry, resolve
from artery.catalog.schema import ChipTable, EfficiencyTable, MemoryTable
from artery.catalog.sourced import Sourced
from artery.catalog.structure import fill
from artery.core.chip import AttentionCurve, Chip, Efficiency, Memory, Port
from artery.core.source import Source

ASSUMED = Source("artery's assumption for a chip that was not measured", "2026-11", "assumed")
"""The source of every efficiency that a chip's file leaves out."""

MATMUL = 0.80
"""Assumed large-product fraction of peak; measured ones lie between 0.51 and 0.97."""

WAVE_QUANTISATION = 0.5
"""Assumed: half way between classic tile scheduling (1) and persistent kernels (0.1)."""

MEMORY = 0.80
"""Assumed streaming fraction; GEMM tables of four NVIDIA chips give 0.74 to 0.83."""

KERNEL = 3e-6
"""Assumed fixed cost of one kernel in s; the same tables give 2.5 to 3.9 us."""

ATTENTION = {"flash2": AttentionCurve(0.5, 500.0)}
"""Assumed for a chip without a measured attention kernel."""

SUSTAINED = 0.87
"""Assumed clock of a long run over that of a short benchmark; A100 steps fit 0.91, H100 0.87."""


def chip(name: str, overrides: Sequence[str] = ()) -> Chip:
    """Return the chip called ``name``, or the one described by the file at that path.

    ``overrides`` are ``path=value`` texts (``memory.bandwidth=4 TB/s``). Raises
    :class:`artery.errors.UnknownNameError` for an unknown name and
    :class:`artery.errors.InputError` for a bad file or override.
    """
    if is_path(name):
        table, sourced = read(name, ChipTable, "chips")
    else:
        sourced = entry("chips", resolve("chips", name).name)
        table = fill(ChipTable, sourced.values)
    if overrides:
        table, sourced = revise(ChipTable, sourced, overrides)
    return build(table, sourced)


def build(table: ChipTable, sourced: Sourced) -> Chip:
    """Return the chip that ``table`` describes, with assumptions where it is silent."""
    provenance = dict(sourced.provenance)
    if table.memory.bandwidth is None and "memory.rate" in provenance:
        provenance["memory.bandwidth"] = provenance["memory.rate"]
    efficiency = _efficiency(table, provenance)
    return Chip(
        name=table.name,
        vendor=table.vendor,
        year=table.year,
        peaks=table.peaks,
        memories=(_memory(table.memory),),
        ports=tuple(Port(kind, port.count, port.bandwidth) for kind, port in table.ports.items()),
        efficiency=efficiency,
        cores=table.cores,
        cache=table.cache,
        power=table.power,
        price=table.price,
        provenance=provenance,
    )


def _memory(table: MemoryTable) -> Memory:
    """Return the memory; the file's rate of one pin is in B/s, the noun's in bit/s."""
    # The checks of the door see to it that one of the two is given.
    bandwidth = cast("float", table.product if table.bandwidth is None else table.bandwidth)
    return Memory(
        name=table.kind,
        capacity=table.capacity,
        bandwidth=bandwidth,
        stacks=table.stacks,
        bits_per_stack=table.bits_per_stack,
        rate=None if table.rate is None else 8 * table.rate,
    )


def _efficiency(table: ChipTable, provenance: dict[str, Source]) -> Efficiency:
    """Return the efficiencies, those that the file lacks assumed and noted in ``provenance``."""
    given = table.efficiency
    return Efficiency(
        matmul=_matmul(table, provenance),
        attention=_attention(given, provenance),
        wave_quantisation=_or_assumed(given, "wave_quantisation", WAVE_QUANTISATION, provenance),
        memory=_or_assumed(given, "memory", MEMORY, provenance),
        kernel=_or_assumed(given, "kernel", KERNEL, provenance),
        sustained=_or_assumed(given, "sustained", SUSTAINED, provenance),
    )


def _matmul(table: ChipTable, provenance: dict[str, Source]) -> dict[str, float]:
    """Return the fraction of peak for every dtype that has a peak."""
    given = table.efficiency.matmul
    assumed = {dtype: MATMUL for dtype in table.peaks if dtype not in given}
    _note(provenance, "matmul", assumed)
    return {dtype: given.get(dtype, MATMUL) for dtype in table.peaks}


def _attention(
    given: EfficiencyTable, provenance: dict[str, Source]
) -> Mapping[str, AttentionCurve]:
    """Return the curves of the fused attention kernels; an empty table means there are none."""
    if given.attention is None:
        _note(provenance, "attention", ATTENTION)
        return ATTENTION
    return {
        kind: AttentionCurve(curve.peak_fraction, curve.half_length)
        for kind, curve in given.attention.items()
    }


def _or_assumed(
    given: EfficiencyTable, field: str, assumed: float, provenance: dict[str, Source]
) -> float:
    """Return a value of the efficiency table, or the assumed one, noted as such."""
    value: float | None = getattr(given, field)
    if value is not None:
        return value
    provenance[f"efficiency.{field}"] = ASSUMED
    return assumed


def _note(provenance: dict[str, Source], field: str, assumed: Mapping[str, object]) -> None:
    for key in assumed:
        provenance[f"efficiency.{field}.{key}"] = ASSUMED
