"""Faults that do not show in the numbers, and logs that are mixed into one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.formats.recognise import read_mixed

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"
HEALTHY = str(CASES / "healthy-a100.log")

FOUR_NODES = """\
hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 4, fabric: infiniband, nics_per_node: 8,
           nic_rate: 400 Gb/s}
workload: {collective: all_reduce}
measured:
  - {size: 8G, busbw: RATE GB/s}
"""
XID = "[ 12.5] NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, GPU has fallen off the bus.\n"
COUNTERS = """\
# Port counters: Lid 4 port 1 (CapMask: 0x5300)
SymbolErrorCounter:..............1234
LinkDownedCounter:...............3
"""
LOST = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7
""" + "".join(
    f"GPU{row}\t" + "\t".join(
        " X " if row == column else "NV16" if 7 in (row, column) else "NV18" for column in range(8)
    ) + "\n"
    for row in range(8)
)  # fmt: skip


def beside(tmp_path: Path, rate: str, **files: str) -> DiagnoseAnswer:
    """Return the diagnosis of four nodes at ``rate`` GB/s, with those files beside it."""
    paths = []
    for name, content in {"facts": FOUR_NODES.replace("RATE", rate), **files}.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(content)
        paths.append(str(path))
    return diagnose(*paths, prove=False)


@pytest.mark.parametrize(
    ("content", "cause"),
    [(XID, "chip_fault"), (COUNTERS, "bit_errors"), (LOST, "lost_links")],
)
def test_a_fault_beside_a_healthy_number_is_told_and_explains_nothing(
    tmp_path: Path, content: str, cause: str
) -> None:
    found = beside(tmp_path, "365", other=content).diagnosis
    assert found.verdict == "healthy"
    assert [one.cause.key for one in found.findings if one.beside] == [cause]
    assert found.findings[0].explanation.fits is None
    assert found.findings[0].evidence


def test_a_fault_that_is_no_likely_cause_of_a_low_number_is_told_too(tmp_path: Path) -> None:
    found = beside(tmp_path, "190", other=LOST).diagnosis
    assert found.verdict == "degraded"
    assert "half_the_cards" in [one.cause.key for one in found.findings if not one.beside]
    assert [one.cause.key for one in found.findings if one.beside] == ["lost_links"]


def test_a_run_that_hangs_is_not_healthy_whatever_was_measured_before(tmp_path: Path) -> None:
    found = beside(tmp_path, "365", other="measured: it hangs after an hour\n").diagnosis
    assert found.verdict == "faulty"
    assert [one.cause.key for one in found.findings if one.beside] == ["waiting_rank"]


def test_errors_of_the_program_itself_and_their_absence_are_no_fault(tmp_path: Path) -> None:
    program = "NVRM: Xid (PCI:0000:1b:00): 31, MMU Fault\n"
    words = "software: {words: no uncorrectable errors}\n"
    assert not beside(tmp_path, "365", a=program, b=words).diagnosis.findings


def test_a_fault_is_told_where_no_number_counts(tmp_path: Path) -> None:
    path = tmp_path / "xid.txt"
    path.write_text(XID)
    found = diagnose(str(CASES / "wrong-results.log"), str(path)).diagnosis
    assert found.verdict == "refused"
    assert [one.cause.key for one in found.findings] == ["chip_fault"]


def test_lines_of_other_logs_in_the_same_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "console.log"
    path.write_text(Path(HEALTHY).read_text() + XID)
    assert [one.format for one in read_mixed(str(path))] == ["nccl-tests", "dmesg-xid"]
    found = diagnose(str(path)).diagnosis
    assert [one.cause.key for one in found.findings if one.beside] == ["chip_fault"]
    both = (CASES / "socket-debug.log").read_text() + (CASES / "sockets.log").read_text()
    path.write_text(both)
    assert diagnose(str(path), on="dgx-h100").facts["transport"] == "socket"


def test_a_size_that_was_said_is_not_called_unknown(tmp_path: Path) -> None:
    assert "size_unknown" not in beside(tmp_path, "365").notes


def test_a_fault_that_explains_nothing_comes_after_the_cause_that_fits(tmp_path: Path) -> None:
    xid = tmp_path / "xid.txt"
    xid.write_text(XID)
    names = ("half-of-the-cards.log", "half-cards-debug.log", "ibstat.txt")
    found = diagnose(*(str(CASES / name) for name in names), str(xid), prove=False).diagnosis
    assert found.findings[0].cause.key == "half_the_cards"
    assert "chip_fault" in [one.cause.key for one in found.findings]
