"""The whole curve counts: large sizes far short, proofs by large sizes, whole links."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from artery.answers.diagnose import DiagnoseAnswer, check_threshold, diagnose
from artery.errors import ThresholdError
from artery.report.diagnose import diagnose_drawing
from artery.report.diagnose.payload import diagnose_payload
from artery.report.writing.json import document
from tests.report.test_schemas import schema

H100, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"
ROW = "{size} {count} float sum -1 {us:.2f} {alg:.2f} {bus:.2f} 0 {us:.2f} {alg:.2f} {bus:.2f} 0"


def table(
    folder: Path, name: str, plateau: float, slower: Callable[[int], float] = lambda _: 1.0
) -> str:
    """Write the log of eight GPUs that start in 30 us and reach ``plateau`` B/s."""
    lines = ["# nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor)"]
    lines += [
        f"#  Rank {rank} Group 0 Pid {100 + rank} on node1 device {rank} [0x{rank:02x}] {name}"
        for rank in range(8)
    ]
    lines.append("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    for power in range(3, 34):
        size = 2**power
        seconds = (30e-6 + 1.75 * size / plateau) * slower(size)
        alg = size / seconds / 1e9
        lines.append(ROW.format(size=size, count=size // 4, us=seconds * 1e6, alg=alg,
                                bus=1.75 * alg))  # fmt: skip
    lines.append("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n#")
    file = folder / "table.log"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def words(found: DiagnoseAnswer) -> str:
    console = Console(width=400, record=True, file=StringIO())
    console.print(diagnose_drawing(found, "en"))
    return console.export_text()


def test_large_sizes_six_times_too_slow_are_never_healthy(tmp_path: Path) -> None:
    path = table(tmp_path, H100, 480e9, lambda size: 6.0 if 2**25 <= size <= 2**31 else 1.0)
    found = diagnose(path, on="dgx-h100:8")
    assert found.diagnosis.verdict == "degraded"
    judged = found.diagnosis.judged
    assert judged is not None
    # 32 MiB to 2 GiB were slowed; at 8 GiB and 4 GiB nothing is wrong.
    sizes = [judged.curve.points[place].size for place in judged.short]
    assert sizes[-1] == 2**31
    assert min(sizes) >= 2**25
    assert judged.least == pytest.approx(1 / 6, rel=0.1)
    assert judged.ratio > 0.9
    text = words(found)
    assert "Nothing to repair" not in text
    assert "2.00 GiB, fall far short" in text
    with pytest.raises(ThresholdError, match="17%"):
        check_threshold(found, 0.8)
    payload = json.loads(document("diagnose", diagnose_payload(found)))
    jsonschema.validate(payload, schema("diagnose"))
    assert payload["shortest"]["ratio"] == pytest.approx(judged.least)


def test_what_is_slow_only_by_start_up_is_healthy(tmp_path: Path) -> None:
    path = table(tmp_path, H100, 480e9, lambda size: 3.0 if size < 2**25 else 1.0)
    found = diagnose(path, on="dgx-h100:8")
    assert found.diagnosis.verdict == "healthy"
    assert "Nothing to repair" in words(found)


def test_the_ring_is_proved_by_the_sizes_that_bandwidth_rules(tmp_path: Path) -> None:
    found = diagnose(table(tmp_path, H100, 370e9), on="dgx-h100:8")
    best = found.diagnosis.findings[0]
    assert best.cause.key == "no_in_switch"
    assert best.explanation.played is None
    assert found.proof is not None
    assert found.proof.lands
    assert [one.size for one in found.proof.counted] == [2**30, 2**33]
    text = words(found)
    assert "less likely" not in text
    assert "not proved" not in text
    assert "proved" in text


def test_links_are_lost_by_whole_ones_and_low_confidence_is_no_proof(tmp_path: Path) -> None:
    # 8 of the 12 links of an A100 carry 231 * 8/12 = 154 GB/s; 9 carry 173.
    found = diagnose(table(tmp_path, A100, 150e9), on="dgx-a100:8")
    best = found.diagnosis.findings[0]
    assert best.cause.key == "lost_links"
    assert best.explanation.world is not None
    assert best.explanation.world["node"] == pytest.approx(8 / 12)
    assert best.explanation.predicted == pytest.approx(154e9, rel=0.01)
    assert best.confidence < 0.5
    text = words(found)
    assert "possible, not proved" in text
    assert "several causes" not in text


def test_how_chips_are_joined_is_not_asked_where_a_file_says_it(tmp_path: Path) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text("hardware: {nvlinks: 12}\n", "utf-8")
    log = table(tmp_path, A100, 150e9)
    assert [one.fact for one in diagnose(log, on="dgx-a100:8").diagnosis.missing] == ["topology"]
    assert not diagnose(log, str(facts), on="dgx-a100:8").diagnosis.missing
