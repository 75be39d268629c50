"""Stops in the cloud: failures, recovery, a pool of training and serving."""

from __future__ import annotations

from artery.answers.goodput import goodput
from artery.answers.schedule import schedule
from artery.answers.tour.cluster import TEN_THOUSAND
from artery.answers.tour.figures import Figures
from artery.catalog.systems import system
from artery.cloud.failures import RSC_1


def failures() -> Figures:
    """Node failures of ten thousand chips in nodes of eight."""
    nodes = system(f"dgx-h100:{TEN_THOUSAND}").nodes
    return {
        "rate": RSC_1.per_1000_node_days,
        "per_day": RSC_1.per_day(nodes),
        "between": RSC_1.mean_time_between(nodes),
    }


def recovery() -> Figures:
    """What failures leave of Llama 3's run, at its own rate of failures."""
    answer = goodput("llama3-405b", "hgx-h100-roce:16384", rate="llama-3")
    return {
        "between": answer.mtbf.value,
        "interval": answer.intervals.best,
        "restart": answer.restart,
        "ettr": answer.ettr.value,
        "five": answer.availability.five_nines_restart,
    }


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
