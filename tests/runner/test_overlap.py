"""The clock of a step, against cases worked out by hand, and costs against planted ones."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from torch import nn

from artery.runner.exchange.buckets import bucketed
from artery.runner.exchange.compress import wire_bytes
from artery.runner.probing.calibration import REFERENCE, calibrated
from artery.runner.probing.costs import Costs, fit, nonnegative
from artery.runner.probing.exchanged import ExchangeTimer, count_exchange
from artery.runner.probing.machine import Machine, Sharing, Wire
from artery.runner.probing.measured import Run, communication, typical
from artery.runner.probing.operators import Operator, count
from artery.runner.probing.overlap import Bucket, Sent, play
from artery.runner.tasks import find_task


def bucket(ready: float, pack: float, wire: float, unpack: float, beside: float = 1.0) -> Bucket:
    """A bucket whose all-reduce takes ``beside`` times as long beside computing."""
    return Bucket(ready, pack, Sent(wire, wire * beside), unpack)


def test_without_overlap_everything_comes_after() -> None:
    """5 s, a copy; 3 s on the wire, behind which the next copy hides, then 1 s, in which 0.2 s."""
    buckets = [bucket(2, 0.1, 3, 0.2), bucket(4, 0.1, 1, 0.2)]
    line = play(5, 1, buckets, 1.0, overlap=False)
    assert line.step_s == pytest.approx(5 + 0.1 + 3 + 1 + 0.2 + 1)
    assert line.compute_s == 6
    assert line.communication_s == pytest.approx(4)
    assert line.exposed_s == pytest.approx(4.3)


def test_a_bucket_hides_behind_the_rest_of_backward() -> None:
    """Full after 2 of 5 s, 3 s on the wire: done when backward is; another 1 s sticks out."""
    assert play(5, 1, [bucket(2, 0, 3, 0)], 1.0, overlap=True).exposed_s == pytest.approx(0)
    line = play(5, 1, [bucket(2, 0, 3, 0), bucket(5, 0, 1, 0)], 1.0, overlap=True)
    assert (line.exposed_s, line.communication_s) == pytest.approx((1, 4))


def test_shared_cores_make_both_slower() -> None:
    """Half speed each: 3 s of all-reduce take the last 3 s of work with them, 6 s in all."""
    line = play(5, 0, [bucket(2, 0, 3, 0, beside=2)], 0.5, overlap=True)
    assert (line.step_s, line.communication_s) == pytest.approx((2 + 6, 6))
    # 4 s of all-reduce: 6 s beside the work, in which 3 are done, and 1 s alone.
    line = play(5, 0, [bucket(2, 0, 4, 0, beside=2)], 0.5, overlap=True)
    assert (line.step_s, line.communication_s) == pytest.approx((2 + 6 + 1, 7))


def test_second_factors_follow_the_first() -> None:
    """2 s until it is sent, 1 s on the wire, 0.5 s of computing, 0.25 s on the wire, a copy."""
    one = Bucket(2, 0, Sent(1, 1), 0.125, ((0.5, Sent(0.25, 0.25)),))
    line = play(2, 0, [one], 1.0, overlap=True)
    assert line.step_s == pytest.approx(2 + 1 + 0.5 + 0.25 + 0.125)
    assert line.communication_s == pytest.approx(1.25)


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


def test_gradients_that_are_there_are_added_to() -> None:
    """One more operator per parameter, which reads two tensors and writes one."""
    task = find_task("transformer", size=16)
    fresh, adding = count(task, 2), count(task, 2, adding=True)
    parameters = list(task.build(0).parameters())
    assert len(adding.operators) - len(fresh.operators) == len(parameters)
    more = sum(one.bytes for one in adding.operators) - sum(one.bytes for one in fresh.operators)
    assert more == 3 * sum(one.nbytes for one in parameters)


@pytest.mark.parametrize("compress", ["none", "bf16", "powersgd"])
def test_an_exchange_is_counted_as_it_is_done(compress: str) -> None:
    """The bytes are those of the wire, and counting sees what timing sees."""
    model = find_task("transformer", size=16).build(0)
    counted = count_exchange(model, compress, 4)
    shapes = [[one.shape for one in part] for part in bucketed(model)]
    wired = sum(wire_bytes(compress, 4, part) for part in shapes)
    assert sum(part.bytes for part in counted.sends) == wired
    assert len(counted.packs) == len(counted.rest) == len(shapes)
    timed = ExchangeTimer(model, compress, 4).take()
    assert [(one.name, one.bytes) for one in timed] == [
        (one.name, one.bytes) for one in counted.operators
    ]
    assert all(one.phase == "exchange" for one in timed)


def test_powersgds_factors_cost_what_its_products_say() -> None:
    """Per matrix of n x m at rank r: three products of 2·n·m·r, and a basis of n x r."""
    model = nn.Linear(64, 96, bias=False)
    counted = count_exchange(model, "powersgd", 4)
    flops = {one.kind: 0.0 for one in counted.operators}
    for one in counted.operators:
        flops[one.kind] += one.flops
    product = 2 * 64 * 96 * 4
    assert flops["thin_product"] == product
    assert flops["thin_product_transposed"] == product
    assert flops["outer_product"] == 2 * product  # what is kept as error, and the mean
    assert flops["orthogonal"] == pytest.approx(4 * (96 * 16 - 64 / 3))


WIRE = Wire(2, (0.0, 1e6), (1e-4, 1e-4 + 1e-3), (2e-4, 2e-4 + 2e-3))


def machine(cores: int = 2) -> Machine:
    rows = [planted(flops, moved) for flops in (1e6, 1e8, 1e9) for moved in (1e4, 1e6, 3e7)]
    other = [Operator("forward", "add", "other", 0, size, size / 1e10) for size in (1e4, 1e6)]
    costs = fit([*rows, *other], 1, 0)
    return Machine(Costs(costs.kinds, 0.0), {(2, "none"): WIRE}, Sharing(), cores, 0)


def test_all_reduces_between_and_beyond_the_measured_sizes() -> None:
    half = WIRE.seconds(5e5)
    assert (half.wire_s, half.beside_s) == pytest.approx((6e-4, 1.2e-3))
    assert WIRE.seconds(3e6).wire_s == pytest.approx(1e-4 + 3e-3)


def test_other_numbers_of_ranks_are_drawn_out() -> None:
    """A ring of 4: three times the steps; 3/2 of the bytes; two ranks on each of two cores."""
    wire = machine().wire(4, "none")
    assert wire.alone[0] == pytest.approx(3 * 2 * 1e-4)
    assert wire.alone[1] - wire.alone[0] == pytest.approx(1.5 * 2 * 1e-3)
    alone = machine(cores=4).wire(4, "none")
    assert alone.beside[1] - alone.beside[0] == pytest.approx(1.5 * 2e-3)
    assert machine().wire(2, "none").bus_bytes_per_s == pytest.approx(1e6 / 1.1e-3)


def test_a_step_follows_from_its_parts() -> None:
    run = Run("transformer", size=16, batch=2, overlap=False)
    one, two, four = (machine().step(run, ranks) for ranks in (1, 2, 4))
    assert one.timeline.exposed_s == 0
    assert two.timeline.compute_s == pytest.approx(one.timeline.compute_s)
    assert four.timeline.compute_s == pytest.approx(2 * one.timeline.compute_s)
    size = 4 * (4 * (12 * 256**2 + 13 * 256) + 2 * 256 * 256 + 256 + 16 * 256 + 512)
    assert sum(two.sizes) == size
    assert sum(two.wires) == pytest.approx(len(two.sizes) * 1e-4 + size * 1e-9)
    # Each all-reduce hides the next one's copy: between once and twice as long as alone.
    assert 1 <= two.timeline.communication_s / sum(two.wires) < 2
    assert two.timeline.exposed_s > two.timeline.communication_s
    twice = machine().step(replace(run, accumulate=2), 2)
    assert twice.timeline.exposed_s == pytest.approx(two.timeline.exposed_s)
    assert twice.forward_s == pytest.approx(2 * two.forward_s)
    assert twice.backward_s > 2 * two.backward_s  # the second pass adds to gradients


def test_a_step_is_longer_where_others_compute() -> None:
    run = Run("transformer", size=16, batch=2, overlap=False)
    quiet, crowded = machine(), replace(machine(), others=3.0)
    assert crowded.step(run, 1).timeline.step_s == pytest.approx(
        3 * quiet.step(run, 1).timeline.step_s
    )


def test_a_planted_sharing_is_found_again() -> None:
    """Of the reference run alone, from its times with the exchange after backward and behind it."""
    planted_ = replace(machine(), sharing=Sharing(1.2, 1.3, 0.6, 0.05), others=1.5)
    late = replace(REFERENCE, overlap=False)
    lines = [planted_.step(run, 2).timeline for run in (late, REFERENCE)]
    counted = count(find_task(REFERENCE.model), REFERENCE.batch).operators
    exchanged = count_exchange(find_task(REFERENCE.model).build(0), "none", 4).operators
    operators = [*counted, *exchanged]
    rows = [
        {"operator": asdict(one), "times": [seconds / 1.5]}
        for one, seconds in zip(operators, planted_.costs.seconds(operators) * 1.5, strict=True)
    ]
    sweep = [
        {"ranks": 2, "type": "none", "bytes": size, "times": [[0, one]], "beside": [[0, two]]}
        for size, one, two in zip(WIRE.sizes, WIRE.alone, WIRE.beside, strict=True)
    ]
    runs = [
        {
            "alone": [line.compute_s],
            "thread": [line.compute_s / 1.5],
            "whole": [line.step_s],
            "spans": [[[0.0, line.communication_s]]],
        }
        for line in lines
    ]
    one = {"operators": rows, "sweep": sweep, "runs": runs, "load": 0.0}
    found = calibrated([one, one], 2)
    assert found.others == pytest.approx(1.5, rel=0.02)
    for run, line in zip((late, REFERENCE), lines, strict=True):
        again = found.step(run, 2).timeline
        assert again.step_s == pytest.approx(line.step_s, rel=0.02)
        assert again.communication_s == pytest.approx(line.communication_s, rel=0.02)


def test_waiting_for_a_slower_rank_is_no_communication() -> None:
    """The first all-reduce waits 3 s for rank 1 and takes 1 s; the second overlaps it by half."""
    slow = {"spans": [[[3.0, 4.0], [3.5, 4.5]]]}
    fast = {"spans": [[[0.0, 4.0], [0.5, 4.5]]]}
    assert communication([fast, slow]) == pytest.approx(1.5)


def test_typical_is_the_lower_quartile() -> None:
    assert typical([4.0, 1.0, 2.0, 3.0, 100.0]) == pytest.approx(1.5)
    assert typical([7.0]) == 7.0
