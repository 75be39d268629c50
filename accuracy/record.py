"""``Record``: one published measurement as it stands in ``data/*.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

DATA = Path(__file__).parent / "data"
FILES = ("megatron", "dgxc", "foundry", "training", "a100", "bloom", "bridge", "mlperf", "vision")
SUPPLEMENT = DATA / "supplements.csv"

DTYPES: Mapping[str, str] = MappingProxyType(
    {
        "": "unpublished",
        "fp16 mixed": "fp16",
        "amp fp16": "fp16",
        "fp16/bf16 mixed": "bf16",
        "bf16": "bf16",
        "BF16": "bf16",
        "amp_bf16": "bf16",
        "bf16 eager": "bf16",
        "bf16 torch.compile": "bf16",
        "BF16 SFT": "bf16",
        "BF16 LoRA": "bf16",
        "tf32": "tf32",
        "fp32": "fp32",
        "NVFP4": "fp4",
        "as submitted (fp16/bf16 mixed)": "fp16",
    }
)
"""The training dtype by the words of the source; whatever names FP8 is ``fp8``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row: the published values, ``None`` or empty where nothing is published.

    ``seconds`` per step, ``samples_per_s`` and ``tflops`` (10^12 FLOP/s per chip) as printed,
    ``memory_gib`` the peak in GiB per chip; batches count samples, ``sequence`` tokens each.
    """

    id: str
    dataset: str
    source: str
    tier: str
    confidence: str
    accelerator: str
    network: str
    chips: int | None
    model: str
    layers: int | None
    hidden: int | None
    heads: int | None
    kv_heads: int | None
    ffn: int | None
    vocab: int | None
    sequence: int | None
    precision: str
    tp: int | None
    pp: int | None
    vpp: int | None
    cp: int | None
    ep: int | None
    etp: int | None
    dp: int | None
    sharding: str
    sequence_parallel: str
    recompute: str
    micro_batch: int | None
    global_batch: int | None
    framework: str
    seconds: float | None
    seconds_kind: str
    samples_per_s: float | None
    tflops: float | None
    memory_gib: float | None
    conditions: str

    @property
    def dtype(self) -> str:
        """The training dtype: ``bf16``, ``fp16``, ``fp8``, ``fp4``, ``tf32``, ``fp32``."""
        if "fp8" in self.precision.lower() or "float8" in self.precision:
            return "fp8"
        return DTYPES[self.precision]

    @property
    def recalled(self) -> bool:
        """Whether the measured value was written down from memory and awaits a check."""
        return self.confidence.startswith("from memory")

    @property
    def measured(self) -> float | None:
        """Seconds per step: as printed, else from what the source prints in its place.

        From samples per second: global_batch / samples_per_s. From Megatron's FLOP/s per chip:
        96·B·s·l·h²·(1 + s/(6h) + V/(16·l·h)) / (chips·FLOP/s), Narayanan et al. 2021
        (arXiv 2104.04473), equation (4), which counts the recomputed forward pass.
        """
        if self.seconds is not None:
            return self.seconds
        if self.samples_per_s and self.global_batch:
            return self.global_batch / self.samples_per_s
        shape = (self.global_batch, self.sequence, self.layers, self.hidden, self.vocab)
        if self.tflops is None or self.chips is None or None in shape:
            return None
        batch, s, layers, h, vocab = (float(value or 0) for value in shape)
        flops = 96 * batch * s * layers * h * h * (1 + s / (6 * h) + vocab / (16 * layers * h))
        return flops / (self.chips * self.tflops * 1e12)


def read_records(data: Path = DATA) -> tuple[Record, ...]:
    """Return all records of ``data``, with what the supplement knows about them filled in.

    Raises ``ValueError`` if two rows carry one id or a supplement names an unknown row.
    """
    records = [_record(row) for name in FILES for row in _rows(data / f"{name}.csv")]
    by_id = {record.id: record for record in records}
    if len(by_id) != len(records):
        raise ValueError("two rows carry one id")
    for row in _rows(data / SUPPLEMENT.name):
        known = by_id.get(row["id"])
        if known is None:
            raise ValueError(f"{SUPPLEMENT.name}: no row {row['id']}")
        by_id[row["id"]] = replace(known, **{row["field"]: _value(row["field"], row["value"])})
    return tuple(by_id.values())


def _rows(path: Path) -> Iterable[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _record(row: Mapping[str, str]) -> Record:
    return Record(**{field.name: _value(field.name, row[field.name]) for field in fields(Record)})


def _value(name: str, text: str) -> Any:  # noqa: ANN401  # str, int, float or None, by column
    """The cell ``text`` as the type that the column ``name`` has in ``Record``."""
    kind = Record.__annotations__[name]
    if kind == "str":
        return text
    if not text:
        return None
    return int(text) if kind == "int | None" else float(text)
