"""What a lab is asked for, and what it predicts; nothing is built here."""

from __future__ import annotations

from typing import Any

import pytest

from artery.answers.lab import lab_down, lab_fail, lab_run, lab_up, ranked, wire_number
from artery.answers.lab.bench import lab_bench
from artery.answers.lab.ib import lab_ib
from artery.answers.lab.predict import Flows, flows, predict
from artery.answers.lab.system import LabSystem, lab_library, lab_system, system_again
from artery.answers.simulate import simulate
from artery.errors import InputError, UnknownNameError, UsageError
from artery.runner.lab.client import Lab
from artery.runner.lab.shape import Conditions

MODEL = 2 * 3 / 4 / (25e6 * 8948 / 9014)
"""Seconds per byte of a ring of four at 200 Mbit/s: 2(n-1)/n over what the headers leave."""

SIZE = 16 << 20


def asked(on: str, delay: float = 0.0, **options: Any) -> LabSystem:
    options = {"rate": None, "rate_scale": None, **options}
    return lab_system(on, (), engine="kernel", conditions=Conditions(delay=delay), **options)


def lab(on: str = "lab-leaf-spine") -> Lab:
    return Lab("lab", 1, "root", asked(on).shape, {}, {}, 0)


def test_the_closed_form_and_the_simulator_are_the_headers_arithmetic() -> None:
    shape = asked("lab-switch").shape
    found = predict(shape, (0, 1, 2, 3), [SIZE], (), Flows((0,) * 4, (0,) * 4))[0]
    assert found.closed == pytest.approx(SIZE * MODEL, rel=2e-3)
    assert found.low == found.high == pytest.approx(SIZE * MODEL, rel=2e-3)


def test_interleaved_ranks_take_once_or_twice_as_long_and_packed_ones_never() -> None:
    shape = asked("lab-leaf-spine").shape
    nothing = Flows((0,) * 8, (0,) * 8)
    packed = predict(shape, (0, 1, 2, 3), [SIZE], (), nothing)[0]
    mixed = predict(shape, (0, 2, 1, 3), [SIZE], (), nothing)[0]
    assert packed.high == packed.low == pytest.approx(SIZE * MODEL, rel=2e-3)
    assert mixed.low == pytest.approx(SIZE * MODEL, rel=2e-3)
    assert mixed.high == pytest.approx(2 * SIZE * MODEL, rel=2e-3)
    # As the command says it, of the same order in a file.
    assert mixed.seen is None  # no draw carries nothing


def test_simulate_says_the_same_range_of_the_catalogs_system(tmp_path: Any) -> None:
    order = tmp_path / "order"
    order.write_text("0\n2\n1\n3\n")
    found = simulate(
        "all_reduce",
        "lab-leaf-spine",
        size=SIZE,
        algorithm="ring",
        placement=str(order),
        seeds=50,
    )
    assert found.low == pytest.approx(SIZE * MODEL, rel=5e-3)
    assert found.high == pytest.approx(2 * SIZE * MODEL, rel=5e-3)


def test_the_draw_that_was_seen_is_found_by_the_flows_on_wires() -> None:
    shape = asked("lab-leaf-spine").shape
    # Both flows out of leaf 0 by spine 0, those out of leaf 1 apart.
    up, down = (1, 1, 1, 1, 2, 0, 1, 1), (1, 1, 1, 1, 1, 1, 2, 0)
    found = predict(shape, (0, 2, 1, 3), [SIZE], (), Flows(up, down))[0]
    assert found.seen == pytest.approx(2 * SIZE * MODEL, rel=2e-3)
    apart = Flows((1,) * 8, (1,) * 8)
    assert apart.worst == 1
    found = predict(shape, (0, 2, 1, 3), [SIZE], (), apart)[0]
    assert found.seen == pytest.approx(SIZE * MODEL, rel=2e-3)


def test_a_wire_that_is_down_leaves_one_way() -> None:
    shape = asked("lab-leaf-spine").shape
    found = predict(shape, (0, 2, 1, 3), [SIZE], (5,), Flows((0,) * 8, (0,) * 8))[0]
    assert found.low == found.high == pytest.approx(2 * SIZE * MODEL, rel=2e-3)


def test_flows_are_counted_in_what_one_moves() -> None:
    seen = flows([(2_010, 995), (30, 0)], 1_000.0)
    assert (seen.up, seen.down, seen.worst) == ((2, 0), (1, 0), 2)


