"""What is asked beside the files: names and degrees are checked however early the verdict comes."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from artery.answers.diagnose import diagnose
from artery.answers.systems import system_of
from artery.errors import InputError, UsageError

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"
DEMO = files("artery.answers.demo").joinpath("files")
FABRIC = str(DEMO.joinpath("ibnetdiscover.txt"))
EARLY = [str(CASES / name) for name in ("wrong-results.log", "healthy-a100.log", "sockets.log")]
"""Refused, healthy, and unknown without a system."""


@pytest.mark.parametrize("path", EARLY)
def test_an_unknown_model_is_refused_however_early_the_verdict_comes(path: str) -> None:
    with pytest.raises(InputError, match="no model of that name"):
        diagnose(path, model="llama2-7x")


@pytest.mark.parametrize("path", EARLY)
def test_an_unknown_system_and_unknown_overrides_are_refused(path: str) -> None:
    with pytest.raises(InputError, match="no system of that name"):
        diagnose(path, on="dgx-h1000")
    with pytest.raises(InputError, match="unknown field"):
        diagnose(path, on="dgx-h100", overrides=["foo.bar=1"])


@pytest.mark.parametrize("path", EARLY[:2])
def test_overrides_of_a_system_that_the_files_tell_are_checked(path: str) -> None:
    with pytest.raises(InputError, match="unknown field"):
        diagnose(path, overrides=["foo.bar=1"])


def test_overrides_of_no_system_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text("software: {words: it is slow}\n")
    with pytest.raises(InputError, match="add --on SYSTEM"):
        diagnose(str(path), overrides=["node.chips=4"])


def test_degrees_are_checked_by_ranks_and_by_the_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="8 ranks"):
        diagnose(EARLY[0], model="llama2-7b", degrees={"tp": 16})
    path = tmp_path / "facts.yaml"
    path.write_text("software: {words: it is slow}\n")
    with pytest.raises(InputError) as caught:  # 32 heads
        diagnose(str(path), model="llama2-7b", degrees={"tp": 3})
    assert [one.field for one in caught.value.problems] == ["--tp"]
    with pytest.raises(UsageError, match="--model"):
        diagnose(EARLY[0], degrees={"tp": 2})


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        diagnose(EARLY[0], model="llama2-7x", on="dgx-h1000")
    assert len(caught.value.problems) == 2


def test_a_node_without_a_network_file_is_said_to_need_one() -> None:
    with pytest.raises(UsageError, match="--on FILE"):
        diagnose(EARLY[0], overrides=["node=dgx-h100"])


def test_unknown_names_of_system_and_node_are_both_told() -> None:
    with pytest.raises(InputError) as caught:
        system_of("dgx-h1000", ["node=dgx-h2000"])
    assert [(one.field, "no system" in one.rule) for one in caught.value.problems] == [
        ("on", True), ("node", True),
    ]  # fmt: skip


def test_a_file_that_is_not_there_is_not_called_a_system() -> None:
    with pytest.raises(InputError, match="no such file"):
        system_of("ibnetdiscover-of-monday.txt", ["node=dgx-h100"])


def test_another_chip_than_that_of_the_named_system_is_told_and_asked_for() -> None:
    found = diagnose(EARLY[1], on="dgx-h100", prove=False).diagnosis
    alike = diagnose(str(CASES / "ring-instead-of-nvls.log"), on="dgx-h100", prove=False).diagnosis
    asked = found.missing[0]
    assert asked.fact == "chip"
    assert "a100-80g" in asked.why
    assert "h100-sxm" in asked.why
    assert "healthy-a100.log" in asked.why
    assert max(one.confidence for one in found.findings) < 0.5
    assert max(one.confidence for one in alike.findings) > 0.5
    assert not [one for one in alike.missing if one.fact == "chip"]


def test_another_size_of_memory_is_the_same_machine_for_links() -> None:
    found = diagnose(EARLY[1], on="azure-ndv4", prove=False)
    small = diagnose(EARLY[1], on="aws-p4d", prove=False)  # a100-40g
    assert not found.diagnosis.missing
    assert not small.diagnosis.missing
    assert "other_memory" in small.notes


LOG = str(DEMO.joinpath("nccl-tests.txt"))


@pytest.mark.parametrize("node", [["node=dgx-h100"], []])
def test_the_network_that_was_named_keeps_its_own_cause(node: list[str]) -> None:
    # Half of the uplinks of one leaf are missing: what is measured is what is left of them.
    among = diagnose(LOG, FABRIC, prove=False).diagnosis
    named = diagnose(LOG, on=FABRIC, overrides=node, prove=False).diagnosis
    assert among.findings[0].cause.key == "lost_uplinks"
    assert named.findings[0].cause.key == "lost_uplinks"
    assert named.verdict == among.verdict == "degraded"
    assert named.judged is not None
    assert among.judged is not None
    assert named.judged.expected == pytest.approx(among.judged.expected)


def test_a_node_alone_takes_the_network_among_the_files() -> None:
    found = diagnose(LOG, FABRIC, overrides=["node=dgx-h100"], prove=False).diagnosis
    assert found.findings[0].cause.key == "lost_uplinks"


def test_lost_links_of_the_named_file_are_a_fault_where_nothing_was_measured(
    tmp_path: Path,
) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text("workload: {words: nothing measured yet}\n")
    found = diagnose(str(path), on=FABRIC, overrides=["node=dgx-h100"]).diagnosis
    assert "lost_uplinks" in [one.cause.key for one in found.findings]


def test_lost_links_that_these_ranks_do_not_cross_are_no_cause() -> None:
    # Two nodes on one leaf at 3 GB/s: TCP, whatever is missing above the leaves.
    sockets = str(CASES / "sockets.log")
    found = diagnose(sockets, on=FABRIC, overrides=["node=dgx-h100"], prove=False).diagnosis
    assert found.findings[0].cause.key == "sockets"
    assert [one.cause.key for one in found.findings if one.beside] == ["lost_uplinks"]
