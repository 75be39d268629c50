"""Messages through ``torch.distributed``: gloo between CPUs, NCCL or RCCL between GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import distributed as dist

from artery.errors import UsageError
from artery.runner.executor.transport import Buffer, Parcel, Work

TYPES: Final = {
    "int8": torch.int8, "uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64,
    "half": torch.float16, "float": torch.float32, "double": torch.float64,
    "bfloat16": torch.bfloat16,
}  # fmt: skip
"""Types of elements, by nccl-tests' names."""


def type_of(dtype: str) -> torch.dtype:
    """Return torch's type; raises ``UsageError`` for one that it cannot add."""
    if dtype not in TYPES:
        raise UsageError(f"torch adds no {dtype}; use one of {', '.join(TYPES)}")
    return TYPES[dtype]


class TorchTransport:
    """Point-to-point messages of the default process group; buffers live on ``device``."""

    def __init__(self) -> None:
        self.process = dist.get_rank()
        self.processes = dist.get_world_size()
        self._batched = dist.get_backend() == "nccl"
        self.device = torch.device(
            f"cuda:{torch.cuda.current_device()}" if self._batched else "cpu"
        )

    def empty(self, elements: int, dtype: str) -> Buffer:
        """Return a tensor on the device; see :class:`Transport`."""
        return torch.empty(elements, dtype=type_of(dtype), device=self.device)

    def filled(self, buffer: Buffer, values: np.ndarray) -> None:
        """Write ``values`` into the tensor."""
        buffer.copy_(torch.from_numpy(np.ascontiguousarray(values)))

    def read(self, buffer: Buffer) -> np.ndarray:
        """Return the tensor as an array; floats of every kind become float64."""
        found = buffer.detach().cpu()
        array: np.ndarray = (found.double() if found.is_floating_point() else found).numpy()
        return array

    def post(
        self, sends: Sequence[Parcel], receives: Sequence[Parcel]
    ) -> tuple[list[Work], list[Work]]:
        """Begin all at once; NCCL takes them as one group, in which nobody waits for another."""
        if self._batched:
            return self._group(sends, receives)
        come = [dist.irecv(one.view, one.peer, tag=one.tag) for one in receives]
        left = [dist.isend(one.view, one.peer, tag=one.tag) for one in sends]
        return left, come  # type: ignore[return-value] # None only outside of the group

    def _group(
        self, sends: Sequence[Parcel], receives: Sequence[Parcel]
    ) -> tuple[list[Work], list[Work]]:
        operations = [dist.P2POp(dist.irecv, one.view, one.peer) for one in receives]
        operations += [dist.P2POp(dist.isend, one.view, one.peer) for one in sends]
        if not operations:
            return [], []
        works = dist.batch_isend_irecv(operations)
        if len(works) == len(operations):
            return list(works[len(receives) :]), list(works[: len(receives)])
        return [works[-1]] * len(sends), [works[-1]] * len(receives)  # coalesced into one

    def progress(self) -> None:
        """Do nothing: threads of the backend carry the messages."""

    def finish(self) -> None:
        """Wait for the GPU; on a CPU everything waited for is done."""
        if self._batched:
            torch.cuda.synchronize(self.device)
