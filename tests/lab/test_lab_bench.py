"""Real all-reduces between shaped hosts beside the closed form and the simulator.

Medians of the better of two attempts, for others may be using the machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.lab.labs import UNPRIVILEGED, artery, load, off, up

pytestmark = pytest.mark.real

CLOSE = 1.05
"""Closed form, simulator and median lie within 5 % of each other."""


@pytest.mark.parametrize(
    ("before", "mode"), [((), "root"), (UNPRIVILEGED, "user")], ids=["root", "without-root"]
)
def test_four_hosts_keep_to_the_model(before: Sequence[str], mode: str) -> None:
    worst = 2.0
    for _ in range(2):
        asked = ("bench", "lab-switch", "--sizes", "4M,16M", "--repeats", "5", "--json")
        found = artery(*asked, before=before)
        assert found["lab"]["mode"] == mode
        assert all(row["right"] for row in found["rows"])
        assert [row["size_bytes"] for row in found["rows"]] == [4 << 20, 16 << 20]
        worst = min(worst, max(off(row) for row in found["rows"]))
        print(f"{mode}: within {worst - 1:.1%}, {load()}")  # noqa: T201 (asked for)
        if worst <= CLOSE:
            return
    pytest.fail(f"{worst - 1:.1%} apart, {load()}")


def test_packed_ranks_never_collide_and_interleaved_ones_as_the_simulator_says() -> None:
    factors = set()
    with up("lab-leaf-spine") as name:
        packed = _close(name, "packed")
        assert packed["busiest_wire_flows"] == 1
        for _ in range(3):
            found = _close(name, "interleaved")
            row = found["rows"][0]
            assert found["busiest_wire_flows"] in {1, 2}
            assert row["simulated_high_s"] / row["simulated_low_s"] == pytest.approx(2, rel=0.01)
            factors.add(found["busiest_wire_flows"])
            if len(factors) == 2:
                break
        # Hashes are chance; one spine less is none. Both flows of a leaf share the wire left.
        artery("fail", "leaf 0 -> spine 1", "--name", name, "--json")
        forced = _close(name, "interleaved")
        assert forced["busiest_wire_flows"] == 2
        slower = forced["rows"][0]["median_s"] / packed["rows"][0]["median_s"]
        assert slower == pytest.approx(2, rel=0.05)
        artery("repair", "--name", name, "--json")
        # A wire at a quarter of its rate holds the whole ring back.
        artery("fail", "node0002 - leaf001", "--to", "25%", "--name", name, "--json")
        slow = artery("bench", "--name", name, "--sizes", "1M", "--repeats", "2", "--json")
        share = slow["rows"][0]["median_s"] / slow["rows"][0]["closed_form_s"]
        assert share == pytest.approx(4, rel=0.1)
    print(f"collision factors seen: {sorted(factors)}, {load()}")  # noqa: T201 (asked for)


def test_arterys_own_ring_keeps_to_the_model_between_the_hosts() -> None:
    words = [sys.executable, "-m", "artery", "bench", "collectives", "--sizes", "4M", "--repeats",
             "5", "--algorithm", "ring", "--on", "lab-switch", "--json"]  # fmt: skip
    ratio = 0.0
    with up("lab-switch") as name:
        for _ in range(2):
            run = artery("run", "--name", name, "--timeout", "200s", "--json", "--", *words)
            said = run["ended"][0]["output"]
            row = json.loads(said[said.index("{") :])["results"][0]
            assert (row["algorithm"], row["ranks"]) == ("ring", 4)
            ratio = row["min_s"] / row["predicted_s"]
            print(f"artery's ring: {ratio:.3f} of the prediction at least, {load()}")  # noqa: T201
            if 0.95 <= ratio <= 1.05:
                return
    pytest.fail(f"{ratio:.3f}, {load()}")


def _close(name: str, order: str) -> dict[str, Any]:
    """Return the better of two attempts, which agrees with its own hashes played."""
    ratio = 2.0
    for _ in range(2):
        asked = ("bench", "--name", name, "--order", order, "--sizes", "4M", "--repeats", "3")
        found = artery(*asked, "--json")
        row = found["rows"][0]
        assert row["right"]
        assert row["hashes_found"]
        ratio = max(row["median_s"], row["simulated_s"]) / min(row["median_s"], row["simulated_s"])
        print(f"{order}: {found['busiest_wire_flows']}x, within {ratio - 1:.1%}, {load()}")  # noqa: T201
        if ratio <= CLOSE:
            return found
    pytest.fail(f"{order}: {ratio - 1:.1%} apart, {load()}")


def test_a_delay_counts_twelve_times_in_a_small_all_reduce_of_four() -> None:
    slope = 0.0
    for _ in range(2):
        least = [_small(delay) for delay in ("1ms", "5ms")]
        # Two wires a way: the one-way delays are 2 ms and 10 ms.
        slope = (least[1] - least[0]) / 8e-3
        print(f"{slope:.1f} one-way delays, {load()}")  # noqa: T201 (asked for)
        # Six steps of a ring of four, two one-way delays each; the switch is late, never early.
        if 11.5 <= slope <= 13.2:
            return
    pytest.fail(f"{slope:.1f} delays, {load()}")


def _small(delay: str) -> float:
    asked = ("bench", "lab-switch", "--delay", delay, "--sizes", "1K", "--repeats", "15")
    found = artery(*asked, "--json")
    assert found["lab"]["engine"] == "tap"
    return float(found["rows"][0]["min_s"])


def test_paced_sends_follow_the_rates_and_are_called_paced() -> None:
    ratio = 0.0
    for _ in range(2):
        asked = ("bench", "ethernet-10g:3", "--mode", "paced", "--sizes", "4M", "--repeats", "3")
        found = artery(*asked, "--json")
        assert (found["lab"]["mode"], found["lab"]["engine"]) == ("paced", "paced")
        assert found["busiest_wire_flows"] is None
        row = found["rows"][0]
        assert row["right"]
        ratio = row["median_s"] / row["simulated_s"]
        print(f"paced: {ratio:.3f} of the simulated time, {load()}")  # noqa: T201 (asked for)
        if 0.95 <= ratio <= 1.1:
            return
    pytest.fail(f"{ratio:.3f}, {load()}")
