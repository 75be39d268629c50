"""The article's sample with its faults repaired: ResNet-50 on two processes, on any machine.

    torchrun --nproc-per-node 2 docs/examples/article_repaired.py

What changed is numbered. With ``--no-sampler`` fault 3 stays in, to see what it does: every
process trains on the same samples, so that the mean over processes is the gradient of one.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817 - as in the article
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from artery.runner.data.digits import Digits
from artery.runner.models.resnet import ResNet


def main(*, sampler: bool, steps: int = 6) -> None:
    """Train ``steps`` steps of 16 samples per process on scikit-learn's digits."""
    # 1. The rank comes from whoever starts the processes, not from the device; and the device is
    #    chosen by the rank, before anything is put on it.
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    torch.set_num_threads(1)
    dist.init_process_group("nccl" if gpu else "gloo")

    # 2. torch.hub.load(..., pretrained=False) needs the network and a deprecated argument.
    torch.manual_seed(0)
    digits = Digits(32)
    model = DDP(ResNet("resnet50", digits.classes).to(device))

    # 3. Each process draws its own part of the samples; 4. and optimizer and dataloader exist.
    samples = torch.arange(digits.training)
    data = TensorDataset(samples)
    part = DistributedSampler(data, seed=0) if sampler else None
    loader = DataLoader(data, batch_size=16, sampler=part)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        images, labels = digits.train(indices)
        return cross_entropy(model(images.to(device)), labels.to(device))

    seen = []
    for (indices,), _ in zip(loader, range(steps), strict=False):
        loss = loss_of(indices)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(indices)
        print(f"rank {dist.get_rank()} loss {loss.item():.3f}", flush=True)

    with torch.no_grad():
        print(f"rank {dist.get_rank()} first batch again {loss_of(seen[0]):.3f}", flush=True)
    mine = torch.cat(seen)
    every = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(every, mine)
    if dist.get_rank() == 0:
        trained, distinct = len(torch.cat(every)), len(torch.cat(every).unique())
        print(f"trained on {trained} samples, {distinct} of them distinct", flush=True)
    dist.destroy_process_group()  # 5. the end is said, not left to the exit of the process


if __name__ == "__main__":
    main(sampler="--no-sampler" not in sys.argv)
