"""What one rank of tests/runner/test_exchange.py does: ``python -m tests.runner.exchange_ranks``.

Each case returns numbers; rank 0 writes them down, and the test says what they must be.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from artery.runner.exchange.choice import Choice, make_exchange
from artery.runner.exchange.compress import wire_bytes
from artery.runner.exchange.local import drift
from artery.runner.launch import FOLDER, stay_only_while_watched, world

SMALL = 4096
"""Bytes of a bucket, so that the model below has several."""

UNIT = {"none": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8}
"""Unit roundoff of fp32, fp16 (IEEE 754) and bf16 (8 bits of significand)."""


class Net(nn.Module):
    """Odd sizes, a convolution, and a layer that only rank 0 uses."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 7, 3)
        self.second = nn.Linear(7 * 4 * 4, 33)
        self.side = nn.Linear(33, 33)
        self.last = nn.Linear(33, 5)

    def forward(self, x: Tensor, *, extra: bool = False) -> Tensor:
        x = torch.tanh(self.second(torch.tanh(self.first(x)).flatten(1)))
        logits: Tensor = self.last(self.side(x) if extra else x)
        return logits


def net() -> Net:
    torch.manual_seed(0)
    return Net()


def batch(step: int = 0, rank: int | None = None) -> Tensor:
    rank = dist.get_rank() if rank is None else rank
    return torch.randn(6, 3, 6, 6, generator=torch.Generator().manual_seed(100 * step + rank))


def loss(model: nn.Module, step: int = 0, **how: Any) -> Tensor:
    value: Tensor = model(batch(step), **how).square().mean()
    return value


def backward(value: Tensor) -> None:
    value.backward()  # type: ignore[no-untyped-call]


def gradients(model: nn.Module) -> list[Tensor]:
    return [
        torch.zeros_like(one) if one.grad is None else one.grad.clone()
        for one in model.parameters()
    ]


