"""All-to-alls in rounds of which some are played, against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from artery.catalog import system
from artery.core.system import System
from artery.errors import InputError
from artery.simulator import choice
from artery.simulator.explicit import rounds
from artery.simulator.loads import relief
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

MIB = 2**20
pytestmark = pytest.mark.usefixtures("compiled_loops")


@pytest.fixture(scope="module")
def fabric() -> System:
    return system("dgx-h100:256")


def played(built: System, name: str, size: int, scenario: Scenario) -> Simulation:
    return simulate(built, shaped(built, "alltoall", name, size, np.arange(built.chips)), scenario)


@pytest.mark.parametrize("most", [128, 24])
@pytest.mark.parametrize("name", ["pairwise", "windowed"])
@pytest.mark.parametrize("scenario", [{}, {"failed": 0.01, "seed": 3}])
def test_all_rounds_take_as_long_as_some_say(
    fabric: System, name: str, most: int, scenario: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(rounds, "MOST_HOPS", most * 256 * rounds.PIECES * rounds.HOPS)
    some = played(fabric, name, 64 * MIB, Scenario(engine="sampled", **scenario))  # type: ignore[arg-type]
    whole = played(fabric, name, 64 * MIB, Scenario(engine="messages", **scenario))  # type: ignore[arg-type]
    assert some.chosen.engine == "sampled"
    assert some.between is not None
    assert some.between[0] < whole.jobs[0] < some.between[1]
    assert some.events < whole.chosen.count


def test_where_all_rounds_are_played_the_loads_are_exact(fabric: System) -> None:
    some = played(fabric, "pairwise", 16 * MIB, Scenario(engine="sampled"))
    whole = played(fabric, "pairwise", 16 * MIB, Scenario(engine="messages"))
    assert np.array_equal(some.carried, whole.carried)


def test_windows_are_in_every_stretch_and_as_long_as_it_takes_to_come_apart() -> None:
    built = system("rail-clos-h100:4096")
    job = shaped(built, "alltoall", "pairwise", MIB, np.arange(4096))[0]
    first, length, apart = rounds._windows(job, Scenario())
    assert (length, apart) == (128, 64)
    assert len(first) == rounds.MOST_HOPS // (4096 * rounds.PIECES * rounds.HOPS) // 128
    stretch = (job.schedule.steps - length) / len(first)
    assert (first // stretch).astype(int).tolist() == list(range(len(first)))


def test_too_many_messages_in_rounds_are_sampled_by_themselves(
    fabric: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "MOST_MESSAGES", 60_000)
    monkeypatch.setattr(rounds, "MOST_HOPS", 32 * 256 * rounds.PIECES * rounds.HOPS)
    found = played(fabric, "pairwise", 16 * MIB, Scenario())
    assert (found.chosen.engine, found.chosen.why) == ("sampled", "many")
    late = played(fabric, "pairwise", 16 * MIB, Scenario(late={9: 1e-3}))
    assert late.seconds == pytest.approx(found.seconds + 1e-3)
    assert max(one.gain for one in relief(found)) > 1.02
    sprayed = played(fabric, "pairwise", 16 * MIB, Scenario(routing="spray"))
    assert sprayed.chosen.engine == "sampled"
    with pytest.raises(InputError, match="65,280 messages"):
        played(fabric, "pairwise", 16 * MIB, Scenario(failed=0.1, failing=1e-6))
