"""Arithmetic on what people say of a training run: facts that the rules can judge.

Memory: Adam in mixed precision keeps 16 bytes per parameter (Rajbhandari et al., ZeRO, SC 2020,
section 3.1): 2 of weights, 2 of gradients, 12 of optimizer states, which stages 1 to 3 share out.
Adapters (Hu et al., LoRA, 2021) leave the weights alone: gradients and states are those of so few
that they do not count.
Model FLOPS utilisation is against the dense peak (Chowdhery et al., PaLM, 2022, appendix B);
datasheets print twice that, with sparsity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from artery.answers.diagnose.scaling import scaling_facts
from artery.answers.diagnose.words import failed_allocations, out_of_memory
from artery.catalog.chips import chip as chip_of
from artery.diagnoser.case import Fact, number
from artery.errors import InputError
from artery.units import show_bytes, show_count

Row = Mapping[str, Any]

WEIGHTS: Final = 2.0
GRADIENTS: Final = 2.0
STATES: Final = 12.0
"""Bytes per parameter: fp32 copy, momentum and variance."""

_OTHER_STATES: Final[Mapping[str, float]] = {"sgd": 8.0, "adafactor": 4.0}
"""Of other optimizers: fp32 copy and momentum; fp32 copy, factors of rows and columns (Shazeer and
Stern, Adafactor, ICML 2018) too few to count."""

_ADAPTERS: Final = re.compile(r"\bQ?LoRA\b|\badapters?\b|\bPEFT\b", re.IGNORECASE)

_EXPERTS: Final = re.compile(
    r"\bMoE\b|mixture[- ]of[- ]experts|\bA\d+B\b|mixtral|混合专家", re.IGNORECASE
)

_RAN: Final = frozenset({
    "step_time", "run_time", "samples_per_s", "tokens_per_s", "samples_per_s_per_gpu",
    "tokens_per_s_per_gpu", "flops_per_gpu", "mfu", "speedup", "busbw", "algbw", "no_change",
})  # fmt: skip
"""Measurements of a run that ran: its states fitted, or it is no training."""

_SAME: Final = 0.03
"""Assumed: a size that is a whole copy of the parameters hits it this closely."""


def training_facts(
    facts: Mapping[str, Fact], rows: Sequence[Row], *, texts: Sequence[str] = ()
) -> dict[str, Fact]:
    """Return what follows from the ``facts`` and measured ``rows`` of a training run.

    ``states_over_memory``: bytes that every GPU keeps over what it has; ``copy_bytes``: bytes per
    parameter of an allocation that is a whole copy of the parameters; ``states_needed`` and
    ``copy_of_parameters``: the same arithmetic in words; ``mfu_of_active_parameters``: more than
    the peak, counted by the experts that a token meets; ``mfu_dense`` and
    ``mfu_sparse``: achieved FLOP/s over either peak; ``implied_network_rate``: B/s that the
    longer step of several nodes implies; ``out_of_memory``, ``no_change``, ``of_expected`` as
    measured; those of :mod:`artery.answers.diagnose.scaling`. ``texts`` is what was said in
    words.
    """
    found = [*_memory(facts, rows, texts), *_utilisation(facts, rows)]
    if "active_share" in facts or any(map(_EXPERTS.search, [*texts, str(facts.get("model", ""))])):
        found.append(("mixture_of_experts", True))
    found += scaling_facts(facts, rows)
    found += [*_implied(facts, rows), *_stated(facts, rows)]
    return dict(found)


def _stated(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    shares = [row["of_expected"] for row in rows if (row.get("of_expected") or 0) > 0]
    if shares:
        yield "of_expected", min(shares)
    if any(row.get("no_change") for row in rows):
        yield "no_change", True
        if (number(facts, "pp") or 1) > 1:
            yield "pipeline_indifferent", True


def _memory(
    facts: Mapping[str, Fact], rows: Sequence[Row], texts: Sequence[str]
) -> Iterator[tuple[str, Fact]]:
    asked = [float(row["allocation"]) for row in rows if row.get("allocation")]
    asked = asked or list(failed_allocations(texts))
    full = bool(asked) or out_of_memory(texts) or any(row.get("out_of_memory") for row in rows)
    if full:
        yield "out_of_memory", True
    parameters = number(facts, "parameters")
    if not parameters:
        return
    there = number(facts, "memory_per_gpu") or _capacity(facts)
    if there and (full or not any(_RAN & set(row) for row in rows)):
        kept = _bytes_kept(facts, adapters=any(map(_ADAPTERS.search, texts)))
        yield "states_over_memory", parameters * kept / there
        each = f"{show_count(parameters)} parameters x {kept:.3g} bytes that every GPU keeps"
        yield "states_needed", f"{each}: {show_bytes(parameters * kept)} of {show_bytes(there)}"
    for bytes_ in asked or [float(row["memory"]) for row in rows if row.get("memory")]:
        for width in (4.0, 2.0):
            if abs(bytes_ / (parameters * width) - 1) < _SAME:
                yield "copy_bytes", width
                kind = "fp32" if width == 4.0 else "16-bit"
                whole = f"a whole {kind} copy of {parameters:.3g} parameters"
                yield "copy_of_parameters", f"{bytes_ / 2**30:.2f} GiB is {whole}"


def states_of(facts: Mapping[str, Fact]) -> float:
    """Return the bytes per parameter that the optimizer keeps; Adam's where none is named."""
    return _OTHER_STATES.get(str(facts.get("optimizer")), STATES)


