"""``simulate`` with finite port buffers: who is held up beside an incast, and who is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from artery.answers.simulate import simulate
from artery.answers.simulate.result import SimulateAnswer
from artery.errors import InputError, UnknownNameError

MIB = 2**20
SIZE, SENDERS = 32 * MIB, 8
SYSTEM = "hgx-h100-roce:64"
"""Sixteen chips under each of four top-of-rack switches."""
TARGET, VICTIM = 40, 57
LINE = SIZE / 48e9
"""Seconds of one message alone: 400 Gb/s, of which RoCE reaches 96 % (the link's class)."""


def matrix(place: Path) -> str:
    """Write eight to one, all from one server, and a victim from the first of them elsewhere."""
    cells = np.zeros((64, 64), dtype=int)
    cells[:SENDERS, TARGET] = SIZE
    cells[0, VICTIM] = SIZE
    file = place / "incast.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in cells.tolist()))
    return str(file)


def played(place: Path, **options: object) -> SimulateAnswer:
    """Play it, targets keeping to one way: the incast meets on its server's uplink."""
    return simulate("alltoall", SYSTEM, matrix=matrix(place), links=0, routing="static", **options)


def victim(answer: SimulateAnswer) -> float:
    """Return the victim's rate as a share of a link's."""
    return LINE / (answer.finish[VICTIM] - answer.startup)


def test_a_victim_beside_an_incast_gets_an_eighth(tmp_path: Path) -> None:
    """On RoCE by itself; it leaves by the same card, whose port is paused."""
    paused = played(tmp_path)
    assert (paused.engine, paused.control, paused.why) == ("messages", "pause", "buffers")
    assert victim(paused) == pytest.approx(1 / SENDERS, rel=0.05)
    assert paused.seconds - paused.startup == pytest.approx(SENDERS * LINE, rel=0.05)
    assert paused.held[0].share > 0.5
    assert not paused.simulation.unfinished


def test_with_endless_buffers_it_gets_what_the_incast_leaves(tmp_path: Path) -> None:
    free = played(tmp_path, flow_control="none", engine="messages")
    assert free.control == "none"
    assert victim(free) > 1 / 2
    assert free.held == ()


def test_marked_senders_leave_the_victim_more(tmp_path: Path) -> None:
    marked = played(tmp_path, transport="roce-dcqcn")
    assert victim(marked) > 2 / SENDERS


def test_without_credit_it_is_held_up_too(tmp_path: Path) -> None:
    credit = played(tmp_path, flow_control="credit")
    assert victim(credit) == pytest.approx(1 / SENDERS, rel=0.05)


def test_an_even_collective_is_played_as_before() -> None:
    usual = simulate("alltoall", SYSTEM, size="1M", links=0)
    assert usual.control == "none"
    forced = simulate("alltoall", SYSTEM, size="64K", links=0, flow_control="pfc", seed=1)
    endless = simulate("alltoall", SYSTEM, size="64K", links=0, seed=1)
    assert forced.control == "pause"
    assert forced.held == ()
    assert forced.seconds == pytest.approx(endless.seconds, rel=0.01)


def test_too_much_is_played_endless_and_said(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text("\n".join(",".join(["2G"] * 64) for _ in range(64)))
    told = simulate("alltoall", SYSTEM, matrix=str(file), links=0)
    assert told.control == "none"
    assert "endless" in told.notes
    with pytest.raises(InputError, match="finite buffers are played up to"):
        simulate("alltoall", SYSTEM, matrix=str(file), links=0, flow_control="pfc")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"on": "tpu-v4-pod:4x4x4"}, "no circle can lock up"),
        ({"engine": "fluid"}, "only the message engine has buffers"),
    ],
)
def test_what_has_no_buffers_is_refused(options: dict[str, str], text: str) -> None:
    given = {"on": SYSTEM, **options}
    with pytest.raises(InputError, match=text):
        simulate("alltoall", **given, size="1M", flow_control="pfc")


def test_flow_controls_have_names() -> None:
    with pytest.raises(UnknownNameError, match="pfc"):
        simulate("alltoall", SYSTEM, flow_control="pfx")
