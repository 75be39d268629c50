"""The tour's figures against values known from elsewhere."""

from __future__ import annotations

import pytest

from artery.answers.tour.figures import Figures
from artery.answers.tour.stops import STOPS


@pytest.fixture(scope="module")
def stops() -> dict[str, Figures]:
    quick = ("one-chip", "does-it-fit", "memory", "links", "wiring", "infiniband", "gpt3",
             "failures", "recovery", "energy", "inside", "minutes", "pool")  # fmt: skip
    return {name: STOPS[name]() for name in quick}


def test_a_gtx_580_has_512_cores_and_alexnet_did_not_fit(stops: dict[str, Figures]) -> None:
    """Krizhevsky et al. 2012, section 3.2: the network is too large for one 3 GB GTX 580."""
    one = stops["one-chip"]
    assert one["cores"] == 512
    assert one["memory"] == 3 * 2**30
    assert one["total"] > one["memory"]
    assert one["state"] == pytest.approx(60.97e6 * 12, rel=0.01)


def test_training_state_of_bert_and_gpt_3(stops: dict[str, Figures]) -> None:
    """Sixteen bytes for each of 110 million and 175 billion parameters."""
    assert stops["does-it-fit"]["bert"] == pytest.approx(1.76e9, rel=0.01)
    assert stops["does-it-fit"]["gpt3"] == pytest.approx(2.8e12, rel=0.01)


def test_memory_ratios_from_width_and_rate(stops: dict[str, Figures]) -> None:
    """1,024 bits at 6.4 Gb/s over 64 bits at 4.8, 6.4, and twice 2.133 (JEDEC)."""
    memory = stops["memory"]
    assert memory["stack"] == 1024 * 6.4e9 / 8
    assert memory["ratio_4800"] == pytest.approx(1024 * 6.4 / (64 * 4.8))
    assert memory["ratio_6400"] == pytest.approx(16.0)
    assert memory["ratio_ddr4"] == pytest.approx(1024 * 6.4 / (2 * 64 * 2.133), rel=1e-3)
    assert (memory["pins_ddr"], memory["pins_gddr"]) == (16, 32)


def test_the_gradient_of_resnet_50_over_three_links(stops: dict[str, Figures]) -> None:
    """25,557,032 parameters of 4 bytes at 24 GB/s and at 1.25 GB/s: 4.3 ms and 82 ms."""
    links = stops["links"]
    assert links["gradient"] == 25_557_032 * 4
    assert links["pcie"] == pytest.approx(4.26e-3, rel=0.1)
    assert links["ethernet"] == pytest.approx(82e-3, rel=0.1)
    assert links["slower"] > 10
    assert links["nvlink"] < links["pcie"] < links["staged"]


def test_full_meshes_and_a_dgx_1(stops: dict[str, Figures]) -> None:
    """Eight V100 with six NVLinks each are 24 links; the cube mesh joins 16 of 28 pairs."""
    wiring = stops["wiring"]
    assert [wiring[f"hands_{n}"] for n in (10, 16, 32)] == [45, 120, 496]
    assert (wiring["dgx1_all"], wiring["dgx1_pairs"], wiring["dgx1_links"]) == (28, 16, 24)


def test_rates_of_infiniband_and_what_a_small_all_reduce_sees(stops: dict[str, Figures]) -> None:
    """HDR 200, NDR 400, XDR 800 Gb/s; 8 bytes over two nodes take 69 us on p5, 164 us on p4de.

    The latter from the logs of aws-samples/awsome-distributed-training; InfiniBand is faster.
    """
    infiniband = stops["infiniband"]
    assert [infiniband[name] * 8 / 1e9 for name in ("hdr", "ndr", "xdr")] == [200, 400, 800]
    assert 20e-6 < infiniband["two_nodes"] < 200e-6
    assert infiniband["roce_1g"] == pytest.approx(infiniband["ib_1g"], rel=0.05)


def test_a_few_failures_every_day(stops: dict[str, Figures]) -> None:
    """6.5 per 1,000 node-days on 1,250 nodes."""
    assert stops["failures"]["per_day"] == pytest.approx(8.125)


def test_llama_3_recovers_often_enough(stops: dict[str, Figures]) -> None:
    """419 interruptions in 54 days and over 90 % of the time (arXiv 2407.21783, section 3.3.4)."""
    found = stops["recovery"]
    assert found["between"] == pytest.approx(54 * 86400 / 419, rel=0.005)
    assert 0.90 < found["ettr"] < 1.0
    assert found["five"] == pytest.approx(1e-5 * found["between"], rel=1e-4)


def test_power_of_ten_thousand_chips(stops: dict[str, Figures]) -> None:
    """DGX A100 6.5 kW, DGX H100 10.2 kW for eight; GB200 NVL72 140 kW for 72 (NVIDIA)."""
    energy = stops["energy"]
    assert energy["a100"] == pytest.approx(6500 * 1250, rel=0.03)
    assert energy["h100"] == pytest.approx(10200 * 1250, rel=0.03)
    assert energy["gb200"] == pytest.approx(140e3 / 72 * 10_000, rel=0.03)
    assert 0.05 < energy["share"] < 0.10


def test_gpt_3_on_1024_v100(stops: dict[str, Figures]) -> None:
    """3.14e23 FLOP (arXiv 2104.10350) over 1,024 x 24.6 TFLOP/s; 5.5 GB twice at 12.5 GB/s."""
    gpt3 = stops["gpt3"]
    assert gpt3["days_2020"] == pytest.approx(3.14e23 / (1024 * 24.6e12), rel=0.01)
    assert gpt3["days_1024"] > 30 * 86400
    assert gpt3["shard"] == pytest.approx(0.87, abs=0.01)


def test_networks_on_a_chip_are_near_what_their_busiest_wire_allows(
    stops: dict[str, Figures],
) -> None:
    """Chunks of 4096/56 bytes at 64 GB/s: 28·28/7 over a wire of the mesh, 56²/8 of the ring."""
    chunk, rate = 4096 / 56, 64e9
    for name, load in (("mesh", 28 * 28 / 7), ("ring", 56**2 / 8), ("crossbar", 55)):
        bound = load * chunk / rate
        assert bound < stops["inside"][name] < 2 * bound


def test_restarts_of_hours_lose_about_their_share(stops: dict[str, Figures]) -> None:
    """Two hours out of every 3.09 + 2 leave at most 61 %."""
    found = stops["minutes"]
    assert found["hours"] < 3.093 / (3.093 + 2)
    assert found["hours"] < found["ten"] < found["one"] < 1.0


def test_a_pool_does_little_more_and_waits_far_less(stops: dict[str, Figures]) -> None:
    """Ten chips are two nodes of eight; no share is above the whole."""
    found = stops["pool"]
    assert (found["chips"], found["apart"]) == (10_016, 16)
    assert 0.0 < found["fifo"] < found["elastic"] <= 1.0
    assert found["waits_elastic"] < found["waits"] / 2
