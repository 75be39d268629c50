"""What it costs to begin an operation: the part of a step that no faster chip makes shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch

from artery.meter.clock import Times, repeated
from artery.meter.device import Device

BATCH: Final = 200
"""Operations timed together: one alone is as short as the clock's own cost (assumed)."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Seconds per operation.

    ``host`` until the host may go on; ``device`` one after the other on the GPU; ``trip`` from the
    call until the result is there (the last two on GPUs only, else ``None``).
    """

    host: Times
    device: Times | None
    trip: Times | None


def dispatch(chip: Device, *, warmup: int, repeats: int) -> Dispatch:
    """Return what adding two numbers costs, called from Python through torch."""
    one, out = torch.ones(1, device=chip.torch), torch.empty(1, device=chip.torch)

    def add() -> object:
        return torch.add(one, one, out=out)

    def batch() -> None:
        for _ in range(BATCH):
            add()

    if chip.kind != "cuda":
        return Dispatch(_each(repeated(batch, warmup=warmup, repeats=repeats)), None, None)
    settled = torch.cuda.synchronize
    host = repeated(batch, warmup=warmup, repeats=repeats, before=settled)
    device = repeated(batch, warmup=warmup, repeats=repeats, before=settled, after=settled)
    trip = repeated(add, warmup=warmup, repeats=repeats * BATCH, before=settled, after=settled)
    return Dispatch(_each(host), _each(device), trip)


def _each(batches: Times) -> Times:
    return Times(tuple(seconds / BATCH for seconds in batches.seconds))
