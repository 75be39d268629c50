"""The collectives of ``torch.distributed``: gloo on CPUs, NCCL or RCCL on GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import distributed as dist

from artery.core.pricing import Collective
from artery.meter.collectives import Buffer, Operation, columns, row


class TorchLibrary:
    """The first ``ranks`` processes of the default group, as a group of their own."""

    def __init__(self, ranks: int) -> None:
        everybody = dist.get_world_size() == ranks
        self._group = None if everybody else dist.new_group(list(range(ranks)))
        self.rank, self.ranks = dist.get_rank(), ranks

    @property
    def title(self) -> str:
        """``nccl 2.27.5`` or ``gloo (torch 2.13.0)``."""
        if dist.get_backend() == "nccl":
            numbers = ".".join(map(str, torch.cuda.nccl.version()))  # type: ignore[no-untyped-call]
            return f"{'rccl' if torch.version.hip else 'nccl'} {numbers}"
        return f"{dist.get_backend()} (torch {torch.__version__})"

    def prepare(self, collective: Collective, buffer: Buffer) -> Operation:
        """Return ``collective`` over ``buffer``; see :class:`artery.meter.collectives.Library`."""
        made: dict[Collective, Callable[[Any], Operation]] = {
            "all_reduce": self._all_reduce,
            "all_gather": self._all_gather,
            "reduce_scatter": self._reduce_scatter,
            "alltoall": self._alltoall,
            "broadcast": lambda flat: Operation(lambda: dist.broadcast(flat, 0, self._group)),
            "reduce": lambda flat: Operation(lambda: dist.reduce(flat, 0, group=self._group)),
            "sendrecv": self._sendrecv,
        }
        return made[collective](buffer)

    def _all_reduce(self, flat: torch.Tensor) -> Operation:
        return Operation(lambda: dist.all_reduce(flat, group=self._group))

    def _all_gather(self, flat: torch.Tensor) -> Operation:
        mine = row(flat, self.rank, self.ranks).clone()
        return Operation(lambda: dist.all_gather_into_tensor(flat, mine, group=self._group))

    def _reduce_scatter(self, flat: torch.Tensor) -> Operation:
        place = row(flat, self.rank, self.ranks)
        out = torch.empty_like(place)
        return Operation(
            lambda: dist.reduce_scatter_tensor(out, flat, group=self._group),
            lambda: place.copy_(out),
        )

    def _alltoall(self, flat: torch.Tensor) -> Operation:
        mine = row(flat, self.rank, self.ranks)
        out = torch.empty_like(mine)

        def settle() -> None:
            blocks = out.chunk(self.ranks)
            for place, block in zip(columns(flat, self.rank, self.ranks), blocks, strict=True):
                place.copy_(block)

        return Operation(lambda: dist.all_to_all_single(out, mine, group=self._group), settle)

    def _sendrecv(self, flat: torch.Tensor) -> Operation:
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        mine, theirs = row(flat, self.rank, self.ranks), row(flat, before, self.ranks)
        operations = [dist.P2POp(dist.irecv, theirs, before), dist.P2POp(dist.isend, mine, after)]

        def run() -> None:
            for work in dist.batch_isend_irecv(operations):
                work.wait()

        return Operation(run)
