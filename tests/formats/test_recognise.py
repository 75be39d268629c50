"""Every format claims its own files and no other's, whatever transport did to them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from artery.errors import InputError, UnknownNameError
from artery.formats.recognise import formats, read, recognise
from artery.formats.text import read_text
from tests.formats.readings import FIXTURES

NAMES = {one.name for one in formats()}
FILES = sorted(
    path for path in FIXTURES.glob("*/*") if path.is_file() and path.parent.name in NAMES
)

LINE_BY_LINE = [
    "nvidia-smi-topo/lost-links.txt",
    "nccl-tests/first-generation.log",
    "nccl-debug/two-nodes.log",
    "osu/full.txt",
    "imb/two-blocks.txt",
    "ibstat/ibstat.txt",
    "slurm-sinfo/default.txt",
    "slurm-scontrol/node.txt",
    "slurm-sacct/gpu.txt",
    "slurm-sacct/columns.txt",
    "megatron-args/printed.txt",
    "megatron-log/steps.log",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_its_own_format_claims_a_file(path: Path) -> None:
    claims = [one.name for one in recognise(read_text(str(path)))]
    assert claims == [path.parent.name]


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.suffix != ".gz"],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
@pytest.mark.parametrize("how", ["crlf", "bom", "utf-16", "gz"])
def test_transport_changes_nothing(path: Path, how: str, tmp_path: Path) -> None:
    text = path.read_text("utf-8")
    packed = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom": text.encode("utf-8-sig"),
        "utf-16": text.encode("utf-16"),
        "gz": gzip.compress(text.encode()),
    }[how]
    other = tmp_path / "file"
    other.write_bytes(packed)
    plain, moved = read(str(path)), read(str(other))
    assert (moved.format, moved.summary) == (plain.format, plain.summary)
    assert moved.fields == plain.fields


@pytest.mark.parametrize(
    "prefix", ["2026-01-31T10:00:00.123Z ", "[1,0]<stdout>:", "0: ", "[rank0]: "]
)
@pytest.mark.parametrize("name", LINE_BY_LINE)
def test_prefixes_of_launchers_change_nothing(name: str, prefix: str, tmp_path: Path) -> None:
    plain = FIXTURES / name
    other = tmp_path / "labelled.txt"
    lines = plain.read_text("utf-8").split("\n")
    other.write_text("\n".join(prefix + line for line in lines), "utf-8")
    assert read(str(other)).fields == read(str(plain)).fields


def test_an_unknown_file_and_an_unknown_name(tmp_path: Path) -> None:
    other = tmp_path / "poem.txt"
    other.write_text("shall I compare thee\nto a summer's day\n", "utf-8")
    with pytest.raises(InputError, match="none of the known formats"):
        read(str(other))
    with pytest.raises(UnknownNameError, match="nccl-tests"):
        read(str(other), "nccl-test")
    with pytest.raises(InputError, match="no table"):
        read(str(other), "nccl-tests")


def test_what_is_no_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, said in (
        (str(pipe), "a pipe or a device"),
        (os.devnull, "pipe it into -"),
        (str(tmp_path), "a folder"),
        ("", "no name"),
        (str(tmp_path / "none"), "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            read(path)


def test_names_and_kinds_are_those_of_the_design() -> None:
    kinds = {"system", "measurement", "workload", "trace", "log", "jobs", "state"}
    assert {one.kind for one in formats()} <= kinds
    assert all(one.tested or one.notes for one in formats())
