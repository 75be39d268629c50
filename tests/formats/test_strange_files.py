"""What transport does to files, numbers that cannot be, what is cut: said, never passed over."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from artery.answers.lint import lint
from artery.errors import InputError
from artery.formats.launch.files import launch_of
from artery.formats.launch.shell_words import LARGEST
from artery.formats.plausible import cut_lists
from artery.formats.recognise import read
from artery.formats.text import Text
from tests.formats.readings import FIXTURES

LOG = FIXTURES / "nccl-tests/first-generation.log"
TOPOLOGY = FIXTURES / "nvidia-smi-topo/lost-links.txt"
MARK = "\ufeff"


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")


@pytest.mark.parametrize("path", [LOG, TOPOLOGY], ids=lambda path: path.parent.name)
@pytest.mark.parametrize(
    "how", ["two marks", "marks between", "utf-16-le", "utf-16-be", "titles", "long line", "cr"]
)
def test_what_was_added_on_the_way_changes_nothing(path: Path, how: str, tmp_path: Path) -> None:
    lines = lines_of(path)
    text = "\n".join(lines)
    changed = {
        "two marks": (MARK + MARK + text).encode(),
        "marks between": f"\n{MARK}".join(lines).encode(),
        "utf-16-le": text.encode("utf-16-le"),
        "utf-16-be": text.encode("utf-16-be"),
        "titles": "\n".join(f"\x1b]0;host\x07\x1b[1m{line}\x1b[0m" for line in lines).encode(),
        "long line": f"{text}\n{'x' * 11_000_000}\n".encode(),
        "cr": text.replace("\n", "\r").encode(),
    }[how]
    other = tmp_path / "file"
    other.write_bytes(changed)
    plain, moved = read(str(path)), read(str(other))
    assert (moved.format, moved.summary, moved.fields) == (
        plain.format, plain.summary, plain.fields,
    )  # fmt: skip
    if how == "long line":
        assert moved.ignored[-1].line >= len(lines)


@pytest.mark.parametrize("left", [30, 200, -9])
def test_a_cut_archive_is_refused(left: int, tmp_path: Path) -> None:
    whole = gzip.compress(LOG.read_bytes())
    other = tmp_path / "log.gz"
    other.write_bytes(whole[:left])
    with pytest.raises(InputError, match="a broken archive"):
        read(str(other))


@pytest.mark.parametrize(
    ("algbw", "busbw", "said"),
    [("1e20", "1e20", "no such thing"), ("nan", "2.0", "nan stands in 1 row"),
     ("-5.0", "-7.0", "-7e+09: no such thing")],
)  # fmt: skip
def test_bandwidths_that_cannot_be_are_remarked(
    algbw: str, busbw: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.txt"
    side = "50.00 20.97 36.70 0"
    path.write_text(
        "# nThread 1 nGpus 8 minBytes 8\n"
        "#  size  count  type  redop root  time algbw busbw #wrong  time algbw busbw #wrong\n"
        f" 1048576 262144 float sum -1 {side} {side}\n"
        f" 2097152 524288 float sum -1 50.00 {algbw} {busbw} 0 {side}\n"
    )
    found = read(str(path))
    assert any(said in one for one in found.warnings), found.warnings
    assert max(map(len, found.summary)) < 100


@pytest.mark.parametrize("cell", ["nan", "NaN", "-1", "99999", "x7"])
def test_a_numa_node_that_cannot_be_is_remarked(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(
        "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
        f"GPU0\t X \tNV18\t0-31\t{cell}\nGPU1\tNV18\t X \t0-31\t0\n"
    )
    assert f'the NUMA node of GPU0 is "{cell}"' in " ".join(read(str(path)).warnings)
    path.write_text(path.read_text().replace(cell, "0-1"))
    assert "NUMA node of" not in " ".join(read(str(path)).warnings)


def test_a_script_that_is_too_long_is_refused_and_not_cut() -> None:
    script = "#!/bin/bash\n" + "# a remark\n" * (LARGEST // 11) + "export NCCL_P2P_DISABLE=1\n"
    with pytest.raises(InputError, match="a script has at most 524,288 characters"):
        launch_of(Text("run.sh", script))
    assert launch_of(Text("run.sh", script[:12] + script[-26:])).variables


def test_what_is_beyond_the_part_that_is_looked_at_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    head = (FIXTURES / "megatron-args").glob("*.sh")
    path.write_text(next(iter(head)).read_text("utf-8") + "\n" + "# remark\n" * (LARGEST // 8))
    (beyond,) = read(str(path)).ignored
    assert "beyond the 524,288 characters" in beyond.why
    assert beyond.count > 1


def test_a_list_that_is_cut_is_told() -> None:
    fields = {"jobs": [1, 2], "job_count": 5, "layers": [1], "layer_count": 1}
    assert cut_lists(fields) == ["the first 2 of 5 jobs are listed; sums are of all"]


def test_a_kernel_log_of_many_errors_says_how_many_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "dmesg.txt"
    path.write_text("[1.0] NVRM: Xid (PCI:0000:1d:00): 31, pid=1\n" * 10_050)
    found = read(str(path))
    assert found.fields["count"] == 10_050
    assert "the first 10,000 of 10,050 events are listed; sums are of all" in found.warnings


def test_a_pipe_is_linted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = "#!/bin/bash\nexport NCCL_P2P_DISABLE=1\ntorchrun t.py\n"
    writer = threading.Thread(target=pipe.write_text, args=(script,))
    writer.start()
    assert "p2p-disabled" in {one.rule.id for one in lint(str(pipe)).findings}
    writer.join()
