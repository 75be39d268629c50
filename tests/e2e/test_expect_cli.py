"""``artery expect`` as typed."""

from __future__ import annotations

import json

import pytest

from artery.cli import main

ON = ("--on", "dgx-h100:16")


def test_json_has_the_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expect", "all-reduce", *ON, "--size", "64M", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["schema"] == "artery.expect/1"
    assert {
        "size_bytes", "time_s", "algbw_bytes_per_s", "busbw_bytes_per_s",
        "wire_bytes_per_s_per_chip", "algorithm", "protocol", "low_s", "high_s",
    } <= written["rows"][0].keys()  # fmt: skip


def test_the_table_ends_with_the_next_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expect", "all_reduce", *ON, "--sizes", "8:1M:x4"]) == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    following = lines[-1].split()
    assert following[:2] == ["artery", "expect"]
    assert main(following[1:]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("all_reduse", *ON), 3, ("all_reduse", "all_reduce")),
        (("all_reduce", "--on", "dgx-h10"), 3, ("dgx-h10", "dgx-h100")),
        (("all_reduce", "--on", "rtx3090x2:8"), 3, ("8 chips", "rtx3090x2:2")),
        (("all_reduce", "--on", "dgx-h100:0"), 3, ("dgx-h100:0", "dgx-h100:64")),
        (("all_reduce", *ON, "--size", "0"), 3, ('"0"', "16G")),
        (("all_reduce", *ON, "--size", "-8"), 3, ('"-8"', "16G")),
        (("all_reduce", *ON, "--size", "1e30"), 3, ("1e30", "16G")),
        (("all_reduce", *ON, "--sizes", "8:16G:2"), 3, ("no step", "8:16G:x2")),
        (("all_reduce", *ON, "--sizes", "1G:1M"), 3, ("ends before", "8:16G:x2")),
        (("all_reduce", *ON, "--algorithm", "rign"), 3, ("rign", "ring")),
        (("all_gather", *ON, "--algorithm", "tree"), 2, ("tree", "auto")),
        (("all_reduce", *ON, "--algorithm", "nvls"), 2, ("2 node(s)", "auto")),
        (("all_reduce", *ON, "--chips-per-node", "9"), 3, ("8 chip", "from 1 to 8")),
        (("all_reduce", *ON, "--chips-per-node", "0"), 2, ("0", "x>=1")),
        (("all_reduce", *ON, "--nccl", "9"), 3, ('"9"', "2.27")),
        (("all_reduce", *ON, "--dtype", "fp7"), 3, ("fp7", "fp")),
        (("all_reduce", *ON, "--sise", "8"), 2, ("--sise", "--size")),
        (("all_reduce",), 2, ("--on", "artery expect")),
    ],
)
def test_wrong_input_says_where_and_what_would_fix_it(
    arguments: tuple[str, ...],
    code: int,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["expect", *arguments]) == code
    err = capsys.readouterr().err
    assert all(word in err for word in words), err
    assert "Traceback" not in err
