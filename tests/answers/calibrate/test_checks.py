"""What forbids a calibration, or speaks against it: other machines' logs, and ill ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from artery.answers.calibrate import calibrate
from artery.answers.calibrate.file import calibrated_values
from artery.answers.expect import expect
from artery.cli import main
from artery.errors import InputError
from artery.report.calibrate import calibrated_file
from tests.answers.training_runs import log as training_log
from tests.answers.training_runs import script

ON = "dgx-h100"
SIZES = tuple(2**power for power in range(13, 34))


def curve(
    path: Path,
    slower: Callable[[int], float],
    *,
    ranks: int = 16,
    chip: str = "NVIDIA H100 80GB HBM3",
) -> str:
    """Write a log whose times are the expected ones, slower by a factor of the size."""
    rows = expect("all_reduce", f"{ON}:{ranks}", sizes=SIZES).rows
    lines = [
        f"#  Rank {r:2} Group 0 Pid {r} on host{r // 8} device {r % 8} [0000:{r % 8}7:00] {chip}"
        for r in range(ranks)
    ]
    lines += ["#", "#  size  count  type  redop  root  time  algbw  busbw #wrong"]
    for row in rows:
        seconds = row.speed.seconds * slower(row.size)
        rate = row.size / seconds / 1e9
        cells = f"{seconds * 1e6:.2f} {rate:.2f} {rate * 2 * (ranks - 1) / ranks:.2f} 0"
        lines.append(f"{row.size} {row.size // 4} float sum -1 {cells}")
    text = "\n".join([*lines, "# Out of bounds values : 0 OK", ""])
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_healthy_system_raises_no_doubt(tmp_path: Path) -> None:
    assert not calibrate(curve(tmp_path / "a.log", lambda _: 1.05), on=ON).doubts


def test_half_the_bandwidth_is_fitted_with_a_doubt_that_names_diagnose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = curve(tmp_path / "a.log", lambda size: 2.0 if size >= 2**20 else 1.0)
    found = calibrate(path, on=ON)
    (doubt,) = found.doubts
    assert doubt.reason == "below"
    assert doubt.share == pytest.approx(0.5, rel=0.02)
    assert "# doubt: " in calibrated_file(calibrated_values(found), found)
    assert main(["calibrate", path, "--on", ON]) == 0
    said = capsys.readouterr().out
    assert "a fault would be fitted" in " ".join(said.split())
    # A long path is broken to fit the line.
    assert f"artery diagnose {path} --on {ON}".replace(" ", "") in "".join(said.split())
    # The same answer in other forms: it need not be fitted again.
    monkeypatch.setattr("artery.answers.calibrate.calibrate", lambda *_, **__: found)
    assert main(["calibrate", path, "--on", ON, "--lang", "zh"]) == 0
    assert "存疑" in capsys.readouterr().out
    assert main(["calibrate", path, "--on", ON, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["doubts"]
    assert (told["file"], told["reason"]) == (path, "below")


def test_what_diagnose_calls_faulty_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tcp = curve(tmp_path / "tcp.log", lambda _: 10.0)
    with pytest.raises(InputError, match="a fault is no constant"):
        calibrate(tcp, on=ON)
    falling = curve(tmp_path / "falling.log", lambda size: 3.0 if size >= 2**28 else 1.0)
    assert main(["calibrate", falling, "--on", ON, "-o", str(tmp_path / "mine.toml")]) == 3
    said = capsys.readouterr().err
    assert "falls from" in said
    assert f"artery diagnose {falling} --on {ON}" in said
    assert not (tmp_path / "mine.toml").exists()


def test_more_than_the_system_can_give_is_doubted(tmp_path: Path) -> None:
    (doubt,) = calibrate(curve(tmp_path / "a.log", lambda _: 0.5), on=ON).doubts
    assert doubt.reason == "above"


def test_a_slow_step_is_doubted(tmp_path: Path) -> None:
    launched = script(tmp_path / "run.sh")
    slow = training_log(tmp_path / "train.log", 12.0)
    (doubt,) = calibrate(slow, on=ON, plan_from=launched).doubts
    assert (doubt.source, doubt.reason) == (slow, "step")


def test_logs_of_other_chips_are_refused(tmp_path: Path) -> None:
    path = curve(tmp_path / "a.log", lambda _: 1.0, chip="NVIDIA A100-SXM4-80GB")
    with pytest.raises(InputError, match=r"a log of a100-80g, the chips of dgx-h100 are h100-sxm"):
        calibrate(path, on=ON)
    unknown = curve(tmp_path / "b.log", lambda _: 1.0, chip="A card that nobody knows")
    assert calibrate(unknown, on=ON).changed


def test_chips_that_differ_in_memory_alone_are_taken(tmp_path: Path) -> None:
    path = curve(tmp_path / "a.log", lambda _: 1.0, chip="NVIDIA A100-SXM4-40GB", ranks=8)
    assert calibrate(path, on="dgx-a100").doubts[0].reason == "above"


def test_more_ranks_than_were_named_are_refused(tmp_path: Path) -> None:
    path = curve(tmp_path / "a.log", lambda _: 1.0)
    with pytest.raises(InputError, match=r"16 ranks, --on names 8 chips of dgx-h100"):
        calibrate(path, on=f"{ON}:8")
    launched = script(tmp_path / "run.sh")
    with pytest.raises(InputError, match="32 chips"):
        calibrate(training_log(tmp_path / "t.log", 4.0), on=f"{ON}:16", plan_from=launched)
    assert calibrate(path, on=f"{ON}:16").changed


@pytest.mark.parametrize("which", ["log", "script", "system", "link"])
def test_no_input_is_overwritten(
    which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launched = script(tmp_path / "run.sh")
    log = training_log(tmp_path / "train.log", 4.0)
    system, link = tmp_path / "mine.toml", tmp_path / "link.toml"
    system.write_text(f'base = "{ON}"\n', encoding="utf-8")
    link.symlink_to(system)
    out = {"log": log, "script": launched, "system": str(system), "link": str(link)}[which]
    before = Path(out).read_bytes()
    command = ["calibrate", log, "--from", launched, "--on", f"{system}:32", "-o", out]
    assert main(command) == 2
    assert "would write over" in capsys.readouterr().err
    assert Path(out).read_bytes() == before


def test_refusals_are_said_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = curve(tmp_path / "a.log", lambda _: 1.0, chip="NVIDIA A100-SXM4-80GB")
    for asked, said in (
        (["--on", ON], "a100-80g 的日志，dgx-h100 的芯片是 h100-sxm"),
        (["--on", "dgx-a100:8"], "只写了 dgx-a100 的 8 个芯片"),
    ):
        assert main(["calibrate", path, *asked, "--lang", "zh"]) == 3
        assert said in capsys.readouterr().err
