"""The files of ``simulate``: the load of every link, and a timeline for Perfetto.

The map is CSV, or JSON where the file's name ends so. The timeline is Chrome's Trace Event Format
with one process per chip, one event per message from when it could start to when it had left.
The schedule is GOAL, or traffic for csg-htsim where the file's name ends in ``.cm``.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from artery.answers.simulate.result import SimulateAnswer
from artery.errors import InputError, Problem
from artery.formats.channels import Channel
from artery.formats.goal import goal
from artery.formats.htsim_traffic import check_switches, htsim_traffic
from artery.report.writing.rows import rows_text
from artery.simulator.choice import untimed
from artery.simulator.explicit.work import MOST_TIMES, transfers_of
from artery.simulator.loads import busy_seconds, vertex
from artery.simulator.placed import Placed
from artery.simulator.simulation import Messages

COLUMNS: Final = (
    "link", "from", "to", "class", "up", "rate_bytes_per_s", "carried_bytes", "busy_s", "load",
)  # fmt: skip

_MICROSECONDS: Final = 1e6
"""Picoseconds in one."""


def link_map(answer: SimulateAnswer, *, as_json: bool) -> str:
    """Return every link that carried bytes or was down, hottest first, as CSV or JSON."""
    run = answer.simulation
    wires = run.network
    ends, busy = wires.edges(), busy_seconds(run)
    seen = np.flatnonzero((run.carried > 0) | ~wires.up)
    order = seen[np.argsort(-busy[seen], kind="stable")]
    rows = [
        (
            link,
            vertex(wires.groups, int(ends.source[link])),
            vertex(wires.groups, int(ends.target[link])),
            wires.links[int(wires.kind[link])].name,
            bool(wires.up[link]),
            int(wires.rate[link]),
            int(run.carried[link]),
            float(busy[link]),
            float(busy[link] / run.seconds) if run.seconds else 0.0,
        )
        for link in order.tolist()
    ]
    return rows_text(COLUMNS, rows, as_json=as_json)


def message_trace(answer: SimulateAnswer) -> str:
    """Return the timeline of all messages as JSON text.

    It is that of the links: it ends with them (``links_us``), which may be before the ``network``
    is done, as chips take longer to pass on what they receive; ``time_us`` is with the start-up.
    Raises ``InputError`` if the messages were not played one by one, or are too many.
    """
    kept = answer.simulation.messages
    if kept is None:
        raise untimed(answer.engine, answer.flows)
    document = {
        "displayTimeUnit": "ns",
        "otherData": {
            "collective": answer.collective,
            "system": answer.system.name,
            "algorithm": answer.algorithm,
            "source": "artery, simulated",
            "links_us": answer.simulation.seconds * 1e6,
            "network_us": answer.network * 1e6,
            "time_us": answer.seconds * 1e6,
        },
        "traceEvents": [*_names(kept), *_events(kept)],
    }
    return json.dumps(document, separators=(",", ":"))


def export(
    name: str,
    files: list[tuple[str, str]],
    warnings: list[str],
    jobs: tuple[Placed, ...],
    engine: str,
) -> None:
    """Add to ``files`` the schedule of all jobs, chips as hosts, in the format that ``name`` says.

    To ``warnings`` goes what a reader of the file should know. Raises ``InputError`` where
    ``engine`` plays a sample, for too many messages, and for what the format does not hold.
    """
    check_export(name, jobs, engine)
    channels = [Channel(job.schedule, job.size, job.chips) for job in jobs]
    lines = htsim_traffic(channels) if name.lower().endswith(".cm") else goal(channels)
    files.append((name, "\n".join(lines)))
    if any(job.schedule.switches for job in jobs):
        warnings.append(
            "switches that add are ranks of the file, after those of chips: other simulators take "
            "them as hosts, and --work does not play them; --offload none has chips add"
        )


def check_export(name: str, jobs: tuple[Placed, ...], engine: str) -> None:
    """Raise ``InputError`` for a schedule that the file ``name`` cannot hold."""
    sampled = engine == "sampled"
    count = sum(transfers_of(job) for job in jobs)
    if sampled or count > MOST_TIMES:
        found = f"{count:,} messages" + (", of which a sample was played" if sampled else "")
        rule = f"a schedule of at most {MOST_TIMES:,} messages is written"
        raise InputError(Problem(field="export", found=found, rule=rule, fix="fewer chips"))
    if name.lower().endswith(".cm"):
        check_switches(job.schedule for job in jobs)


def check_trace(jobs: tuple[Placed, ...], engine: str) -> None:
    """Raise ``InputError`` for more messages than a timeline has."""
    count = sum(transfers_of(job) for job in jobs)
    if engine == "sampled" or count > MOST_TIMES:
        raise untimed(engine, count)


def _names(kept: Messages) -> list[dict[str, Any]]:
    chips = np.unique(kept.source).tolist()
    return [
        {
            "ph": "M", "name": "process_name", "pid": chip + 1, "tid": 0, "ts": 0,
            "args": {"name": "switch" if chip < 0 else f"chip {chip}"},
        }
        for chip in chips
    ]  # fmt: skip


def _end(target: int) -> str:
    return f"to chip {target}" if target >= 0 else "to switch"


def _events(kept: Messages) -> list[dict[str, Any]]:
    columns = (kept.job, kept.step, kept.source, kept.target, kept.size, kept.opened, kept.sent,
               kept.delivered)  # fmt: skip
    found = []
    for job, step, source, target, size, start, sent, there in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        if sent < 0:
            continue
        found.append(
            {
                "ph": "X", "cat": "send", "name": _end(target),
                "pid": source + 1, "tid": job,
                "ts": start / _MICROSECONDS, "dur": (sent - start) / _MICROSECONDS,
                "args": {"step": step, "bytes": size, "delivered_us": there / _MICROSECONDS},
            }
        )  # fmt: skip
    return found
