"""Training logs tell of the framework: what it takes to launch, and what it does not hide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from artery.answers.calibrate import calibrate
from artery.answers.calibrate.file import calibrated_values
from artery.answers.calibrate.result import CalibrateAnswer
from artery.answers.calibrate.system import base_of
from artery.answers.plan import plan
from artery.answers.saved import read_plan
from artery.cli import main
from artery.errors import InputError, UsageError
from artery.report.calibrate import calibrated_file
from tests.answers.training_runs import log, script

ON = "dgx-h100"
RUNS: tuple[dict[str, int], ...] = (
    {},  # long products: the clock decides
    {"nodes": 1, "layers": 24, "hidden": 2048, "ffn": 8192, "seq": 1024, "tp": 8, "batch": 32},
    {"seq": 2048, "tp": 8, "batch": 4},  # little work for many bytes: what hides decides
    {"nodes": 32, "seq": 4096},
)
FRAMEWORK = ["calibration.host", "calibration.exposed"]
PLANTED = {"calibration.compute": 0.9, "calibration.host": 1.6, "calibration.exposed": 1.5}


def step(launched: str, on: str, *overrides: str) -> float:
    """Return what ``plan`` gives for a step of the run, in s."""
    asked = read_plan(launched)
    assert asked.model is not None
    options = asked.options
    answer = plan(asked.model, on, explained=False, overrides=list(overrides), **options)
    return answer.plans[0].time.root.value


@dataclass(frozen=True)
class Planted:
    """Logs of a system with the planted values, what launched them, and the fit to all."""

    logs: list[str]
    scripts: list[str]
    found: CalibrateAnswer


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("planted")
    truth = [f"{path}={value}" for path, value in PLANTED.items()]
    scripts, logs = [], []
    for place, sizes in enumerate(RUNS):
        launched = script(folder / f"{place}.sh", **sizes)
        chips = 8 * sizes.get("nodes", 4)
        framework = "calibration.framework=megatron-core"
        seconds = step(launched, f"{ON}:{chips}", framework, *truth)
        scripts.append(launched)
        logs.append(log(folder / f"{place}.log", seconds, sizes.get("batch", 128)))
    found = calibrate(*logs, on=ON, plan_from=scripts, wanted=list(PLANTED))
    return Planted(logs, scripts, found)


def test_planted_values_of_a_framework_are_found_again(planted: Planted) -> None:
    found = planted.found
    assert found.framework == "megatron-core"
    for one in found.changed:
        assert one.low <= PLANTED[one.knob.path] <= one.high
        assert one.after == pytest.approx(PLANTED[one.knob.path], rel=0.1)
    assert found.after < 0.01 < found.before


def test_many_logs_are_asked_of_the_framework_and_few_are_not() -> None:
    base = base_of(ON, (), None).of_framework("megatron-core")
    for logs, asked in ((1, False), (2, False), (3, True)):
        assert set(FRAMEWORK) <= {one.path for one in base.knobs((), logs)} or not asked
        assert asked or not set(FRAMEWORK) & {one.path for one in base.knobs((), logs)}


def test_one_log_tells_one_value(planted: Planted) -> None:
    logs, scripts = planted.logs, planted.scripts
    alone = calibrate(logs[1], on=ON, plan_from=scripts[1], wanted=FRAMEWORK[:1])
    assert [one.knob.path for one in alone.changed] == FRAMEWORK[:1]
    with pytest.raises(InputError, match=r"cannot tell them apart|less of it than is known"):
        calibrate(logs[1], on=ON, plan_from=scripts[1], wanted=FRAMEWORK)
    with pytest.raises(InputError, match="less of it than is known"):  # its layers hide launches
        calibrate(logs[0], on=ON, plan_from=scripts[0], wanted=FRAMEWORK[:1])


def test_the_file_prices_the_runs_as_fitted(planted: Planted, tmp_path: Path) -> None:
    found = planted.found
    path = tmp_path / "mine.toml"
    path.write_text(calibrated_file(calibrated_values(found), found), encoding="utf-8")
    assert 'framework = "megatron-core"' in path.read_text(encoding="utf-8")
    for row, launched in zip(found.rows, planted.scripts, strict=True):
        assert step(launched, f"{path}:{row.ranks}") == pytest.approx(row.after, rel=1e-3)


def test_values_of_one_framework_leave_others_alone(tmp_path: Path) -> None:
    launched = script(tmp_path / "run.sh", **RUNS[1])
    asked = read_plan(launched)
    assert asked.model is not None
    options = {**asked.options, "framework": "torchtitan"}
    plain, other = (
        plan(asked.model, f"{ON}:8", explained=False, overrides=overrides, **options)
        for overrides in ([], ["calibration.framework=megatron-core", "calibration.host=3"])
    )
    assert plain.plans[0].time.root.value == other.plans[0].time.root.value


def test_logs_and_what_launched_them_must_match(
    planted: Planted, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, scripts = planted.logs, planted.scripts
    with pytest.raises(UsageError, match="2 --from and 3 training logs"):
        calibrate(*logs[:3], on=ON, plan_from=scripts[:2])
    sources = [part for one in scripts for part in ("--from", one)]
    assert main(["calibrate", *logs, *sources, "--on", ON, "--fit", FRAMEWORK[0]]) == 0
    assert "calibration.host" in capsys.readouterr().out
    cloud = Path(__file__).parents[2] / "fixtures" / "calibrate" / "slower-cloud.log"
    with pytest.raises(InputError, match="no training log"):
        calibrate(str(cloud), on="aws-p5", wanted=FRAMEWORK)


def test_a_file_with_values_of_no_framework_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for text, rule in (
        ("host = 2", "of one training framework"),
        ('framework = "megatron-cor"\nhost = 2', "megatron-core"),
    ):
        path.write_text(f'base = "{ON}"\n[calibration]\n{text}\n', encoding="utf-8")
        with pytest.raises(InputError, match=rule):
            step(script(tmp_path / "run.sh"), f"{path}:32")
