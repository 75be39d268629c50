"""The article's sample, line by line, with three stand-ins where this machine has no GPU.

    python docs/examples/article_sample.py & python docs/examples/article_sample.py

It never trains. Both processes believe that they are rank 0: ``current_device()`` is 0 in each
process until someone calls ``set_device``, and nobody does. The first one waits for a rank 1 that
will not come; the second one cannot open the port that the first one holds, and fails.
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817 - as in the article

PORT = os.environ.get("ARTICLE_PORT", "23456")


def current_device() -> int:
    """Stand in for ``torch.cuda.current_device``: 0 in every new process, as on a GPU machine."""
    return 0


def init_distributed() -> None:
    """Step 1 of the article, with gloo instead of nccl (stand-in)."""
    dist.init_process_group(
        backend="gloo",
        init_method=f"tcp://127.0.0.1:{PORT}",
        world_size=2,
        rank=0 if current_device() == 0 else 1,
    )


if __name__ == "__main__":
    print("rank", 0 if current_device() == 0 else 1, flush=True)
    init_distributed()  # the article defines it and never calls it; without a call DDP fails
    model = DDP(torch.nn.Linear(4, 2))  # stand-in for ResNet-50
    print("trains", flush=True)
