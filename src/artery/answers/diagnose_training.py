"""Arithmetic on what people say of a training run: facts that the rules can judge.

Memory: Adam in mixed precision keeps 16 bytes per parameter (Rajbhandari et al., ZeRO, SC 2020,
section 3.1): 2 of weights, 2 of gradients, 12 of optimizer states, which stages 1 to 3 share out.
Model FLOPS utilisation is against the dense peak (Chowdhery et al., PaLM, 2022, appendix B);
datasheets print twice that, with sparsity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from artery.catalog.chips import chip as chip_of
from artery.diagnoser.case import Fact, number
from artery.errors import InputError

Row = Mapping[str, Any]

WEIGHTS: Final = 2.0
GRADIENTS: Final = 2.0
STATES: Final = 12.0
"""Bytes per parameter: fp32 copy, momentum and variance."""

_SAME: Final = 0.03
"""Assumed: a size that is a whole copy of the parameters hits it this closely."""


def training_facts(
    facts: Mapping[str, Fact], rows: Sequence[Row], *, per_gpu: bool = False
) -> dict[str, Fact]:
    """Return what follows from the ``facts`` and measured ``rows`` of a training run.

    ``states_over_memory``: bytes that every GPU keeps over what it has; ``copy_bytes``: bytes per
    parameter of an allocation that is a whole copy of the parameters; ``mfu_dense`` and
    ``mfu_sparse``: achieved FLOP/s over either peak; ``efficiency_in_node``, ``efficiency_across``:
    throughput per GPU over that of the smallest run; ``implied_network_rate``: B/s that the
    longer step of several nodes implies. ``per_gpu`` says that throughputs are those of one GPU.
    """
    runs = _throughputs(facts, rows, per_gpu=per_gpu)
    found = [*_memory(facts, rows), *_utilisation(facts, rows), *_scaling(runs)]
    found += _implied(facts, rows)
    return dict(found)


def _memory(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    parameters = number(facts, "parameters")
    if not parameters:
        return
    there = number(facts, "memory_per_gpu") or _capacity(facts)
    if there:
        yield "states_over_memory", parameters * _bytes_kept(facts) / there
    for row in rows:
        asked = row.get("memory")
        if asked:
            for width in (4.0, 2.0):
                if abs(asked / (parameters * width) - 1) < _SAME:
                    yield "copy_bytes", width


def _bytes_kept(facts: Mapping[str, Fact]) -> float:
    """Return the bytes per parameter that every GPU keeps, after sharding."""
    split = (number(facts, "tp") or 1) * (number(facts, "pp") or 1)
    shares = max((number(facts, "ranks") or 1) / split, 1.0)
    stage = number(facts, "zero") or 0
    kept = STATES / (shares if stage >= 1 else 1)
    kept += GRADIENTS / (shares if stage >= 2 else 1)
    kept += WEIGHTS / (shares if stage >= 3 else 1)
    return kept / split


def _capacity(facts: Mapping[str, Fact]) -> float | None:
    try:
        return chip_of(str(facts["chip"])).memory.capacity if "chip" in facts else None
    except InputError:
        return None


def _utilisation(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    peak = _peak(facts)
    achieved = max((row["flops_per_gpu"] for row in rows if row.get("flops_per_gpu")), default=None)
    said = next((row["mfu"] for row in rows if row.get("mfu")), None)
    if said is not None:
        yield "mfu_said", float(said)
    if peak and achieved:
        yield "mfu_dense", achieved / peak
        yield "mfu_sparse", achieved / peak / 2
        if said is not None and abs(said * 2 * peak / achieved - 1) < 0.1:
            yield "mfu_of_sparse_peak", True


def _peak(facts: Mapping[str, Fact]) -> float | None:
    """Return the dense peak of the chip at bf16, else fp16."""
    try:
        peaks = chip_of(str(facts["chip"])).peaks if "chip" in facts else {}
    except InputError:
        return None
    return peaks.get("bf16") or peaks.get("fp16")


def _throughputs(
    facts: Mapping[str, Fact], rows: Sequence[Row], *, per_gpu: bool
) -> list[tuple[float, float, float]]:
    """Return (ranks, nodes, throughput) of each run that says all, fewest ranks first."""
    found = []
    for row in rows:
        rate = row.get("samples_per_s") or row.get("tokens_per_s") or row.get("speedup")
        nodes = row.get("nodes") or (facts.get("nodes") if "ranks" not in row else 1.0)
        ranks = row.get("ranks") or _product(nodes, facts.get("gpus_per_node"))
        if rate and ranks and nodes:
            found.append((float(ranks), float(nodes), float(rate) * (ranks if per_gpu else 1)))
    return sorted(found)


def _product(one: object, other: object) -> float | None:
    both = isinstance(one, float) and isinstance(other, float)
    return one * other if both and isinstance(one, float) and isinstance(other, float) else None


def _scaling(runs: Sequence[tuple[float, float, float]]) -> Iterator[tuple[str, Fact]]:
    inside = [run for run in runs if run[1] == 1]
    across = [run for run in runs if run[1] > 1]
    if len(inside) > 1:
        yield "efficiency_in_node", _efficiency(inside[0], inside[-1])
    if across and runs[0][0] < across[-1][0]:
        base = inside[-1] if inside else runs[0]
        yield "efficiency_across", _efficiency(base, across[-1])


def _efficiency(small: tuple[float, float, float], large: tuple[float, float, float]) -> float:
    return (large[2] / large[0]) / (small[2] / small[0])


def _implied(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    """Bandwidth of one node that a longer step of k nodes implies: 2(k-1)/k·bytes / the rest."""
    parameters = number(facts, "parameters")
    steps = sorted((row["nodes"], row["step_time"]) for row in rows
                   if row.get("nodes") and row.get("step_time"))  # fmt: skip
    if parameters and len(steps) > 1 and steps[0][0] == 1 and steps[-1][1] > steps[0][1]:
        nodes, longer = steps[-1][0], steps[-1][1] - steps[0][1]
        yield "implied_network_rate", 2 * (nodes - 1) / nodes * parameters * GRADIENTS / longer
