"""Every format claims its own files and no other's, whatever transport did to them."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path
from threading import Thread

import pytest

from artery.cli import main
from artery.errors import InputError, UnknownNameError
from artery.formats import waiting
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
    with pytest.raises(InputError, match="none of the 49 known formats") as caught:
        read(str(other))
    told = caught.value.problems[0]
    assert len(f"{told.rule} {told.fix}") < 200, "the whole list is behind a command, not here"
    assert "artery read --formats" in str(caught.value)
    with pytest.raises(UnknownNameError, match="nccl-tests"):
        read(str(other), "nccl-test")
    with pytest.raises(InputError, match="no table"):
        read(str(other), "nccl-tests")


@pytest.mark.parametrize(
    ("name", "content", "near"),
    [
        ("ibstat.log", "permission denied", "ibstat"),
        ("x.txt", "ucx_perftest: not found", "ucx-perftest"),
        ("osu-latency.txt", "killed", "osu"),
        ("x.txt", "slurmctld: error: no topology for slurm", "slurm-topology, "),
    ],
)
def test_of_an_unknown_file_the_nearest_formats_are_named(
    name: str, content: str, near: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    with pytest.raises(InputError, match=f"nearest by its words: {near}"):
        read(str(file))


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("systems/four-leaves.toml", "--on"),
        ("lint/train.sbatch", "artery lint"),
        ("lint/jobset.yaml", "artery lint"),
    ],
)
def test_of_a_file_for_another_command_that_is_named(name: str, use: str) -> None:
    with pytest.raises(InputError, match=use) as caught:
        read(str(FIXTURES / name))
    assert "nearest" not in str(caught.value), "no other tool wrote it"


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_an_empty_file_is_called_empty(content: str, tmp_path: Path) -> None:
    file = tmp_path / "ibstat.txt"
    file.write_text(content, "utf-8")
    with pytest.raises(InputError, match="an empty file, there is nothing in it"):
        read(str(file))


def test_what_is_no_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    for path, said in (
        (os.devnull, "pipe it into -"),
        (str(tmp_path), "a folder"),
        ("", "no name"),
        (str(tmp_path / "none"), "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            read(path)


@pytest.mark.parametrize("name", ["nvidia-smi-topo/lost-links.txt", "kineto/small.json.gz"])
def test_a_pipe_is_read_as_its_file(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=((FIXTURES / name).read_bytes(),))
    writer.start()
    found = read(str(pipe))
    writer.join()
    assert found.fields == read(str(FIXTURES / name)).fields


@pytest.mark.parametrize(
    "words",
    [
        ["read"],
        ["fabric", "check"],
        ["explain", "--from"],
        ["plan", "--on", "dgx-h100:8"],
        ["simulate", "all_reduce", "--on"],
        ["simulate", "--on", "dgx-h100:8", "--work"],
        ["simulate", "alltoall", "--on", "dgx-h100:8", "--matrix"],
    ],
    ids=" ".join,
)
def test_a_pipe_that_nobody_writes_to_is_told(
    words: list[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "SOON", 0.01)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told: list[bool] = []

    def late() -> None:
        end = time.monotonic() + 20.0
        while "until whoever writes to it closes it" not in caplog.text:
            if time.monotonic() > end:
                break
            time.sleep(0.01)
        told.append("until whoever writes to it closes it" in caplog.text)
        pipe.write_text("shall I compare thee\n")

    writer = Thread(target=late, daemon=True)
    writer.start()
    with caplog.at_level("WARNING"):
        assert main([*words, str(pipe)]) == 3
    writer.join()
    assert told == [True]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-16-le", "utf-16-be"])
def test_other_encodings(encoding: str, tmp_path: Path) -> None:
    plain = FIXTURES / "nvidia-smi-topo/lost-links.txt"
    mark = "\ufeff" if encoding == "utf-32-be" else ""
    other = tmp_path / "topo.txt"
    other.write_bytes((mark + plain.read_text("utf-8")).encode(encoding))
    assert read(str(other)).fields == read(str(plain)).fields


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("nccl-tests/first-generation.log", " 201.33 ", " 1e29 ", "busbw_bytes_per_s is 1e+38"),
        ("nvidia-smi-topo/lost-links.txt", "\t0-31\t", "\tnan\t", '"nan"'),
        ("megatron-log/titan.log", "tflops: ", "tflops: 99999999999", "flop_per_s"),
    ],
)
def test_numbers_that_cannot_be_are_remarked(
    name: str, old: str, new: str, said: str, tmp_path: Path
) -> None:
    text = (FIXTURES / name).read_text("utf-8")
    assert old in text
    other = tmp_path / "odd"
    other.write_text(text.replace(old, new), "utf-8")
    warnings = read(str(other)).warnings
    assert any(said in line and "no such thing" in line for line in warnings), warnings
    assert not any("no such thing" in line for line in read(str(FIXTURES / name)).warnings)


def test_names_and_kinds_are_those_of_the_design() -> None:
    kinds = {"system", "measurement", "workload", "trace", "log", "jobs", "state"}
    assert {one.kind for one in formats()} <= kinds
    assert all(one.tested or one.notes for one in formats())
