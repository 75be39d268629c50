"""What docs/network.md says of samples and of who adds."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from accuracy import network_scale
from accuracy.network_scale import WHOLE, kept, samples
from artery.native import core


def by_case(table: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in kept():
        if row.table == table:
            found.setdefault(row.case, {})[row.name] = row.value
    return found


def test_a_sample_says_what_every_message_says() -> None:
    cases = [found for found in by_case("sampled").values() if "whole" in found]
    assert len(cases) == len(WHOLE)
    for found in cases:
        assert found["low"] < found["whole"] < found["high"]
        assert found["usual"] == pytest.approx(found["whole"], rel=0.03)


def test_the_kept_figures_are_what_is_played() -> None:
    if core().library is None:
        return  # the twins come to the same picosecond, in minutes; other tests hold them to it
    known = {(row.table, row.case, row.name): row.value for row in kept()}
    with patch.object(network_scale, "WHOLE", WHOLE[:1]), patch.object(network_scale, "LARGE", ()):
        for row in samples():
            assert row.value == pytest.approx(known[row.table, row.case, row.name], rel=1e-4), row


def test_cards_gain_on_small_messages_and_lose_on_large_ones() -> None:
    found = by_case("sums")
    assert found["64K"]["bf3"] < found["64K"]["none"]
    assert found["1G"]["bf2"] > found["1G"]["bf3"] > found["1G"]["none"] > found["1G"]["switch"]