def exact(own: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the mean over ranks of gradients and of their magnitudes, in fp64."""
    both = []
    for change in (Tensor.double, lambda one: one.double().abs()):
        sums = [change(one).clone() for one in own]
        for one in sums:
            dist.all_reduce(one)
        both.append([one / dist.get_world_size() for one in sums])
    return both[0], both[1]


def local_gradients(**how: Any) -> list[Tensor]:
    model = net()
    backward(loss(model, **how))
    return gradients(model)


def exchanged(choice: Choice, *, overlap: bool = True, **how: Any) -> list[Tensor]:
    model = net()
    exchange = make_exchange(choice)
    if overlap:
        exchange.begin(model, last=True)
    backward(loss(model, **how))
    exchange.reduce(model)
    return gradients(model)


def worst(found: list[Tensor], mean: list[Tensor], size: list[Tensor], unit: float) -> float:
    """Return the largest error over its bound, n·u·mean|g| and n smallest steps of fp16."""
    n = dist.get_world_size()
    floor = n * 2.0**-24 if unit == UNIT["fp16"] else 1e-40
    # A hundredth more: second-order terms of u; fp32 also rounds once in the division.
    bound = [(n + (unit == UNIT["none"])) * unit * 1.01 * one + floor for one in size]
    return max(
        float(((one.double() - two).abs() / three).max())
        for one, two, three in zip(found, mean, bound, strict=True)
    )


def rounding() -> dict[str, float]:
    extra = dist.get_rank() == 0
    mean, size = exact(local_gradients(extra=extra))
    return {
        kind: worst(
            exchanged(Choice(compress=kind, bucket_bytes=SMALL), extra=extra), mean, size, unit
        )
        for kind, unit in UNIT.items()
    }


def one_sided_gradient() -> dict[str, float]:
    """A layer used by rank 0 alone: the others count as zero, and get the mean."""
    extra = dist.get_rank() == 0
    own = local_gradients(extra=extra)
    mean, _ = exact(own)
    found = exchanged(Choice(bucket_bytes=SMALL), extra=extra)
    at = [name for name, _ in net().named_parameters()].index("side.weight")
    return {
        "own": float(own[at].abs().max()),
        "off": float((found[at].double() - mean[at]).abs().max() / mean[at].abs().max()),
    }


def overlap() -> dict[str, float]:
    """Bits that differ between sending behind backward and after it, and from bucket sizes."""
    late = exchanged(Choice(bucket_bytes=SMALL), overlap=False)
    early = exchanged(Choice(bucket_bytes=SMALL))
    return {"differ": float(sum((one != two).sum() for one, two in zip(late, early, strict=True)))}


def ddp() -> dict[str, float]:
    """Ours against torch's DistributedDataParallel."""
    ours = exchanged(Choice())
    model = net()
    for one in model.side.parameters():
        one.requires_grad_(False)
    wrapped = DistributedDataParallel(model)
    backward(loss(wrapped))
    mean, size = exact(local_gradients())
    theirs = gradients(model)
    return {
        "differ": float(sum((one != two).sum() for one, two in zip(ours, theirs, strict=True))),
        "theirs": worst(theirs, mean, size, UNIT["none"]),
        "ours": worst(ours, mean, size, UNIT["none"]),
    }


def accumulation() -> dict[str, float]:
    """Two micro-batches, one exchange: the mean over both and all ranks, sent once."""
    model = net()
    exchange = make_exchange(Choice(bucket_bytes=SMALL))
    for micro in range(2):
        exchange.begin(model, last=micro == 1)
        backward(loss(model, micro) / 2)
    exchange.reduce(model)
    plain = net()
    for micro in range(2):
        backward(loss(plain, micro) / 2)
    mean, size = exact(gradients(plain))
    whole = sum(one.nbytes for one in model.parameters())
    return {
        "error": worst(gradients(model), mean, size, UNIT["none"]),
        "sent": exchange.figures()["bytes_sent"] / whole,
    }


def bytes_on_the_wire() -> dict[str, float]:
    found = {}
    shapes = [one.shape for one in net().parameters()]
    for kind in ("none", "fp16", "bf16", "powersgd"):
        model = net()
        exchange = make_exchange(Choice(compress=kind, powersgd_rank=2))
        backward(loss(model))
        exchange.reduce(model)
        sent = exchange.figures()["bytes_sent"]
        found[kind] = sent
        found[f"{kind} expected"] = wire_bytes(kind, 2, shapes)
    return found


def low_rank() -> dict[str, float]:
    """Gradients whose mean has rank n go through PowerSGD of rank n without loss."""
    n = dist.get_world_size()
    model = nn.Linear(40, 30, bias=False)
    generator = torch.Generator().manual_seed(dist.get_rank())
    left, right = (torch.randn(size, generator=generator) for size in (30, 40))
    model.weight.grad = torch.outer(left, right)
    mean, _ = exact(gradients(model))
    make_exchange(Choice(compress="powersgd", powersgd_rank=n)).reduce(model)
    off = (gradients(model)[0].double() - mean[0]).norm() / mean[0].norm()
    return {"off": float(off)}


def feedback() -> dict[str, float]:
    """What PowerSGD loses in a step comes later: sums of steps and what is held add up."""
    model = nn.Linear(40, 30, bias=False)
    exchange = make_exchange(Choice(compress="powersgd", powersgd_rank=2))
    wanted = torch.zeros(30, 40, dtype=torch.float64)
    got = torch.zeros(30, 40, dtype=torch.float64)
    first = 0.0
    for step in range(20):
        generator = torch.Generator().manual_seed(1000 * step + dist.get_rank())
        model.weight.grad = torch.randn(30, 40, generator=generator)
        mean, _ = exact(gradients(model))
        exchange.reduce(model)
        wanted += mean[0]
        got += gradients(model)[0].double()
        first = first or float((got - wanted).norm() / wanted.norm())
    (held,) = exchange.state()["errors"].values()
    total = held.double().clone()
    dist.all_reduce(total)
    return {
        "first": first,
        "kept": float((got + total - wanted).norm() / wanted.norm()),
        "spread": spread(model.weight.grad),
    }


def spread(tensor: Tensor | None) -> float:
    """Return how far the ranks' copies of ``tensor`` are apart."""
    assert tensor is not None
    most, least = tensor.clone(), tensor.clone()
    dist.all_reduce(most, dist.ReduceOp.MAX)
    dist.all_reduce(least, dist.ReduceOp.MIN)
    return float((most - least).abs().max())


def resumed() -> dict[str, float]:
    """PowerSGD that goes on from its state takes the same steps, bit for bit."""
    choice = Choice(compress="powersgd", powersgd_rank=2)
    whole = make_exchange(choice)
    model = nn.Linear(40, 30)
    results = []
    state: dict[str, Any] = {}
    for exchange, steps in ((whole, range(6)), (make_exchange(choice), range(3, 6))):
        if state:
            exchange.load_state(state)
        for step in steps:
            if step == 3 and not state:
                state = copy.deepcopy(exchange.state())
            torch.manual_seed(10 * step + dist.get_rank())
            model.zero_grad()
            backward(model(torch.randn(4, 40)).square().sum())
            exchange.reduce(model)
        results.append(gradients(model))
    return {"differ": float(sum((a != b).sum() for a, b in zip(*results, strict=True)))}


def local_sgd() -> dict[str, float]:
    """Weights 1 + rank on every rank: mean 1 + (n - 1)/2, drift (n - 1)/2 over that mean."""
    layer, norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
    model = nn.Sequential(layer, norm)
    assert norm.running_var is not None
    assert norm.num_batches_tracked is not None
    with torch.no_grad():
        for one in (*model.parameters(), *model.buffers()):
            one.fill_(1 + dist.get_rank())
    exchange = make_exchange(Choice(sync=3))
    found = {"apart": drift(model)}
    for step in (1, 2, 3):
        exchange.begin(model, last=True)
        exchange.reduce(model)
        exchange.settle(model, step)
        found[f"weight after {step}"] = float(layer.weight.detach().mean())
        found[f"sent after {step}"] = exchange.figures()["bytes_sent"]
    figures = exchange.figures()
    found["largest drift"] = figures["largest_drift"]
    found["saved"] = figures["bytes_saved"]
    found["seconds saved over spent"] = figures["seconds_saved"] / figures["waited_s"]
    found["buffer"] = float(norm.running_var.mean())
    found["count"] = float(norm.num_batches_tracked)
    found["apart at the end"] = drift(model)
    alone = make_exchange(Choice(sync="none"))
    with torch.no_grad():
        layer.weight.add_(dist.get_rank())
    alone.settle(model, 1)
    found["never: apart"] = drift(model)
    figures = alone.figures()
    found["never: sent"] = figures["bytes_sent"]
    found["never: saved"] = figures["bytes_saved"]
    found["never: final drift"] = figures["final_drift"]
    return found


CASES: tuple[Callable[[], dict[str, float]], ...] = (
    rounding,
    one_sided_gradient,
    overlap,
    ddp,
    accumulation,
    bytes_on_the_wire,
    low_rank,
    feedback,
    resumed,
    local_sgd,
)


def main() -> None:
    stay_only_while_watched()
    torch.set_num_threads(1)
    here = world()
    assert here is not None
    dist.init_process_group("gloo", init_method=here.meeting, rank=here.rank, world_size=here.size)
    found = {case.__name__: case() for case in CASES}
    (Path(os.environ[FOLDER]) / f"{here.rank}.json").write_text(json.dumps(found), "utf-8")
    dist.barrier()
    dist.destroy_process_group()
    # DistributedDataParallel keeps gloo's threads alive, and one of them that still lets go of a
    # tensor while the interpreter ends aborts the process (pytorch/pytorch#190489).
    os._exit(0)


if __name__ == "__main__":
    main()
