"""One rank of an all-reduce in a lab: ``python -m artery.runner.lab.allreduce BYTES REPEATS``.

Sizes are divided by commas. Rank 0 prints a line when a size is done, and at the end one object of
JSON: for every size the seconds of each repeat, of the slowest rank, and whether every sum was
right.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from time import perf_counter
from typing import Final

from artery.runner.ranks import end, gather

WARM: Final = 2
"""Repeats that do not count: connections open, windows grow, pages are touched."""


def main() -> int:
    """Take part; return the exit code."""
    import torch
    import torch.distributed as ranks

    sizes = [int(size) for size in sys.argv[1].split(",")]
    repeats = int(sys.argv[2])
    torch.set_num_threads(1)
    patience = timedelta(seconds=float(os.environ.get("ARTERY_TIMEOUT", "300")))
    gather("gloo", timeout=patience)
    rank, world = ranks.get_rank(), ranks.get_world_size()
    wanted = world * (world + 1) / 2
    rows = []
    for size in sizes:
        taken: list[float] = []
        right = True
        for _ in range(WARM + repeats):
            values = torch.full((max(1, size // 4),), float(rank + 1))
            ranks.barrier()
            begun = perf_counter()
            ranks.all_reduce(values)
            slowest = torch.tensor([perf_counter() - begun], dtype=torch.float64)
            right = right and bool((values == wanted).all())
            ranks.all_reduce(slowest, op=ranks.ReduceOp.MAX)
            taken.append(float(slowest))
        if rank == 0:
            least = min(taken[WARM:])
            print(f"{size} bytes: {least:.6f} s at least", flush=True)  # noqa: T201 (progress)
        rows.append({"size_bytes": size, "seconds": taken[WARM:], "right": right})
    if rank == 0:
        print(json.dumps({"ranks": world, "calls": WARM + repeats, "rows": rows}), flush=True)  # noqa: T201 (the answer)
    ranks.destroy_process_group()
    return 0


if __name__ == "__main__":
    end(main)
