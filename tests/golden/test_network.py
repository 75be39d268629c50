"""The simulated network against published measurements, and figures known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from artery.answers.explain import explain
from artery.answers.simulate import simulate as ask
from artery.catalog import system
from artery.collective.schedules import schedule
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate

FIXTURES = Path(__file__).parents[1] / "fixtures" / "systems"
GIB = 2**30

# All-reduce by NVLSTree on H100 with NVLink and eight NDR InfiniBand cards a node, microseconds by
# bytes, above 16 MiB (NVIDIA, GTC 2024, S62129, slide 35; digitised, some 3 GB/s off).
NVLS_TREE = {
    32: {2**25: 434.3, 2**26: 564.8, 2**27: 937.4, 2**28: 1657.4, 2**29: 3080.2, 2**30: 5906.8},
    64: {2**25: 505.0, 2**26: 691.0, 2**27: 1022.2, 2**28: 1711.4, 2**29: 3106.0, 2**30: 6067.5},
    128: {2**26: 756.2, 2**27: 1091.6, 2**28: 1794.1, 2**29: 3232.3, 2**30: 6082.5},
    256: {2**26: 802.0, 2**27: 1181.0, 2**28: 1941.1, 2**29: 3353.9, 2**30: 6218.3},
    512: {2**26: 894.8, 2**27: 1267.9, 2**28: 2018.9, 2**29: 3470.4, 2**30: 6287.1},
    1024: {2**26: 1087.5, 2**27: 1470.2, 2**28: 2105.8, 2**29: 3591.2, 2**30: 6460.1},
}


def test_the_bytes_of_expert_dispatch_and_combine_are_those_of_deepep() -> None:
    """128 tokens, hidden 7168, top 8, FP8 there and BF16 back (DeepEP's README, low latency).

    Its bandwidths times its times: 98 GB/s for 77 us, and 127 GB/s for 114 us, over 8 ranks.
    """
    job = {"tp": 1, "pp": 1, "ep": 8, "sequence": 128, "micro_batch": 1, "dtype": "fp8"}
    found = explain("deepseek-v3", "hgx-h800:64", "step.ep.mixture layer.ep", **job)
    inputs = found.terms[0].term.inputs
    assert (
        inputs["dispatch_bytes"] == 128 * 8 * (7168 + 224) == pytest.approx(98e9 * 77e-6, rel=0.01)
    )
    assert inputs["combine_bytes"] == 128 * 8 * 14336 == pytest.approx(127e9 * 114e-6, rel=0.02)


def test_nvls_tree_from_32_to_1024_is_within_a_tenth() -> None:
    errors = []
    for chips, row in NVLS_TREE.items():
        for size, measured in row.items():
            found = ask(
                "all_reduce", f"dgx-h100:{chips}", size=size, algorithm="nvls_tree", links=0
            )
            errors.append(abs(found.seconds * 1e6 / measured - 1))
    assert median(errors) <= 0.10
    assert max(errors) <= 0.25


@pytest.mark.parametrize("spec", ["dgx-1v", str(FIXTURES / "dgx-1v.toml")])
def test_a_dgx_1_reaches_what_was_measured(spec: str) -> None:
    # 122 to 130 GB/s of bus bandwidth with NCCL on eight V100 (six rings of 25 GB/s, 132 to 150).
    found = ask("all_reduce", spec, size="4G", algorithm="ring", links=0)
    assert 120e9 <= found.busbw <= 132e9


def test_four_and_six_chips_are_bounded_by_their_cut() -> None:
    spec = str(FIXTURES / "four-and-six.toml")
    # Two NDR cables join them: 100 GB/s, of which the link class reaches 96 %.
    found = ask("all_reduce", spec, size="4G", links=1)
    assert found.links[0].kind == "ib-ndr"
    assert 0.97 * 96e9 <= found.busbw <= 96e9


@pytest.mark.parametrize(
    ("spec", "more"), [("dgx-h100:1024", 0.9e-6), ("rail-clos-h100:1024", 2.0e-6)]
)
def test_a_tier_more_costs_what_was_measured(spec: str, more: float) -> None:
    # 64 B: InfiniBand 2.8 us under one leaf and 3.7 across two more switches, RoCE 3.6 and 5.6
    # (DeepSeek-V3, ISCA 2025, Table 5).
    built = system(spec)
    pair = schedule("sendrecv", "sendrecv", 2)
    near, far = (
        simulate(built, (Placed(pair, 64, np.array([0, other])),), Scenario()).seconds
        for other in (8, 8 * 65)
    )
    assert far - near == pytest.approx(more, rel=0.01)


def test_ranks_dealt_over_two_leaves_take_twice_as_long_where_flows_collide(
    tmp_path: Path,
) -> None:
    # Two flows on one cable: each has half of it. Packed, only two flows cross the spine.
    order = tmp_path / "order.txt"
    order.write_text("\n".join(str(rank % 2 * 8 + rank // 2) for rank in range(16)))
    spec = f"{FIXTURES / 'two-leaves.toml'}:16"
    options = {"size": "1G", "algorithm": "ring", "links": 0}
    packed = ask("all_reduce", spec, **options)
    dealt = ask("all_reduce", spec, placement=str(order), seeds=20, **options)
    planned = ask("all_reduce", spec, placement=str(order), routing="static", **options)
    assert dealt.median >= 1.95 * packed.seconds
    assert dealt.low >= 1.5 * packed.seconds
    assert planned.seconds == pytest.approx(packed.seconds, rel=0.02)


def test_hashed_paths_lose_what_was_measured_against_planned_ones() -> None:
    # 64 GPUs, eight cards of 400 Gb/s a server, four leaves, two spines, ring all-reduce: planned
    # paths 233 GB/s; hashed ones lose about nothing on small messages, 9 to 10 % at 0.5 to 1 GB and
    # 15 to 19 % at 8 to 16 GB (Tolly report 225112). What held the planned run at 233 is not said:
    # the share of NVLink is set so that the ring has that rate. Queue pairs are not said either:
    # two of them that split every message (the coupled engine's way) come to the measured loss.
    built = system(f"{FIXTURES / 'four-leaves.toml'}:64")
    split = Scenario(queue_pairs=2, inside=0.546, engine="coupled")
    loss = {}
    for size in (2**16, 8 * GIB):
        jobs = shaped(built, "all_reduce", "ring", size, np.arange(64))
        planned = simulate(built, jobs, replace(split, routing="static", queue_pairs=1))
        hashed = [simulate(built, jobs, replace(split, seed=seed)).seconds for seed in range(20)]
        loss[size] = 1 - planned.seconds / np.quantile(hashed, [0.05, 0.5, 0.95])
        if size > GIB:
            assert 2 * 63 / 64 * size / planned.seconds == pytest.approx(233e9, rel=0.01)
    assert np.abs(loss[2**16]).max() < 0.03
    assert loss[8 * GIB][0] <= 0.19
    assert 0.15 <= loss[8 * GIB][1] <= 0.19
