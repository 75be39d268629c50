"""Gradients of logical workers, summed in a fixed order."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from artery.runner.consistent import logical_gradients, shares
from artery.runner.worker.batches import batch, share


@given(st.integers(0, 200), st.integers(1, 40))
def test_shares_cover_everything_once_and_are_even(parts: int, ranks: int) -> None:
    found = shares(parts, ranks)
    assert [part for mine in found for part in mine] == list(range(parts))
    assert max(map(len, found)) - min(map(len, found)) <= 1


@given(st.integers(1, 50), st.integers(0, 300), st.integers(1, 60), st.integers(0, 3))
def test_batches_follow_each_other_without_gap(
    samples: int, start: int, count: int, seed: int
) -> None:
    whole = batch(seed, samples, 0, start + count)
    assert torch.equal(batch(seed, samples, start, count), whole[start:])
    # Every pass holds every sample once.
    passes = batch(seed, samples, 0, 3 * samples).view(3, samples)
    assert torch.equal(passes.sort(dim=1).values, torch.arange(samples).expand(3, samples))
    parts = [share(whole, part, 7) for part in range(7)]
    assert torch.equal(torch.cat(parts), whole)


def test_the_weighted_sum_is_the_gradient_of_the_whole_batch() -> None:
    torch.manual_seed(0)
    model = nn.Linear(5, 3, dtype=torch.float32)
    inputs, wanted = torch.randn(12, 5), torch.randn(12, 3)
    pieces = [range(5), range(5, 8), range(8, 12)]

    def loss(worker: int) -> torch.Tensor:
        part = list(pieces[worker])
        return nn.functional.mse_loss(model(inputs[part]), wanted[part])

    weights = [len(piece) / 12 for piece in pieces]
    logical_gradients(model, range(3), weights, loss, rank=0, ranks=1)
    found = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    nn.functional.mse_loss(model(inputs), wanted).backward()  # type: ignore[no-untyped-call]
    for mine, parameter in zip(found, model.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad)


def test_statistics_of_batch_norms_are_the_mean_over_logical_workers() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(2, momentum=0.5), nn.Linear(2, 1))
    inputs = torch.randn(8, 2)
    norm = model[0]
    assert isinstance(norm, nn.BatchNorm1d)

    def loss(worker: int) -> torch.Tensor:
        found: torch.Tensor = model(inputs[4 * worker : 4 * worker + 4])
        return found.square().mean()

    logical_gradients(model, range(2), [0.5, 0.5], loss, rank=0, ranks=1)
    # Each begins at 0 and goes half the way to the mean of its own four samples.
    expected = torch.stack([inputs[:4].mean(0) / 2, inputs[4:].mean(0) / 2]).mean(0)
    assert norm.running_mean is not None
    torch.testing.assert_close(norm.running_mean, expected)
