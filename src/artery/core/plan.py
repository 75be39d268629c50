"""``Plan``: how a job is split over chips and scheduled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Recompute = Literal["none", "selective", "full"]
AttentionKind = Literal["eager", "flash1", "flash2", "flash3"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run a job: tp·pp·cp·dp chips.

    Degrees: tensor ``tp``, pipeline ``pp`` with ``vpp`` model chunks per stage, context
    ``cp``, expert ``ep`` and expert-tensor ``etp`` (inside dp·cp·tp, no factor of the chip
    count: etp·ep·edp·pp = chips), data ``dp`` of which ``dp_replicate`` copies are only
    replicated (HSDP). ``zero`` is the ZeRO stage 0 to 3 (3 = FSDP). ``micro_batch`` and
    ``global_batch`` count samples, ``sequence`` rows per sample. ``overlap`` names the kinds
    of communication hidden behind compute (``dp``, ``tp``, ``pp``, ``ep``); ``None`` leaves
    it to the framework profile. ``recompute_layers`` is the share of layers to which ``full``
    recomputation applies; ``load_factor`` is the load of the busiest expert over the mean.
    """

    tp: int = 1
    pp: int = 1
    vpp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int = 1
    dp: int = 1
    dp_replicate: int = 1
    zero: int = 0
    micro_batch: int = 1
    global_batch: int = 1
    sequence: int = 1
    dtype: str = "bf16"
    grad_dtype: str = "fp32"
    recompute: Recompute = "none"
    recompute_layers: float = 1.0
    sequence_parallel: bool = False
    attention: AttentionKind = "flash2"
    overlap: tuple[str, ...] | None = None
    framework: str = "megatron-core"
    optimizer: str = "adam"
    placement: str = "packed"
    load_factor: float = 1.1

    @property
    def chips(self) -> int:
        """Chips that the plan uses: tp·pp·cp·dp."""
        return self.tp * self.pp * self.cp * self.dp

    @property
    def micro_batches(self) -> int:
        """Micro-batches per pipeline and step: global_batch / (dp·micro_batch)."""
        return self.global_batch // (self.dp * self.micro_batch)
