"""The short real run at the end of the demo: a rank is killed and the weights come out alike."""

from __future__ import annotations

import pytest

from artery.answers.demo import train as module
from artery.errors import RunError


@pytest.mark.real
def test_a_rank_is_killed_and_the_weights_are_the_same() -> None:
    """Killed before step 15, with checkpoints at 12 and 18: steps 13 and 14 are done again."""
    found = module.demo_train()
    assert "error" not in found
    assert found["same_weights"]
    assert len(found["digest"]) == 64
    assert (found["steps"], found["restarts"], found["lost_steps"]) == (24, 1, 2)
    assert found["recovery_s"] > 0
    # Prediction and measurement of one step: the same order, whatever else runs here.
    assert 0.1 < found["predicted_step_s"] / found["measured_step_s"] < 10


def test_a_machine_that_cannot_train_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RunError("process 0 ended with exit code 1\n  no loopback")

    monkeypatch.setattr("artery.answers.train.train", fails)
    assert module.demo_train() == {"error": "process 0 ended with exit code 1"}
