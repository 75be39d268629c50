"""Causes played on the network, and what a cabling among the files adds."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from artery.answers.diagnose import diagnose
from artery.answers.diagnose.fabric import fabric_of
from artery.answers.diagnose.proof import Played, Proof
from artery.errors import InputError
from artery.formats.recognise import read

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"
DEMO = files("artery.answers.demo").joinpath("files")
HALF = [
    str(CASES / name) for name in ("half-of-the-cards.log", "half-cards-debug.log", "ibstat.txt")
]


def test_a_cause_without_a_fabric_file_is_played_on_the_changed_system() -> None:
    found = diagnose(*HALF)
    assert found.proof is not None
    assert found.proof.cause == "half_the_cards"
    assert not found.proof.mapped
    assert found.proof.world == {"network": 0.5}
    assert found.proof.lands
    largest = found.proof.points[-1]
    # Half of the cards carry half; start-up no longer counts at 8 GiB.
    assert largest.faulty == pytest.approx(largest.whole / 2, rel=0.06)


def test_an_algorithm_is_played_instead_of_nvls() -> None:
    proof = diagnose(str(CASES / "ring-instead-of-nvls.log")).proof
    assert proof is not None
    assert proof.lands
    # Ring 360 to 370, NVLS 480 GB/s on eight H100 (NVIDIA/nccl-tests issue 212).
    largest = proof.points[-1]
    assert largest.faulty == pytest.approx(365e9, rel=0.05)
    assert largest.whole == pytest.approx(480e9, rel=0.05)


TWO_NODES = """\
hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 2, fabric: infiniband, nics_per_node: 8,
           nic_rate: 400 Gb/s}
software: {gpu_direct_rdma: true}
workload: {collective: all_reduce}
measured:
  - {size: 1G, busbw: 196 GB/s}
"""


def test_over_two_nodes_the_algorithm_that_was_priced_is_the_one_that_is_played(
    tmp_path: Path,
) -> None:
    # A ring shows what the cards carry: half of 8 x 48 GB/s is 192; a tree would show more. With
    # whole cards a chip passes on 370 GB/s, as inside one node (365.8 measured on four).
    path = tmp_path / "facts.yaml"
    path.write_text(TWO_NODES)
    found = diagnose(str(path))
    best = found.diagnosis.findings[0].explanation
    assert found.proof is not None
    assert best.world == {"network": 0.5}
    assert best.algorithm == found.proof.algorithm == "ring"
    assert found.proof.lands
    largest = found.proof.points[-1]
    assert largest.faulty == pytest.approx(192e9, rel=0.05)
    assert largest.whole == pytest.approx(370e9, rel=0.05)
    assert best.played is None


def test_a_cause_that_its_own_play_refutes_comes_after_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(*_: object) -> Proof:
        point = Played(2**30, 196e9, 384e9, 350e9, "ring")
        return Proof("any", "", {"network": 0.5}, (point,), "fluid", "adaptive", False, False)

    path = tmp_path / "facts.yaml"
    path.write_text(TWO_NODES)
    before = diagnose(str(path), prove=False).diagnosis.findings[0]
    monkeypatch.setattr("artery.answers.diagnose.stage.proof_of", elsewhere)
    found = diagnose(str(path)).diagnosis.findings
    after = next(one for one in found if one.cause.key == before.cause.key)
    assert after.confidence < before.confidence / 10
    assert after.explanation.played == 350e9


def test_sockets_are_priced_and_never_played() -> None:
    names = ("sockets.log", "socket-debug.log")
    found = diagnose(*(str(CASES / name) for name in names), on="dgx-h100")
    assert found.diagnosis.findings[0].cause.key == "sockets"
    assert found.proof is None


def test_a_proof_is_left_out_where_nobody_wants_it() -> None:
    assert diagnose(*HALF, prove=False).proof is None


def test_a_healthy_run_has_nothing_to_prove() -> None:
    assert diagnose(str(CASES / "healthy-a100.log")).proof is None


def test_the_job_costs_more_than_it_should() -> None:
    job = diagnose(*HALF, model="llama2-7b", prove=False).job
    assert job is not None
    assert job.now >= job.repaired > 0


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InputError, match="llama2-7x"):
        diagnose(*HALF, model="llama2-7x", prove=False)


def test_the_leaves_of_a_fabric_are_counted() -> None:
    path = str(DEMO.joinpath("ibnetdiscover.txt"))
    fabric = fabric_of([(path, read(path))])
    assert fabric is not None
    assert [(one.name, one.down, one.up, one.meant) for one in fabric.leaves] == [
        ("leaf01", 32, 32, 32), ("leaf02", 32, 32, 32), ("leaf03", 32, 16, 32),
        ("leaf04", 32, 32, 32),
    ]  # fmt: skip
    facts = dict(fabric.facts())
    assert facts["leaf_uplinks_left"] == 0.5
    assert facts["nodes_per_leaf"] == 4.0
    assert facts["nics_per_node"] == 8.0
    assert facts["nic_rate"] == 50e9
    assert facts["rails"] is False


def test_one_curve_beyond_the_links_refuses_all(tmp_path: Path) -> None:
    # The second row is Gb/s written as GB/s; the first alone would be healthy.
    path = tmp_path / "facts.yaml"
    path.write_text(
        "hardware: {chip: a100-80g, gpus_per_node: 8, nodes: 1}\n"
        "workload: {size: 8G}\n"
        "measured:\n"
        "  - {collective: all_reduce, busbw: 60 GB/s}\n"
        "  - {collective: all_gather, busbw: 1840 GB/s}\n"
    )
    found = diagnose(str(path)).diagnosis
    assert found.verdict == "refused"
    assert [why.reason for why in found.refusals] == ["above_the_links"]


def test_hosts_are_masked_in_the_whole_answer() -> None:
    paths = [str(DEMO.joinpath(name)) for name in ("nccl-tests.txt", "topo.txt")]
    told = diagnose(*paths, on="dgx-h100", prove=False, anonymise=True)
    assert "node01" not in repr(told)
    assert "host1" in repr(told)
