"""InfiniBand and Ethernet: what ``read`` says of links, ports and cables."""

from __future__ import annotations

from artery.formats.infiniband.rates import generation, link_rate
from artery.formats.recognise import recognise
from artery.formats.text import Text
from tests.cluster.fabrics import as_ibnetdiscover, broken
from tests.formats.readings import fields, reading, warned


def test_lost_links_are_told_per_spine() -> None:
    """31 leaves and 9 spines with two links between each pair: 558 by design, 26 are gone."""
    text = Text("fabric.txt", as_ibnetdiscover(broken(), nameless=3))
    (format_,) = recognise(text)
    found = format_.read(text)
    assert found.fields["uplinks_expected"] == 31 * 9 * 2
    assert found.fields["uplinks"] == 31 * 9 * 2 - 26
    assert found.fields["uplinks_missing"] == 26
    per_spine = {one["name"]: one["missing"] for one in found.fields["spines"] if one["missing"]}
    assert sum(per_spine.values()) == 26
    (line,) = [one for one in found.warnings if "missing against the design" in one]
    assert line.startswith("26 of 558 links")
    assert all(f"{name} -{count}" in line for name, count in per_spine.items())
    assert warned(found, "3 of 558 hosts have no name of their own")


def test_a_small_subnet() -> None:
    found = reading("ibnetdiscover/two-tier.txt")
    assert found.fields["hosts"] == 4
    assert found.fields["unnamed_hosts"] == 1
    assert found.fields["link_rates"] == [{"rate_bytes_per_s": 50e9, "cables": 4 + 7}]
    assert (found.fields["uplinks"], found.fields["uplinks_expected"]) == (7, 8)
    assert warned(found, "1 of 8 links between tiers are missing against the design: spine-y -1")


def test_a_net_of_the_simulator() -> None:
    said = fields("ibnetdiscover/made-up.net")
    assert (said["hosts"], said["switches"], said["cables"]) == (3, 3, 7)
    assert [one["switches"] for one in said["tiers"]] == [2, 1]


def test_ports_in_blocks() -> None:
    found = reading("iblinkinfo/blocks.txt")
    assert found.fields["ports"] == 6
    assert found.fields["speeds"] == {"4xNDR": 3, "4xHDR": 2}
    assert found.fields["ports_down"] == 1
    assert found.fields["aggregation_nodes"] == [{"speed": "NDR", "rate_bytes_per_s": 50e9}]
    assert found.fields["hints"] == 2
    assert warned(found, "InfiniBand and not RoCE")


def test_ports_in_lines() -> None:
    found = reading("iblinkinfo/lines.txt")
    assert [one["rate_bytes_per_s"] for one in found.fields["links"]] == [12.5e9, 12.5e9 / 4]
    assert warned(found, "fewer than 4 lanes (1 links): elm-2 mlx5_0[1] first")


def test_ports_of_a_host() -> None:
    found = reading("ibstat/ibstat.txt")
    assert found.fields["active_ports"] == 1
    assert found.fields["rate_bytes_per_s"] == 50e9
    assert found.fields["ports"][1]["link_layer"] == "Ethernet"
    assert warned(found, "mlx5_3 port 1 is Down (Polling)")
    (port,) = fields("ibstat/ibstatus.txt")["ports"]
    assert (port["state"], port["generation"], port["rate_bytes_per_s"]) == (
        "ACTIVE",
        "EDR",
        12.5e9,
    )


def test_rates_of_lanes() -> None:
    assert [generation(rate) for rate in (14.0625, 106.25, 3.0)] == ["FDR", "NDR", None]
    assert link_rate(4, "HDR") == 25e9


def test_neighbours_of_a_host() -> None:
    found = reading("lldp/lldpctl.json")
    assert (found.fields["hosts"], found.fields["switches"], found.fields["cables"]) == (1, 2, 2)
    assert warned(found, "one device only")


def test_neighbours_of_a_switch() -> None:
    said = fields("lldp/sonic.txt")
    assert (said["hosts"], said["switches"], said["cables"]) == (2, 2, 3)


def test_a_cable_plan() -> None:
    found = reading("cable-plan/plan.csv")
    assert (found.fields["hosts"], found.fields["cables"]) == (3, 5)
    assert warned(found, "1 of 5 cables are slower than most of their kind")
