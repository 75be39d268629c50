"""The figures of docs/network.md are those that its command plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accuracy.network import HTSIM, PLANNED, Row, closed, kept, leaves, victims
from artery.native import core


@pytest.mark.parametrize("play", [victims, closed, leaves])
def test_the_kept_figures_are_what_is_played(play: Callable[[], list[Row]]) -> None:
    if core().library is None and play is not victims:
        return  # the twins come to the same picosecond, in minutes; other tests hold them to it
    known = {(row.table, row.case, row.name): row.value for row in kept()}
    for row in play():
        value = known[row.table, row.case, row.name]
        assert row.value == pytest.approx(value, rel=1e-4, abs=1e-9), row


def test_paused_victims_get_what_packets_give_them() -> None:
    found = {(row.case, row.name): row.value for row in kept() if row.table == "victim"}
    for senders in ("4", "8", "16"):
        assert found[senders, "pause"] == pytest.approx(found[senders, "packets"], rel=0.05)
        assert found[senders, "credit"] == pytest.approx(1 / int(senders), rel=0.05)
        assert found[senders, "spread"] > 0.95


def test_measured_losses_lie_within_the_range_of_seeds() -> None:
    found = {(row.case, row.name): row.value for row in kept() if row.table == "leaves"}
    for size, gain in PLANNED.items():
        assert found[size, "low"] <= 1 - 1 / gain <= found[size, "high"]


def test_htsim_s_figures_are_met_with_its_window() -> None:
    found = {(row.case, row.name): row.value for row in kept() if row.table == "htsim"}
    assert found["15 sprayed", "most"] == pytest.approx(HTSIM["sprayed"][2], rel=0.10)
    assert found["15 hashed", "most"] == pytest.approx(HTSIM["hashed"][2], rel=0.03)
