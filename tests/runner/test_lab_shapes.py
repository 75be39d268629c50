"""The network of a lab from a system, its routes, and what the kernel's tools are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.catalog import system
from artery.cluster.cables import NoFabricError
from artery.runner.lab import commands
from artery.runner.lab.routes import Route, routes
from artery.runner.lab.shape import Conditions, Shape, from_json
from artery.runner.lab.wired import TooLargeError, shaped

RATE = 25e6


def lab(name: str) -> Shape:
    return shaped(system(name), RATE, "kernel", Conditions())


def by_target(found: list[Route]) -> dict[str, set[str]]:
    return {route.target: {hop.interface for hop in route.hops} for route in found}


def test_a_leaf_spine_has_the_wires_of_its_cable_plan() -> None:
    found = lab("lab-leaf-spine")
    assert [host.name for host in found.hosts] == [f"node000{n}" for n in (1, 2, 3, 4)]
    assert [host.leaf for host in found.hosts] == ["leaf001", "leaf001", "leaf002", "leaf002"]
    assert [wire.name for wire in found.wires[4:]] == [
        "leaf001[3] - spine001[1]",
        "leaf001[4] - spine002[1]",
        "leaf002[3] - spine001[2]",
        "leaf002[4] - spine002[2]",
    ]
    assert {wire.rate for wire in found.wires} == {RATE}
    addresses = [card.address for host in found.hosts for card in host.cards]
    addresses += [one.address for one in found.switches]
    assert len(set(addresses)) == 8


def test_simulate_and_the_lab_call_a_switch_by_two_names() -> None:
    wire = lab("lab-leaf-spine").wires[5]
    assert (wire.lower.alias, wire.upper.alias) == ("leaf 0", "spine 1")
    assert lab("dgx-h100:16").wires[9].lower.alias.rpartition(" ")[2] == "9"


def test_rates_are_scaled_alike_and_the_scale_is_kept() -> None:
    found = lab("dgx-h100:16")  # cards of 400 Gb/s
    assert found.scale == pytest.approx(200e6 / 400e9)
    assert len(found.hosts) == 2
    assert [len(host.cards) for host in found.hosts] == [8, 8]
    assert found.hosts[1].cards[7].interface == "eth7"


def test_a_shape_travels_as_text() -> None:
    found = replace(lab("lab-fat-tree"), asked=("node.power=1 W",))
    assert from_json(found.to_json()) == found


def test_what_has_no_switches_between_nodes_or_too_many_is_no_lab() -> None:
    with pytest.raises(NoFabricError):
        lab("dgx-h100:8")
    with pytest.raises(TooLargeError, match="at most 256"):
        lab("ethernet-10g:400")


def test_a_leaf_reaches_far_hosts_by_all_spines_and_near_ones_directly() -> None:
    found = lab("lab-leaf-spine")
    near, far = found.hosts[1].cards[0].address, found.hosts[2].cards[0].address
    own = by_target(routes(found)["leaf001"])
    assert own[near] == {"p2"}
    assert own[far] == {"p3", "p4"}
    assert by_target(routes(found)["spine001"])[far] == {"p2"}


def test_a_wire_that_is_down_takes_its_ways_with_it() -> None:
    found = lab("lab-leaf-spine")
    far = found.hosts[2].cards[0].address
    down = {4}  # leaf001 - spine001
    assert by_target(routes(found, down)["leaf001"])[far] == {"p4"}
    # spine001 is still reached, but has no way down to leaf001 that does not go up again.
    near = found.hosts[0].cards[0].address
    assert by_target(routes(found, down)["leaf002"])[near] == {"p4"}
    assert far not in by_target(routes(found, {4, 5})["leaf001"])


def test_a_fat_tree_has_two_ways_up_at_two_tiers() -> None:
    found = lab("lab-fat-tree")
    far = found.hosts[15].cards[0].address
    assert len(by_target(routes(found)["leaf001"])[far]) == 2
    assert len(by_target(routes(found)["aggregation001"])[far]) == 2
    assert len(by_target(routes(found)["core001"])[far]) == 1


def test_rails_stay_rails_and_a_lost_card_is_gone_around() -> None:
    found = lab("dgx-h100:16")
    other = found.hosts[1].cards
    own = {route.target: route for route in routes(found)["node0001"]}
    assert own[other[3].address].hops[0].interface == "eth3"
    assert own[other[3].address].source == found.hosts[0].cards[3].address
    # With the host's card 3 down, no other rail leads to card 3: rails of 16 chips share nothing.
    lost = next(n for n, wire in enumerate(found.wires) if wire.lower.interface == "eth3")
    assert other[3].address not in {route.target for route in routes(found, {lost})["node0001"]}


def test_token_buckets_hold_one_frame_and_fifty_milliseconds() -> None:
    line = commands.rate_line("eth0", RATE)
    assert line == ("qdisc replace dev eth0 root tbf rate 200000000bit burst 80000 limit 1330000")
    # 64 KiB as TCP hands them on are eight packets, with a header each.
    assert 65_536 + 8 * commands.HEADERS < commands.BURST
    assert pytest.approx(0.9927, abs=5e-5) == commands.PAYLOAD


def test_lines_of_routes_say_every_hop_and_take_back_the_rest() -> None:
    found = lab("lab-leaf-spine")
    lines = list(commands.route_lines(found, "leaf001", routes(found, {4, 5})["leaf001"]))
    assert lines[0] == "route replace 10.77.0.2/32 via 10.77.0.2 dev p1 onlink"
    assert "route replace unreachable 10.77.0.4/32" in lines
    both = commands.route_line(routes(found)["leaf001"][2])
    assert both == (
        "route replace 10.77.0.4/32 nexthop via 10.78.0.4 dev p3 onlink "
        "nexthop via 10.78.0.5 dev p4 onlink"
    )
