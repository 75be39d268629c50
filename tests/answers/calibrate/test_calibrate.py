"""Calibration of systems: planted constants found again, files that price as fitted, refusals."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from artery.answers.calibrate import calibrate
from artery.answers.calibrate.data import Sweep
from artery.answers.calibrate.file import calibrated_values
from artery.answers.calibrate.result import CalibrateAnswer
from artery.answers.calibrate.system import after, base_of, parameter, predictor
from artery.answers.expect import expect
from artery.calibrator.fit import fit
from artery.cli import main
from artery.core.arrays import Floats
from artery.errors import InputError, UnknownNameError
from artery.report.calibrate import calibrated_file
from tests.answers.training_runs import log, script

CLOUD = str(Path(__file__).parents[2] / "fixtures" / "calibrate" / "slower-cloud.log")


@cache
def slower_cloud() -> CalibrateAnswer:
    """Return all that is fitted to the log of a cloud."""
    return calibrate(CLOUD, on="aws-p5")


def sweep(nodes: int, first: int = 10, last: int = 33) -> Sweep:
    sizes = tuple(2**power for power in range(first, last))
    return Sweep("planted", "all_reduce", 8 * nodes, nodes, sizes, (1.0,) * len(sizes))


def test_planted_constants_lie_in_their_intervals_in_8_of_10_cases() -> None:
    base = base_of("aws-p5", (), None)
    paths = ("node.bandwidth", "fabric.nic.efficiency", "calibration.node_start",
             "calibration.network_fill", "calibration.network_message")  # fmt: skip
    knobs = base.knobs(paths)
    sweeps = (sweep(1), sweep(4))
    # What lies between nodes changes nothing within one: its times are asked for less often.
    within, all_of = predictor(base, sweeps[:1], knobs[::2][:2]), predictor(base, sweeps[1:], knobs)

    def predict(factors: Floats) -> Floats:
        return np.concatenate([within(factors[::2][:2]), all_of(factors)])

    some = np.exp(np.linspace(-0.3, 0.3, len(knobs)))
    np.testing.assert_array_equal(predict(some), predictor(base, sweeps, knobs)(some))
    held = np.zeros(len(knobs))
    cases = 100
    for seed in range(cases):
        draw = np.random.default_rng(seed)
        # Slower than the catalog says, as clouds are: no efficiency above one.
        least, most = [-0.3, -0.4, -0.5, -0.6, -1.0], [0.1, 0.0, 0.5, 0.8, 2.0]
        planted = np.exp(draw.uniform(least, most))
        times = predict(planted) * np.exp(draw.normal(0.0, 0.04, 2 * len(sweeps[0].sizes)))
        found = fit([parameter(one) for one in knobs], predict, times)
        for place, (knob, one) in enumerate(zip(knobs, found.fitted, strict=True)):
            truth = after(base, knob, planted[place])
            held[place] += after(base, knob, one.low) <= truth <= after(base, knob, one.high)
    assert 0.7 <= held.mean() / cases <= 0.9, held / cases
    assert (held / cases >= 0.65).all(), held / cases


def test_a_slower_cloud_is_fitted_and_checked_on_sizes_that_were_not_used() -> None:
    found = slower_cloud()
    assert found.after < found.before / 2
    assert found.check is not None
    assert found.check.after < found.check.before / 2
    assert {one.knob.path for one in found.changed} >= {"calibration.network_fill"}
    for one in found.changed:
        assert one.low <= one.after <= one.high


def test_further_channels_of_small_messages_are_found_and_halve_the_error_of_sizes_not_used(
    tmp_path: Path,
) -> None:
    overrides = ["calibration.network_message=1.5 us", "calibration.network_fill=1.6"]
    sizes = tuple(2**power for power in range(3, 35))
    rows = expect("all_reduce", "aws-p5:16", sizes=sizes, overrides=overrides).rows
    draw = np.random.default_rng(1)
    points = [
        f"  - {{size: {row.size}, busbw: {row.speed.busbw * float(np.exp(jitter)) / 1e9:.9f} GB/s}}"
        for row, jitter in zip(rows, draw.normal(0.0, 0.04, len(rows)), strict=True)
    ]
    path = tmp_path / "facts.yaml"
    head = "hardware: {system: aws-p5, nodes: 2, gpus_per_node: 8}\nworkload: {collective: "
    path.write_text(f"{head}all_reduce}}\nmeasured:\n" + "\n".join(points) + "\n", encoding="utf-8")
    found = calibrate(str(path), on="aws-p5")
    (message,) = (one for one in found.changed if one.knob.path == "calibration.network_message")
    assert message.before == 0.0
    assert message.after == pytest.approx(1.5e-6, rel=0.15)
    check = found.check
    assert check is not None
    assert check.after < check.before / 2
    assert [one.low for one in check.classes] == [0, 16384, 2**20]
    assert sum(one.points for one in check.classes) == check.points


def test_the_written_file_prices_as_fitted(tmp_path: Path) -> None:
    found = slower_cloud()
    path = tmp_path / "mine.toml"
    path.write_text(calibrated_file(calibrated_values(found), found), encoding="utf-8")
    sizes = [one.size for one in found.rows]
    priced = expect("all_reduce", f"{path}:16", sizes=sizes)
    for row, one in zip(priced.rows, found.rows, strict=True):
        assert row.speed.seconds == pytest.approx(one.after, rel=1e-3)
    told = path.read_text(encoding="utf-8")
    assert "fitted by artery calibrate to 15 points" in told
    assert "kept" in told


def test_a_calibrated_file_can_be_calibrated_again(tmp_path: Path) -> None:
    wanted = ["calibration.network_fill", "node.bandwidth"]
    found = calibrate(CLOUD, on="aws-p5", wanted=wanted)
    path = tmp_path / "mine.toml"
    path.write_text(calibrated_file(calibrated_values(found), found), encoding="utf-8")
    again = calibrate(CLOUD, on=str(path), wanted=wanted)
    assert again.before == pytest.approx(found.after, rel=0.05)
    assert calibrated_values(again)["base"] == "aws-p5"


def test_a_calibrated_start_is_what_expect_takes() -> None:
    usual = expect("all_reduce", "aws-p5:16", sizes=[8]).rows[0].speed.seconds
    slow = expect("all_reduce", "aws-p5:16", sizes=[8], overrides=["calibration.network_start=2"])
    inside = expect("all_reduce", "aws-p5:8", sizes=[8], overrides=["calibration.node_start=2"])
    assert slow.rows[0].speed.seconds > 1.3 * usual
    base = expect("all_reduce", "aws-p5:8", sizes=[8]).rows[0].speed.seconds
    # Another protocol, whose start is not that of small messages, may then be the faster one.
    assert 1.2 * base < inside.rows[0].speed.seconds <= 2 * base


def test_the_clock_of_the_chips_is_scaled() -> None:
    from artery.answers.systems import system_of

    usual, fast = (
        system_of("dgx-h100:8", more).chip.efficiency.sustained
        for more in ((), ("calibration.compute=0.5",))
    )
    assert fast == pytest.approx(usual / 2)


def test_wanted_values_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    # Small messages only: a step's latency and its start-up are one number.
    rows = "".join(
        f"{2**p:12d} {2**p // 4:13d} float sum -1 {80 + p:8.1f} 0.10 0.10 0\n" for p in range(3, 13)
    )
    devices = "".join(
        f"#  Rank {r:2d} Group 0 Pid {r + 9} on host{r // 8} device {r % 8} [0x0{r % 8}] H100\n"
        for r in range(16)
    )
    path = tmp_path / "small.log"
    path.write_text(
        f"{devices}#  size count type redop root time algbw busbw #wrong\n{rows}"
        "# Out of bounds values : 0 OK\n"
    )
    wanted = ["fabric.latency", "calibration.network_start"]
    with pytest.raises(InputError, match="cannot tell them apart"):
        calibrate(str(path), on="aws-p5", wanted=wanted)
    alone = calibrate(str(path), on="aws-p5", wanted=wanted[:1])
    assert [one.knob.path for one in alone.changed] == wanted[:1]


def test_a_value_of_which_the_data_say_nothing_is_refused_or_kept() -> None:
    with pytest.raises(InputError, match="less of it than is known"):
        calibrate(CLOUD, on="aws-p5", wanted=["fabric.nic.efficiency"], smallest=2**20)
    kept = {one.path: one.reason for one in slower_cloud().kept}
    assert kept["fabric.nic.efficiency"] == "silent"


def test_what_cannot_be_fitted_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"node\.bandwidth"):
        calibrate(CLOUD, on="aws-p5", wanted=["node.bandwith"])
    with pytest.raises(InputError, match="no such value"):
        calibrate(CLOUD, on="rtx3090x2", wanted=["fabric.hop"])
    small = tmp_path / "small.log"
    text = Path(CLOUD).read_text(encoding="utf-8")
    small.write_text(text.replace("NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 3090"), "utf-8")
    with pytest.raises(InputError, match="16 ranks on 2 node"):
        calibrate(str(small), on="rtx3090x2")
    with pytest.raises(InputError, match="4 points at least"):
        calibrate(CLOUD, on="aws-p5", smallest=2**33)
    wrong = tmp_path / "wrong.log"
    wrong.write_text(Path(CLOUD).read_text().replace("values : 0 OK", "values : 3 FAILED"))
    with pytest.raises(InputError, match="corruption"):
        calibrate(str(wrong), on="aws-p5")
    empty = tmp_path / "facts.yaml"
    empty.write_text("hardware: {chip: h100-sxm}\nsoftware: {nccl: 2.21.5}\n")
    with pytest.raises(InputError, match="no measured sweep"):
        calibrate(str(empty), on="aws-p5")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.toml"
    one = ["calibrate", CLOUD, "--on", "aws-p5", "--fit", "calibration.network_fill"]
    assert main([*one, "-o", str(out)]) == 0
    assert "80 % interval" in capsys.readouterr().out
    assert main(["expect", "all_reduce", "--on", f"{out}:16", "--sizes", "1G", "--json"]) == 0
    capsys.readouterr()
    assert main([*one, "--lang", "zh", "--smallest", "4M"]) == 0
    assert "已改变" in capsys.readouterr().out
    assert main([*one, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("# From artery calibrate")
    assert main([*one, "-o", "-", "--json"]) == 2
    capsys.readouterr()
    assert main([*one, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["check"]["points"] == 7


def trained(tmp_path: Path, seconds: float) -> tuple[str, str]:
    """Return a launch script, and a log that reports steps of so many seconds."""
    return script(tmp_path / "run.sh"), log(tmp_path / "train.log", seconds)


def test_a_training_log_tells_what_the_chips_sustain(tmp_path: Path) -> None:
    run, log = trained(tmp_path, 4.0)
    found = calibrate(log, on="dgx-h100", plan_from=run)
    assert [one.knob.path for one in found.changed] == ["calibration.compute"]
    (row,) = found.rows
    assert (row.collective, row.ranks, row.measured) == ("step", 32, 4.0)
    assert row.after == pytest.approx(4.0, rel=0.02)
    assert abs(row.before - 4.0) > abs(row.after - 4.0)


def test_a_fitted_clock_prices_the_run_as_it_was_measured(tmp_path: Path) -> None:
    from artery.answers.plan import plan
    from artery.answers.saved import read_plan

    run, log = trained(tmp_path, 4.0)
    found = calibrate(log, on="dgx-h100", plan_from=run)
    path = tmp_path / "mine.toml"
    path.write_text(calibrated_file(calibrated_values(found), found), encoding="utf-8")
    asked = read_plan(run)
    assert asked.model is not None
    priced = plan(asked.model, f"{path}:32", explained=False, **asked.options)
    assert priced.plans[0].time.root.value == pytest.approx(found.rows[0].after, rel=1e-3)


def test_logs_of_collectives_and_of_training_are_fitted_together(tmp_path: Path) -> None:
    run, log = trained(tmp_path, 4.0)
    wanted = ["node.bandwidth", "calibration.network_fill", "calibration.compute"]
    found = calibrate(CLOUD, log, on="aws-p5", plan_from=run, wanted=wanted)
    paths = {one.knob.path for one in found.changed}
    assert paths == set(wanted)
    assert found.rows[-1].collective == "step"


def test_a_training_log_alone_needs_its_plan_and_tells_nothing_of_hops(tmp_path: Path) -> None:
    run, log = trained(tmp_path, 4.0)
    with pytest.raises(InputError, match="no measured sweep"):
        calibrate(log, on="dgx-h100")
    with pytest.raises(InputError, match="less of it than is known"):
        calibrate(log, on="dgx-h100", plan_from=run, wanted=["fabric.hop"])


def saturating(tmp_path: Path, ranks: int, plateau: float, smallest: int) -> Path:
    """Return an all-reduce log of t = 30 us + S 2(n-1)/n / plateau (B/s), eight ranks a node."""
    lines = ["# nThread 1 nGpus 1 minBytes 8 maxBytes 17179869184 step: 2(factor)"]
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid {rank:6d} on node{rank // 8:02d} device {rank % 8} "
        f"[0x0{rank % 8}] NVIDIA H100 80GB HBM3"
        for rank in range(ranks)
    ]
    lines.append("#  size  count  type  redop  root  time  algbw  busbw #wrong")
    factor = 2 * (ranks - 1) / ranks
    for power in range(smallest, 35):
        size = 2**power
        seconds = 30e-6 + size * factor / plateau
        speed = size / seconds / 1e9
        cells = f"{seconds * 1e6:.2f} {speed:.2f} {speed * factor:.2f} 0"
        lines.append(f"{size} {size // 4} float sum -1 {cells} {cells}")
    path = tmp_path / "nccl-tests.log"
    header = ["# nccl-tests version 2.13.8 all_reduce_perf"]
    path.write_text("\n".join([*header, *lines, "# Out of bounds values : 0 OK"]), "utf-8")
    return path


def test_links_are_fitted_no_faster_than_their_data_sheet(tmp_path: Path) -> None:
    found = calibrate(str(saturating(tmp_path, 32, 380e9, 20)), on="dgx-h100:32")
    (cards,) = (one for one in found.changed if one.knob.path == "fabric.nic.efficiency")
    assert cards.after == 1  # ports of 400 Gb/s; 380 GB/s by NVLSTree needs more of eight
    assert cards.high <= 1
    assert cards.at_limit
    assert "fabric.nic.efficiency is at its limit, 1" in calibrated_file(
        calibrated_values(found), found
    )


def test_links_that_were_cut_are_fitted_no_faster_than_those_that_are_left() -> None:
    base = base_of("hgx-h800", (), None)
    (knob,) = base.knobs(("node.bandwidth",))
    assert after(base, knob, 2.0) == 200e9  # 8 of the 18 links of an H100


def test_a_system_that_does_worse_on_sizes_not_seen_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_path, out = saturating(tmp_path, 32, 340e9, 20), tmp_path / "mine.toml"
    check = calibrate(str(log_path), on="dgx-h100:32").check
    assert check is not None
    assert check.after > check.before
    asked = ["calibrate", str(log_path), "--on", "dgx-h100:32", "-o", str(out)]
    assert main(asked) == 5
    said = capsys.readouterr()
    assert "no system is written: on 7 sizes that the fit did not see" in said.err
    assert f"next  artery diagnose {log_path}"[:20] in said.out
    assert not out.exists()
    assert main([*asked, "--even-worse"]) == 0
    assert out.exists()
