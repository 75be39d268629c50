"""The switch in user space: when frames arrive, by hand."""

from __future__ import annotations

import struct

import pytest

from artery.catalog import system
from artery.runner.lab.shape import Conditions, Shape
from artery.runner.lab.switch import Switch
from artery.runner.lab.wired import shaped

RATE = 1e6
"""B/s: a frame of 1,000 bytes takes a millisecond."""


def lab(name: str = "lab-switch", conditions: Conditions | None = None) -> Shape:
    return shaped(system(name), RATE, "tap", conditions or Conditions())


def frame(source: str, target: str, *, size: int = 1000, port: int = 1, segment: int = 0) -> bytes:
    """Return an IPv4 TCP frame of ``size`` bytes, uncut if it has a size of ``segment``."""
    virtual = struct.pack("<BBHHHH", 0, 1 if segment else 0, 66 if segment else 0, segment, 0, 0)
    ends = b"".join(bytes(map(int, address.split("."))) for address in (source, target))
    header = bytes(12) + b"\x08\x00" + bytes([0x45]) + bytes(8) + b"\x06" + bytes(2) + ends
    ports = struct.pack(">HH", port, 80)
    return (virtual + header + ports).ljust(10 + size, b"\0")


def test_a_frame_arrives_after_two_delays_and_its_own_length() -> None:
    shape = lab(conditions=Conditions(delay=0.003))
    one, other = (host.cards[0].address for host in shape.hosts[:2])
    found = Switch(shape).passes(frame(one, other), now=10.0)
    assert found is not None
    assert found[0] == pytest.approx(10.0 + 2 * 0.003 + 0.001)
    assert found[1] == other


def test_two_hosts_that_send_to_a_third_share_its_wire() -> None:
    shape = lab()
    a, b, c = (host.cards[0].address for host in shape.hosts[:3])
    switch = Switch(shape)
    arrivals = [switch.passes(frame(one, c), now=0.0) for one in (a, b, a)]
    assert [at for at, _ in (found for found in arrivals if found)] == pytest.approx(
        [0.001, 0.002, 0.003]
    )


def test_what_waits_behind_a_full_queue_is_dropped() -> None:
    shape = lab(conditions=Conditions(queue=65_536))
    a, b = (host.cards[0].address for host in shape.hosts[:2])
    switch = Switch(shape)
    passed = [switch.passes(frame(a, b), now=0.0) is not None for _ in range(100)]
    # The queue takes what finds at most 65,536 bytes before it: frames 1 to 66.
    assert passed == [True] * 66 + [False] * 34


def test_a_wire_that_was_idle_owes_nothing() -> None:
    shape = lab()
    a, b = (host.cards[0].address for host in shape.hosts[:2])
    switch = Switch(shape)
    switch.passes(frame(a, b), now=0.0)
    found = switch.passes(frame(a, b), now=5.0)
    assert found is not None
    assert found[0] == pytest.approx(5.001)


def test_losses_are_drawn_at_every_wire() -> None:
    shape = lab(conditions=Conditions(loss=0.1, queue=1 << 40))
    a, b = (host.cards[0].address for host in shape.hosts[:2])
    switch = Switch(shape)
    passed = sum(switch.passes(frame(a, b), now=0.0) is not None for _ in range(10_000))
    # Two wires keep 0.9 * 0.9 of the frames; five standard deviations are 0.02.
    assert passed / 10_000 == pytest.approx(0.81, abs=0.02)


def test_an_uncut_frame_takes_the_headers_of_all_its_packets() -> None:
    shape = lab()
    a, b = (host.cards[0].address for host in shape.hosts[:2])
    # 8,000 bytes of data in packets of 1,000: eight headers of 66 bytes, of which one is there.
    found = Switch(shape).passes(frame(a, b, size=8066, segment=1000), now=0.0)
    assert found is not None
    assert found[0] == pytest.approx((8000 + 8 * 66) / RATE)


def test_flows_keep_their_way_and_spread_over_all() -> None:
    shape = lab("lab-leaf-spine")
    a, c = shape.hosts[0].cards[0].address, shape.hosts[2].cards[0].address
    switch = Switch(shape)
    up = []
    for port in range(1000):
        before = switch.carried()
        for _ in range(2):
            switch.passes(frame(a, c, port=port), now=float(port))
        after = switch.carried()
        up.append([late[0] - early[0] for early, late in zip(before, after, strict=True)][4:6])
    assert {tuple(sorted(one)) for one in up} == {(0, 2000)}
    share = sum(one[0] > 0 for one in up) / 1000
    # A fair hash: half, within five standard deviations of 1.6 in a hundred.
    assert share == pytest.approx(0.5, abs=0.08)


def test_a_wire_that_is_down_is_gone_around_and_a_slow_one_is_slow() -> None:
    shape = lab("lab-leaf-spine")
    a, c = shape.hosts[0].cards[0].address, shape.hosts[2].cards[0].address
    switch = Switch(shape)
    switch.limit(4, 0.0)
    for port in range(50):
        assert switch.passes(frame(a, c, port=port), now=float(port)) is not None
    assert switch.carried()[4] == (0, 0)
    assert switch.carried()[5][0] == 50_000
    switch.limit(5, 0.0)
    assert switch.passes(frame(a, c), now=100.0) is None
    switch.limit(5, 0.25)
    found = switch.passes(frame(a, c), now=200.0)
    assert found is not None
    # The slow wire lets the frame's head through at once; the last wire is whole.
    assert found[0] == pytest.approx(200.004)


def test_what_is_no_packet_for_a_card_is_dropped() -> None:
    shape = lab()
    a = shape.hosts[0].cards[0].address
    switch = Switch(shape)
    assert switch.passes(b"", now=0.0) is None
    assert switch.passes(frame(a, "10.9.9.9"), now=0.0) is None
    assert switch.passes(bytes(60), now=0.0) is None
