"""Drills: spelled right or refused, and each happens once."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.errors import InputError
from artery.runner.faults import Fault, Faults, read_faults


def test_a_fault_is_read() -> None:
    assert read_faults(["kill:rank=1,step=12", "torn:step=20,how=flip", "kill:store,step=9"]) == (
        Fault(0, "kill", "rank", 1, step=12),
        Fault(1, "torn", "rank", 0, step=20, how="flip"),
        Fault(2, "kill", "store", step=9),
    )


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("kil:rank=1", 'did you mean "kill"?'),
        ("kill:rank=1,stepp=3", "known: rank, agent"),
        ("kill:rank=1,step=x", "a whole number"),
        ("kill:rank=1,phase=lunch", "one of idle, import"),
        ("torn:step=2,how=burn", "truncate or flip"),
        ("hang:agent=1", "agent: kill, stop, partition, term"),
        ("join:rank=1", "that does not exist"),
        ("", "no such fault"),
    ],
)
def test_what_is_wrong_is_said(spec: str, told: str) -> None:
    with pytest.raises(InputError, match=r".") as error:
        read_faults([spec, "also:wrong"])
    assert told in str(error.value)
    assert len(error.value.problems) == 2


def test_a_fault_happens_once_at_its_place_and_rank(tmp_path: Path) -> None:
    asked = read_faults(["error:rank=1,step=5", "error:rank=0,step=3,phase=load,attempt=2"])
    faults = Faults(asked, tmp_path)
    faults.rank, faults.attempt = 1, 1
    faults.at("step", 4)
    faults.at("exchange", 5)
    with pytest.raises(RuntimeError, match="asked for"):
        faults.at("step", 5)
    faults.at("step", 5)
    again = Faults(asked, tmp_path)  # a process that takes its place
    again.rank, again.attempt = 1, 2
    again.at("step", 5)
    again.rank = 0
    again.at("load", 2)
    with pytest.raises(RuntimeError, match="asked for"):
        again.at("load", 3)


def test_what_others_must_do_is_asked_of_them(tmp_path: Path) -> None:
    asked: list[Fault] = []
    faults = Faults(read_faults(["kill:store,step=2"]), tmp_path, asked.append)
    faults.rank = 1
    faults.at("step", 2)
    assert asked == []
    faults.rank = 0
    faults.at("step", 2)
    assert [fault.target for fault in asked] == ["store"]
