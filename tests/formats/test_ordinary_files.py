"""Ordinary tables, programs, documents and configurations are claimed by no format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.formats.recognise import formats, recognise
from artery.formats.text import Text
from tests.formats.readings import FIXTURES

QUOTED = (
    "torchrun", "torch.distributed.elastic", "torch.distributed.run", "ChildFailedError",
    "rendezvous", "rank 1 failed", "nccl-tests", "busbw", "algbw 12 GB/s", "NCCL INFO",
    "NET/IB", "ibstat",
    "CA 'mlx5_0'", "Switch 36", "SwitchName=leaf1", "PartitionName=gpu", "NodeName=n1 State=IDLE",
    "GPU0 GPU1 NV18", "JobID|State", "OSU MPI Allreduce", "#repetitions",
    "DCGM_FI_DEV_GPU_TEMP", "traceEvents", "hidden_size", "zero_optimization", "kind: Node",
    "apiVersion: v1", "Could be 4X", "<system version='1'>",
    "==== ROCm System Management Interface ====", "num_ranks 8", "HYBRID_TRANSFORMER",
)  # fmt: skip
"""What questions, programs and notes about these tools quote."""

LINES = (
    "node1:12:13 [0] NCCL INFO Channel 00/02 : 0 1", "NVRM: Xid (PCI:0000:1d:00): 79, gone",
    "Watchdog caught collective operation timeout", "# Avg bus bandwidth : 12.5",
    "iteration 10/ 100 | elapsed time per iteration (ms): 5.0",
    "failed (exitcode: -9) local_rank: 1 (pid: 77)", "step: 1 loss: 2 tps: 3",
)  # fmt: skip
"""Whole lines of logs; a log may also come as JSON, one object a line."""

OTHERS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=20)
WORDS = st.sampled_from(QUOTED) | OTHERS
CELLS = st.sampled_from(LINES) | WORDS
NAMES = st.from_regex(r"[a-z]{2,8}_[a-z]{2,8}", fullmatch=True)


def claims(content: str) -> list[str]:
    return [one.name for one in recognise(Text("file", content))]


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAMES, min_size=3, max_size=6, unique=True), data=st.data())
def test_a_table_is_not_claimed_for_a_word_in_a_cell(names: list[str], data: st.DataObject) -> None:
    out = io.StringIO()
    rows = data.draw(
        st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), min_size=3, max_size=8)
    )
    csv.writer(out).writerows([names, *([f"row{i}", *row[1:]] for i, row in enumerate(rows))])
    assert claims(out.getvalue()) == []


@settings(max_examples=60, deadline=None)
@given(words=st.lists(CELLS, min_size=1, max_size=8), data=st.data())
def test_a_program_is_not_claimed_for_its_strings(words: list[str], data: st.DataObject) -> None:
    head = data.draw(st.sampled_from(
        ['"""A reader."""\n\nimport re\n', "#!/usr/bin/env python3\nimport sys\n",
         "# note\nfrom pathlib import Path\n", "#include <stdio.h>\n", "<!DOCTYPE html>\n<html>"]
    ))  # fmt: skip
    assert claims(head + "".join(f"LINES.append({word!r})\n{word}\n" for word in words)) == []


@settings(max_examples=60, deadline=None)
@given(table=st.dictionaries(NAMES, WORDS | st.integers() | st.lists(WORDS), min_size=1))
def test_json_and_yaml_of_other_programs_are_not_claimed(table: dict[str, object]) -> None:
    assert claims(json.dumps(table, indent=1)) == []
    lines = (f"{key}: {json.dumps(value)}" for key, value in table.items())
    assert claims("\n".join(lines) + "\n") == []


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(QUOTED), min_size=1, max_size=4))
def test_a_note_is_not_claimed_for_words_in_a_sentence(words: list[str]) -> None:
    tools = [word for word in words if word.replace("-", "").replace(".", "").isalnum()]
    said = "".join(f"- we looked at `{word}` and saw nothing strange.\n" for word in tools)
    assert claims(f"# Notes on a run\n\nWhat was tried:\n\n{said}") == []


REPOSITORY = Path(__file__).parents[2]
ORDINARY = sorted(
    path
    for folder, pattern in (
        ("src/artery", "**/*.py"),
        ("src/artery/catalog", "**/*.toml"),
        ("src/artery", "**/*.json"),
        (".", "*.md"),
        (".", "*.toml"),
        ("accuracy", "*.py"),
    )
    for path in (REPOSITORY / folder).glob(pattern)
)


def test_no_source_or_page_of_this_project_is_claimed() -> None:
    assert len(ORDINARY) > 300
    found = {}
    for path in ORDINARY:
        claimed = claims(path.read_text("utf-8", errors="replace"))
        if claimed:
            found[str(path.relative_to(REPOSITORY))] = claimed
    assert found == {}


@pytest.mark.parametrize("name", sorted(one.name for one in formats() if one.table))
def test_a_format_of_tables_still_claims_its_own(name: str) -> None:
    own = sorted((FIXTURES / name).glob("*.csv"))
    for path in own:
        assert claims(path.read_text("utf-8"))[:1] == [name]