def test_delays_count_twice_in_a_step_of_gloo() -> None:
    found = asked("lab-switch", delay=1e-3)
    library, plain = (lab_library(one.system, one.shape) for one in (found, asked("lab-switch")))
    wire = found.system.tiers[0]
    assert wire.latency == pytest.approx(2 * (1e-3 + 15e-6))
    hops = [one.networks["lab-wire"].hop["TCP"] for one in (plain, library)]
    assert hops[1] - hops[0] == pytest.approx(2e-3)
    tiny = predict(found.shape, (0, 1, 2, 3), [1024], (), Flows((0,) * 4, (0,) * 4))[0]
    # Six steps of two one-way delays, each through two wires.
    assert tiny.closed == pytest.approx(6 * 2 * 2e-3, rel=0.05)


@pytest.mark.parametrize(
    ("options", "scale"),
    [({}, 0.02), ({"rate": "100Mbit"}, 0.01), ({"rate_scale": "0.5"}, 0.5)],
    ids=str,
)
def test_rates_are_said_as_such_or_as_a_share(options: Any, scale: float) -> None:
    found = asked("ethernet-10g:4", **options)
    assert found.shape.scale == pytest.approx(scale)
    assert found.shape.wires[0].rate == pytest.approx(10e9 / 8 * scale)
    again = system_again(found.shape)
    assert again.tiers[0].link.bandwidth == pytest.approx(10e9 / 8 * scale)
    assert again.library == "gloo"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: asked("dgx-h100:8"), "no switches between its nodes"),
        (lambda: asked("tpu-v4-pod:64"), "no switches between its nodes"),
        (lambda: asked("ethernet-10g:300"), "a lab has at most 256"),
        (lambda: asked("ethernet-10g:4", rate="fast"), "must be a number"),
        (lambda: asked("ethernet-10g:4", rate="1 b/s"), "wires move from"),
        (lambda: asked("ethernet-10g:4", rate_scale="2"), "the lab's rate over the real one"),
        (lambda: lab_up("lab-switch", delay="1 hour"), "at most 10 s"),
        (lambda: lab_up("lab-switch", queue="1K"), "one frame of 64K"),
        (lambda: lab_up("lab-switch", loss="2"), "between 0 and 1"),
        (lambda: lab_up("lab-switch", mode="paced"), "no hosts that stay up"),
        (lambda: lab_up("lab-switch", name="Not good"), "small letters"),
        (lambda: lab_fail("a - b", name="never-up"), "is not up"),
        (lambda: lab_run(["true"], name="never-up"), "is not up"),
        (lambda: lab_bench("dgx-h100:16", mode="paced"), "several chips a node"),
        (lambda: lab_ib("dgx-h100:8"), "no switches between its nodes"),
        (lambda: lab_ib("ethernet-10g:1100"), "the simulator takes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused_with_its_reason(call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: asked("lab-switch", rate="1 Gb/s", rate_scale="1"), UsageError),
        (lambda: lab_up("lab-switch", engine="kernel", delay="1ms"), UsageError),
        (lambda: lab_up("lab-switch", engine="dpdk"), UnknownNameError),
        (lambda: lab_up("lab-switch", mode="rot"), UnknownNameError),
        (lambda: lab_ib("lab-fat-tree", engine="ftre"), UnknownNameError),
        (lambda: lab_bench(None, mode="paced"), UsageError),
        (lambda: lab_bench("lab-switch", mode="paced", delay="1ms"), UsageError),
        (lambda: lab_run([]), UsageError),
    ],
    ids=range(8),
)
def test_contradictions_are_usage_errors(call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_a_lab_that_is_not_up_is_not_taken_down() -> None:
    assert lab_down("never-up") is False


def test_orders_of_ranks() -> None:
    assert ranked(lab(), "packed") == (0, 1, 2, 3)
    assert ranked(lab(), "interleaved") == (0, 2, 1, 3)
    assert ranked(lab(), "3, 0") == (3, 0)
    for wrong in ("0,0", "4", "leafwise", "", "0,x"):
        with pytest.raises(InputError, match="order"):
            ranked(lab(), wrong)


@pytest.mark.parametrize(
    "name",
    [
        "leaf001[4] - spine002[1]",
        "leaf 0 -> spine 1",
        "spine 1 -> leaf 0",
        "leaf001-spine002",
        "leaf001 - spine002",
        " leaf  0 ->  spine 1 ",
    ],
)
def test_a_wire_has_the_names_of_the_lab_and_of_simulate(name: str) -> None:
    assert wire_number(lab(), name) == 5


def test_a_wire_that_is_not_there_is_answered_with_one_that_is() -> None:
    with pytest.raises(InputError, match=r"did you mean|for example"):
        wire_number(lab(), "leaf001 - spine009")
