"""The figures of the tour's stops inside the chip and in the cloud, as in :mod:`.stops`."""

from __future__ import annotations

from collections.abc import Mapping

from artery.answers.goodput import goodput
from artery.answers.schedule import schedule
from artery.answers.simulate import simulate

Figures = Mapping[str, float]


def inside() -> Figures:
    """All cores of a processor send to all others, over three networks on the chip."""
    times = {kind: _exchange(kind) for kind in ("mesh", "ring", "crossbar")}
    return {**times, "worse": times["ring"] / times["mesh"]}


def _exchange(kind: str) -> float:
    """Seconds of an all-to-all of 4 KiB on the network alone, without the library's start."""
    answer = simulate("alltoall", "xeon-8480-mesh", size=4096, overrides=[f"node.kind=noc-{kind}"])
    return answer.network


def minutes() -> Figures:
    """What shorter restarts leave of Llama 3's run, at its own rate of failures."""
    shares = {
        name: goodput(
            "llama3-405b", "hgx-h100-roce:16384", rate="llama-3", restart_time=seconds
        ).ettr.value
        for name, seconds in (("hours", 7200.0), ("ten", 600.0), ("one", 60.0))
    }
    return {
        **shares,
        "more": shares["ten"] / shares["hours"] - 1.0,
        "last": shares["one"] / shares["ten"] - 1.0,
    }


def pool() -> Figures:
    """Ten thousand chips for training and ten that serve: one pool, and two, and +30 %."""
    answer = schedule(
        "synthetic:llm,jobs=800,days=8,load=1",
        "dgx-h100:10016",
        policies=("fifo", "elastic-backfill"),
        serve="chips=10,peak=10",
    )
    fifo, elastic = (played.outcome for played in answer.played)
    return {
        "chips": elastic.chips,
        "fifo": fifo.arriving,
        "elastic": elastic.arriving,
        "more": elastic.arriving / fifo.arriving - 1.0,
        "waits": fifo.mean_queue,
        "waits_elastic": elastic.mean_queue,
        "apart": answer.pools.reserved if answer.pools is not None else 0,
    }
