"""Switches, network cards and optics: every row of the published tables, as nouns."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.catalog import names, nic, optic, switch
from artery.core.parts import Span
from artery.errors import InputError, UnknownNameError


@pytest.mark.parametrize("name", names("switches"))
def test_the_ports_of_a_switch_are_its_capacity(name: str) -> None:
    found = switch(name)
    assert found.ports * found.port == pytest.approx(found.capacity)


@pytest.mark.parametrize("name", names("optics"))
def test_the_energy_of_a_bit_is_the_power_of_an_end(name: str) -> None:
    found = optic(name)
    if found.energy_per_bit is None or found.power is None or found.kind == "copper":
        return
    bits = 8 * found.rate
    assert found.power.low * 0.85 <= found.energy_per_bit * bits <= found.power.high * 1.15


@pytest.mark.parametrize("name", names("nics"))
def test_a_card_has_a_rate_and_a_protocol(name: str) -> None:
    found = nic(name)
    assert found.rate >= 100e9 / 8
    assert found.protocols


def test_a_quantum_2_box() -> None:
    """NVIDIA QM97X0: 64 ports of 400 Gb/s, 25.6 Tb/s one way."""
    found = switch("qm9700")
    assert (found.ports, found.port, found.capacity) == (64, 50e9, 3.2e12)
    assert found.price == Span(36000, 50000)
    assert found.provenance["price.low"].confidence == "recalled"


@pytest.mark.parametrize(
    ("name", "rate", "ports"),
    [
        ("sn5600", 800, 64),
        ("sn5600", 400, 128),
        ("sn5600", 200, 256),
        ("sn5600", 100, 256),
        ("sn5600", 1600, 0),
        ("qm9700", 200, 128),
        ("qm9700", 800, 0),
        ("th6", 400, 256),
        ("th6", 200, 512),
        ("th6", 100, 512),
    ],
)
def test_ports_are_split_up_to_the_largest_radix(name: str, rate: int, ports: int) -> None:
    assert switch(name).radix_at(rate * 1e9 / 8) == ports


def test_what_is_unknown_is_none() -> None:
    assert switch("sn6600").power is None
    assert nic("cx9").price is None
    assert optic("dr4-800").mtbf is None


def test_a_name_that_is_none_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="qm9700"):
        switch("qm970")


def test_a_file_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'base = "sn5600"\ncapacity = "20 Tb/s"\nprice = {low = "9 USD", high = "8 USD"}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        switch(str(file))
    assert {problem.field for problem in caught.value.problems} == {"capacity", "price.low"}
    assert {problem.line for problem in caught.value.problems} == {2, 3}
