"""How a run that is of no use, or cannot come further, is said to be so."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from artery.answers.train import _copied
from artery.answers.train.request import read_request
from artery.cli import main
from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.errors import InputError
from artery.report.train import _failures
from artery.report.train.exchange import exchange_lines
from artery.report.train.words import train_words
from artery.runner.checkpoint.folder import Folder, Torn
from artery.runner.models.factory import load
from artery.runner.probing.costs import Costs
from artery.runner.probing.machine import Machine as Machine_
from artery.runner.probing.machine import Sharing, Wire
from artery.runner.probing.measured import Run
from artery.runner.supervisor.control import Supervisor
from artery.runner.supervisor.repeats import Repeats
from tests.runner.conftest import policy, run

REAL = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]


def real(test: Any) -> Any:
    for mark in REAL:
        test = mark(test)
    return test


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"global_batch": 3}, "--global-batch  3, the batch norm of a resnet18 over 32 pixels"),
        ({"global_batch": 10**12}, "--global-batch  1,000,000,000,000, a rank holds at least"),
        ({"accumulate": 10**6}, "--accumulate  1,000,000, each pass needs a sample"),
        ({"max_ranks": 1}, "--max-ranks  1, no fewer than --ranks 2"),
        ({"log": "/proc/nope"}, "--log  /proc/nope: "),
    ],
)
def test_shares_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        read_request("resnet18", options)
    assert words in str(error.value)


def test_a_log_that_cannot_be_copied_is_said_to_be_so(tmp_path: Path) -> None:
    log, notes = tmp_path / "log", list[str]()
    log.write_text("{}\n")
    assert _copied(log, "/dev/full", notes.append) == "No space left on device"
    assert notes == ["the log of phases could not be copied: No space left on device"]
    for place in (None, str(tmp_path / "copy"), str(log)):
        assert _copied(log, place, notes.append) == ""
    assert (tmp_path / "copy").read_text() == "{}\n"


def test_the_least_share_that_can_be_is_taken() -> None:
    read_request("resnet18", {"global_batch": 4})
    read_request("resnet18", {"global_batch": 2, "size": 64})
    read_request("transformer", {"global_batch": 2})
    read_request("resnet18", {"global_batch": 32, "accumulate": 8})


def test_a_log_that_is_checked_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("old", "utf-8")
    read_request("resnet18", {"log": str(tmp_path / "log")})
    read_request("resnet18", {"log": str(tmp_path / "new")})
    assert (tmp_path / "log").read_text("utf-8") == "old"
    assert [place.name for place in tmp_path.iterdir()] == ["log"]


def test_zero_does_not_say_that_a_run_was_told_to_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "resnet18", "--preempted-code", "0"]) == 2
    assert "--preempted-code" in capsys.readouterr().err


def test_an_error_is_the_same_again_unless_steps_were_done_since() -> None:
    repeats = Repeats()
    assert not repeats.again("ValueError: no", 5, 1)
    assert not repeats.again("ValueError: no", 5, 1)  # another rank of that attempt
    assert not repeats.again("ValueError: other", 5, 2)
    repeats.came_to(6)
    assert not repeats.again("ValueError: no", 5, 3)
    assert not repeats.found
    assert repeats.again("ValueError: no", 5, 4)
    assert repeats.found


def begun(**more: Any) -> Machine:
    machine = Machine(policy(1, store=False, **more))
    started = machine.handle(events.HostJoined(0.0, "h0", 1))
    (members,) = [one.members for one in started if isinstance(one, actions.Start)]
    machine.handle(events.Ready(1.0, members[0]))
    assert machine.phase == "running"
    return machine


def test_told_to_go_before_a_step_is_done_it_waits_no_longer_than_the_grace() -> None:
    machine = begun(pause=100.0, grace=3.0)
    machine.handle(events.Preempted(2.0, "SIGTERM"))
    assert machine.deadline == 5.0
    machine.handle(events.Stepped(4.0, 1, 1))
    assert machine.deadline == 104.0  # now there is a step to be saved


def test_told_to_go_after_a_step_it_waits_for_it_to_be_saved() -> None:
    machine = begun(pause=100.0, grace=3.0)
    machine.handle(events.Stepped(2.0, 1, 1))
    machine.handle(events.Preempted(3.0, "SIGTERM"))
    assert machine.deadline == 103.0


def test_steps_done_again_without_a_restart_are_said() -> None:
    result = SimpleNamespace(restarts=0, resizes=0, lost_steps=30)
    answer: Any = SimpleNamespace(result=result)
    assert _failures(answer, train_words("en")) == (
        "restarts: 0, steps lost and done again: 30, resizes: 0"
    )


@pytest.mark.parametrize("text", ["junk", "[]", "{}", '{"schema": "artery.checkpoint/1"}'])
def test_a_manifest_that_is_none_is_said_in_words(tmp_path: Path, text: str) -> None:
    place = tmp_path / "step-00000020"
    place.mkdir()
    (place / "manifest.json").write_text(text, "utf-8")
    (place / "state.bin").touch()
    with pytest.raises(Torn, match="manifest") as error:
        Folder(tmp_path).read(20)
    assert "Expecting" not in str(error.value)


def test_figures_of_the_last_attempt_are_said_to_be_so() -> None:
    figures = {"steps": 4, "averages": 2, "largest_drift": 0.1}
    assert "counted in the last of 3 attempts only" in list(exchange_lines(figures, "en", 3))
    assert len(list(exchange_lines(figures, "en"))) == 2


def test_a_module_without_a_name_is_refused_in_words() -> None:
    with pytest.raises(InputError, match=r"is no name of a module") as error:
        load("../x:y")
    assert "relative import" not in str(error.value)


def test_in_a_step_no_all_reduce_is_faster_than_the_fastest_that_was_timed() -> None:
    wire = Wire(2, (4096.0, 65536.0), (60e-6, 90e-6), (80e-6, 120e-6))
    machine = Machine_(Costs({}, 0.0), {(2, "none"): wire}, Sharing(0.01, 1e-3), 2, 0.0)
    sent = machine._sent(50_000, Run("resnet18"), 2)
    assert (sent.wire_s, sent.beside_s) == (60e-6, 60e-6)


def test_a_host_that_has_not_joined_in_time_is_missed() -> None:
    supervisor: Any = object.__new__(Supervisor)
    started: list[int] = []
    supervisor._fleet = SimpleNamespace(places=2)
    supervisor.hosts = SimpleNamespace(start=started.append)
    supervisor._invited, supervisor._wanted, supervisor._joined = 0, 1, 1
    assert supervisor._missing() == 0
    supervisor._invite()
    assert (started, supervisor._missing()) == ([2], 1)
    supervisor._joined += 1
    assert supervisor._missing() == 0


@real
def test_a_run_that_diverges_says_from_which_step_on(tmp_path: Path) -> None:
    found = run(tmp_path, 1, steps=4, lr=1e38)
    (said,) = found.result.warnings
    assert found.result.outcome == "finished"
    assert said.startswith("the loss is not finite from step ")
    assert int(said.split("step ")[1].split()[0]) in (2, 3)
    assert found.notes.count(said) == 1


@real
def test_where_all_states_are_torn_it_says_that_it_begins_anew(tmp_path: Path) -> None:
    run(tmp_path, 1, steps=40)
    for place in (tmp_path / "checkpoints").iterdir():
        (place / "state.bin").write_bytes(b"junk")
    newest, older = Folder(tmp_path / "checkpoints").newest()
    found = run(tmp_path, 1, steps=40)
    first, second, third = found.notes[:3]
    assert first.startswith(f"step-{newest:08d}: ")
    assert first.endswith("; an older one is tried")
    assert second.startswith(f"step-{older:08d}: ")
    assert second.endswith("; there is no older state: training begins anew")
    assert third == "1 ranks go on from step 0 (nothing)"
    assert found.result.lost_steps == 40
