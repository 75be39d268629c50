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
        ("kill:rank=1,phase=lunch", "one of import, rendezvous"),
        ("torn:step=2,how=burn", "truncate or flip"),
        ("hang:agent=1", "agent: kill, stop, partition, term"),
        ("join:rank=1", "that does not exist"),
        ("kill:", "no target, one of rank, agent, store, spare, run is needed"),
        ("kill", "for example kill:rank=0,step=5"),
        ("join:step=3", "for example join:run,step=5"),
        ("slow:rank=1,factor=nan", "a number over 1"),
        ("slow:rank=1,factor=inf", "a number over 1"),
        ("slow:rank=1,factor=1", "a number over 1"),
        ("kill:rank=1,factor=2", "only slow has it"),
        ("kill:rank=1,how=flip", "only torn has it"),
        ("kill:rank=", "must be a whole number from 0 on"),
        ("kill:rank=\u00b2", "must be a whole number from 0 on"),
        ("kill:rank=-1", "must be a whole number from 0 on"),
        ("kill:rank=1,step=0", "a whole number from 1 on"),
        ("kill:rank=1,step=-5", "a whole number from 1 on"),
        ("kill:rank=1,attempt=0", "a whole number from 1 on"),
        ("kill:rank=1,rank=2", "each part is said once"),
        ("kill:rank=1,agent=0", "a fault has one target"),
        ("kill:store=3", "there is one store"),
        ("kill:rank=1,phase=import", "only agents import"),
        ("torn:rank=1,step=5", "rank 0 writes checkpoints"),
        ("torn:step=5,phase=save", "the first checkpoint from a step on"),
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
