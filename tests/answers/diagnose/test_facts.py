"""What files contribute to a case, and the system that is made of the facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.answers.diagnose.case import impossible_degrees
from artery.diagnoser.case import Fact


def of(tmp_path: Path, text: str) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    path.write_text(text, encoding="utf-8")
    return diagnose(str(path))


def expected(answer: DiagnoseAnswer) -> float:
    judged = answer.diagnosis.judged
    assert judged is not None
    return judged.expected[-1]


def test_direct_links_are_a_full_mesh(tmp_path: Path) -> None:
    # Four A100 with 4 of 12 NVLinks to each other: 100 GB/s per pair, of which a copy reaches 80 %
    # and sendrecv 70 to 80 GB/s (NVIDIA/nccl-tests: 72 seen).
    found = of(
        tmp_path,
        "hardware: {chip: a100-80g, gpus_per_node: 4, nodes: 1, nvlinks: 4}\n"
        "workload: {collective: sendrecv}\nmeasured: {size: 4G, busbw: 71 GB/s}\n",
    )
    assert 60e9 < expected(found) < 80e9


def test_one_gpu_fills_no_more_cards_than_its_slot(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "hardware: {chip: h100-sxm, nodes: 2, gpus_per_node: 1, nics_per_node: 8, "
        "nic_rate: 400 Gb/s, fabric: infiniband}\nsoftware: nccl-tests\n"
        "workload: {collective: all_reduce}\nmeasured: {size: 4G, busbw: 48 GB/s}\n",
    )
    # PCIe 5 x16 has 63 GB/s: one card of 50.
    assert expected(found) < 50e9
    assert found.diagnosis.verdict == "healthy"
    assert [one.cause.key for one in found.diagnosis.findings] == ["single_chip_per_node"]


def test_a_slower_card_than_its_class_keeps_its_rate(tmp_path: Path) -> None:
    text = (
        "hardware: {{chip: v100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, "
        "nic_rate: {} Gb/s, fabric: roce}}\nsoftware: nccl-tests\n"
        "workload: {{collective: sendrecv}}\nmeasured: {{size: 4G, busbw: 1 GB/s}}\n"
    )
    slow, fast = (expected(of(tmp_path, text.format(rate))) for rate in (50, 100))
    assert slow == pytest.approx(fast / 2, rel=0.05)


@pytest.mark.parametrize(
    ("facts", "refused"),
    [
        ({"tp": 8.0, "pp": 2.0, "ranks": 16.0}, False),
        ({"tp": 8.0, "pp": 3.0, "ranks": 16.0}, True),
        ({"tp": 2.0, "pp": 2.0, "dp": 4.0, "ranks": 16.0}, False),
        ({"tp": 2.0, "pp": 2.0, "dp": 8.0, "ranks": 16.0}, True),
        ({"tp": 8.0, "pp": 3.0}, False),
        ({"ranks": 16.0}, False),
    ],
)
def test_degrees_must_multiply_to_the_ranks(facts: dict[str, Fact], refused: bool) -> None:
    assert bool(impossible_degrees(facts)) == refused


def test_impossible_degrees_are_refused_with_the_product(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "hardware: {chip: h100-sxm, nodes: 2, gpus_per_node: 8}\nsoftware: {tp: 8, pp: 3}\n"
        "measured: it does not start\n",
    ).diagnosis
    assert found.verdict == "refused"
    assert "tp 8 · pp 3 = 24 on 16 ranks" in found.refusals[0].text


def test_a_facts_file_holds_above_a_tool(tmp_path: Path) -> None:
    debug = Path(__file__).parents[2] / "fixtures" / "diagnose" / "half-cards-debug.log"
    facts = tmp_path / "facts.yaml"
    facts.write_text("hardware: {nodes: 7}\nsoftware: {nccl: 2.99}\nmeasured: bad\n", "utf-8")
    found = diagnose(str(debug), str(facts))
    assert found.facts["nodes"] == 7
    assert found.origins["nodes"] == str(facts)
    assert found.facts["ranks"] == 32


def test_a_killed_process_and_the_first_failing_rank_are_told(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(
        "E1130 11:12:09.188000 7 torch/distributed/elastic/multiprocessing/api.py:869] failed "
        "(exitcode: -9) local_rank: 1 (pid: 77) of binary: /usr/bin/python3\n",
        "utf-8",
    )
    found = diagnose(str(path)).diagnosis
    assert found.verdict == "faulty"
    assert found.findings[0].cause.key == "killed"


def test_one_rank_has_no_bandwidth_to_hold_against_anything(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "hardware: {chip: h100-sxm, ranks: 1}\nsoftware:\n"
        "measured:\n  - {collective: all_reduce, size: 1 GiB, busbw: 100 GB/s}\n",
    ).diagnosis
    assert (found.verdict, found.judged) == ("refused", None)
    assert [why.reason for why in found.refusals] == ["one_rank"]


def test_evidence_is_said_in_the_unit_of_its_fact() -> None:
    log = Path(__file__).parents[2] / "fixtures" / "nccl-tests" / "results.json"
    first = diagnose(str(log)).diagnosis.findings[0]
    assert first.evidence == (f"{log}: largest size = 1.00 MiB",)


@pytest.mark.parametrize(("busbw", "refused"), [("470 GB/s", False), ("3760 GB/s", True)])
def test_more_than_any_link_carries_is_refused(tmp_path: Path, busbw: str, refused: bool) -> None:
    found = of(
        tmp_path,
        "hardware: {system: dgx-h100, nodes: 1, ranks: 8}\nsoftware:\n"
        f"measured:\n  - {{collective: all_reduce, size: 1 GiB, busbw: {busbw}}}\n",
    ).diagnosis
    assert (found.verdict == "refused") == refused
    assert [why.reason for why in found.refusals] == ["above_the_links"] * refused


def test_much_more_than_the_system_can_give_is_not_healthy(tmp_path: Path) -> None:
    """NVLink of an H100 gives 450 GB/s each way: two nodes cannot show 900."""
    found = of(
        tmp_path,
        "hardware: {system: dgx-h100, nodes: 2}\nworkload: {collective: all_reduce}\n"
        "measured: [{size: 8G, busbw: 900 GB/s}]\n",
    ).diagnosis
    assert found.verdict == "unknown"
    assert [one.fact for one in found.missing] == ["system"]
