"""The clock of a step, against cases worked out by hand, and costs against planted ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.runner.costs import Costs, fit, nonnegative
from artery.runner.machine import Machine, Wire, typical
from artery.runner.measured import Run
from artery.runner.operators import Operator, count
from artery.runner.overlap import Bucket, Share, fitted, play
from artery.runner.tasks import find_task

FREE = Share(1.0, 1.0)


def test_without_overlap_everything_comes_after() -> None:
    buckets = [Bucket(2, 0.1, 3, 0.2), Bucket(4, 0.1, 1, 0.2)]
    line = play(5, 1, buckets, FREE, overlap=False)
    assert line.step_s == pytest.approx(5 + 0.2 + 4 + 0.4 + 1)
    assert line.compute_s == 6
    assert line.communication_s == pytest.approx(4)
    assert line.exposed_s == pytest.approx(4.6)


def test_a_bucket_hides_behind_the_rest_of_backward() -> None:
    """Full after 2 of 5 s, 3 s on the wire: done when backward is; another 1 s sticks out."""
    assert play(5, 1, [Bucket(2, 0, 3, 0)], FREE, overlap=True).exposed_s == pytest.approx(0)
    line = play(5, 1, [Bucket(2, 0, 3, 0), Bucket(5, 0, 1, 0)], FREE, overlap=True)
    assert (line.exposed_s, line.communication_s) == pytest.approx((1, 4))


def test_shared_cores_make_both_slower() -> None:
    """Half speed each: 3 s of all-reduce take the last 3 s of work with them, 6 s in all."""
    line = play(5, 0, [Bucket(2, 0, 3, 0)], Share(0.5, 0.5), overlap=True)
    assert (line.step_s, line.communication_s) == pytest.approx((2 + 6, 6))
    # 4 s of all-reduce: 6 s beside the work, in which 3 are done, and 1 s alone.
    line = play(5, 0, [Bucket(2, 0, 4, 0)], Share(0.5, 0.5), overlap=True)
    assert (line.step_s, line.communication_s) == pytest.approx((2 + 6 + 1, 7))


def test_a_share_is_found_again() -> None:
    buckets = [Bucket(2, 0.1, 3, 0.1), Bucket(4, 0.1, 4, 0.1)]
    share = Share(0.6, 0.3)
    line = play(6, 1, buckets, share, overlap=True)
    found = fitted(6, 1, buckets, step_s=line.step_s, communication_s=line.communication_s)
    again = play(6, 1, buckets, found, overlap=True)
    assert again.step_s == pytest.approx(line.step_s, rel=0.01)
    assert again.communication_s == pytest.approx(line.communication_s, rel=0.01)


def test_least_squares_without_negative_constants() -> None:
    rows = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    assert nonnegative(rows, np.array([3.0, 5.0, 7.0])) == pytest.approx((1, 2))
    # The line through these falls below zero at the left: the fixed part is left out.
    slope = (1 * 1 + 2 * 4 + 3 * 7) / (1 + 4 + 9)
    assert nonnegative(rows, np.array([1.0, 4.0, 7.0])) == pytest.approx((0, slope))


def planted(flops: float, moved: float) -> Operator:
    seconds = 1e-5 + flops / 5e10 + moved / 1e10
    return Operator("forward", "mm", "product", flops, moved, seconds)


def test_planted_costs_are_found_again() -> None:
    rows = [planted(flops, moved) for flops in (1e6, 1e8, 1e9) for moved in (1e4, 1e6, 3e7)]
    other = Operator("forward", "add", "other", 0, 1e6, 1e-4)
    costs = fit([*rows, other], len(rows) + 1, sum(one.seconds for one in rows) + 1e-4 + 2e-3)
    product = costs.kinds["product"]
    assert (product.fixed_s, product.s_per_flop, product.s_per_byte) == pytest.approx(
        (1e-5, 1 / 5e10, 1e-10)
    )
    assert costs.host_s == pytest.approx(2e-3 / (len(rows) + 1))
    unseen = Operator("forward", "conv", "convolution", 1e9, 1e6)
    assert costs.borrowed([unseen]) == ("convolution",)
    assert costs.seconds([unseen])[0] == pytest.approx(
        costs.host_s + 1e-5 + 1e9 / 5e10 + 1e-4, rel=1e-6
    )


def test_operators_are_counted_without_computing() -> None:
    """ResNet-18 at 224 pixels: 1.814 G multiply-adds forward (He et al. 2015: 1.8).

    Three times that with backward, less the gradient of the image that nobody needs.
    """
    counted = count(find_task("resnet18", size=224), 2)
    forward = sum(one.flops for one in counted.operators if one.phase == "forward")
    assert forward / 2 == pytest.approx(2 * 1.814e9, rel=0.003)
    first = 2 * 2 * 64 * 3 * 49 * 112**2
    assert counted.flops == pytest.approx(3 * forward - first, rel=0.001)
    assert sum(counted.buckets) == 4 * (11_689_512 - 990 * 513)
    assert list(counted.ready) == sorted(counted.ready)


def test_a_transformer_is_counted_with_its_attention() -> None:
    """6 FLOP per weight of a product and token; attention 12·layers·width·length² (not halved)."""
    tokens, length = 3 * 32, 32
    counted = count(find_task("transformer", size=length), 3)
    weights = 4 * 12 * 256**2 + 256 * 256
    attention = 4 * (4 + 10) * 256 * length * tokens
    assert counted.flops == pytest.approx(6 * weights * tokens + attention, rel=0.002)


def machine(cores: int = 2) -> Machine:
    rows = [planted(flops, moved) for flops in (1e6, 1e8, 1e9) for moved in (1e4, 1e6, 3e7)]
    other = [Operator("forward", "add", "other", 0, size, size / 1e10) for size in (1e4, 1e6)]
    costs = fit([*rows, *other], 1, 0)
    return Machine(Costs(costs.kinds, 0.0), {(2, "none"): Wire(2, 1e-4, 1e-9)}, 1.0, FREE, cores, 0)


def test_other_numbers_of_ranks_are_drawn_out() -> None:
    """A ring of 4: three times the steps; 3/2 of the bytes; two ranks on each of two cores."""
    wire = machine().wire(4, "none")
    assert wire.latency_s == pytest.approx(3 * 2 * 1e-4)
    assert wire.s_per_byte == pytest.approx(1.5 * 2 * 1e-9)
    alone = machine(cores=4).wire(4, "none")
    assert alone.s_per_byte == pytest.approx(1.5e-9)
    assert machine().wire(2, "none").bus_bytes_per_s == pytest.approx(1e9)


def test_a_step_follows_from_its_parts() -> None:
    run = Run("transformer", size=16, batch=2, overlap=False)
    one, two, four = (machine().step(run, ranks) for ranks in (1, 2, 4))
    assert one.timeline.exposed_s == 0
    assert two.timeline.compute_s == pytest.approx(one.timeline.compute_s)
    assert four.timeline.compute_s == pytest.approx(2 * one.timeline.compute_s)
    size = 4 * (4 * (12 * 256**2 + 13 * 256) + 2 * 256 * 256 + 256 + 16 * 256 + 512)
    assert sum(two.sizes) == size
    assert two.timeline.communication_s == pytest.approx(len(two.sizes) * 1e-4 + size * 1e-9)
    copies = 2 * 2 * size / 1e10
    assert two.timeline.exposed_s == pytest.approx(two.timeline.communication_s + copies)
    twice = machine().step(replace(run, accumulate=2), 2)
    assert twice.timeline.exposed_s == pytest.approx(two.timeline.exposed_s)
    assert twice.forward_s == pytest.approx(2 * two.forward_s)


def test_typical_is_the_lower_quartile() -> None:
    assert typical([4.0, 1.0, 2.0, 3.0, 100.0]) == pytest.approx(1.5)
    assert typical([7.0]) == 7.0