def _bytes_kept(facts: Mapping[str, Fact], *, adapters: bool) -> float:
    """Return the bytes per parameter that every GPU keeps, after sharding."""
    split = (number(facts, "tp") or 1) * (number(facts, "pp") or 1)
    # Where nobody counts nodes or ranks, one whole node is meant.
    ranks = number(facts, "ranks") or number(facts, "gpus_per_node") or 1
    shares = max(ranks / split, 1.0)
    stage = number(facts, "zero") or 0
    kept = WEIGHTS / (shares if stage >= 3 else 1)
    if not adapters:
        kept += states_of(facts) / (shares if stage >= 1 else 1)
        kept += GRADIENTS / (shares if stage >= 2 else 1)
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
    share = number(facts, "active_share")
    over = achieved / peak if peak and achieved else said
    if share and over and over > 1:
        yield "mfu_of_active_parameters", over * share
    if peak and achieved:
        yield "mfu_dense", achieved / peak
        yield "mfu_sparse", achieved / peak / 2
        if said is not None and abs(said * 2 * peak / achieved - 1) < 0.1:
            yield "mfu_of_sparse_peak", True


def _peak(facts: Mapping[str, Fact]) -> float | None:
    """Return the dense peak at bf16, else fp16, where all chips that it may be have the same."""
    named = str(facts.get("chip") or facts.get("chips") or "")
    found = {_dense(name) for name in named.split(", ") if name}
    return found.pop() if len(found) == 1 else None


def _dense(name: str) -> float | None:
    try:
        peaks = chip_of(name).peaks
    except InputError:
        return None
    return peaks.get("bf16") or peaks.get("fp16")


def _implied(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    """Bandwidth of one node that a longer step of k nodes implies: 2(k-1)/k·bytes / the rest."""
    parameters = number(facts, "parameters")
    steps = sorted((row["nodes"], row["step_time"]) for row in rows
                   if row.get("nodes") and row.get("step_time"))  # fmt: skip
    if parameters and len(steps) > 1 and steps[0][0] == 1 and steps[-1][1] > steps[0][1]:
        nodes, longer = steps[-1][0], steps[-1][1] - steps[0][1]
        yield "implied_network_rate", 2 * (nodes - 1) / nodes * parameters * GRADIENTS / longer
