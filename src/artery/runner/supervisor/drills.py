"""Faults that no worker can do to itself: hosts, the store, spares, the run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from typing import Final

from artery.runner.faults import Fault
from artery.runner.supervisor.hosts import Hosts

_NUMBERS: Final = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "term": signal.SIGTERM}


def drill(
    fault: Fault,
    hosts: Hosts,
    busy: Iterable[str],
    *,
    join: Callable[[], None],
    preempt: Callable[[], None],
) -> None:
    """Let ``fault`` happen. ``busy`` are the members with a rank."""
    if fault.target == "run":
        (join if fault.kind == "join" else preempt)()
    elif fault.target == "store":
        for host in hosts.by_name.values():
            host.channel.send("kill_store", signal_number=int(_NUMBERS[fault.kind]))
    elif fault.target == "spare":
        _spare(hosts, frozenset(busy), _NUMBERS[fault.kind])
    else:
        _agent(fault, hosts)


def _agent(fault: Fault, hosts: Hosts) -> None:
    host = hosts.by_name.get(f"h{fault.which}")
    if host is None:
        return
    if fault.kind == "partition":
        host.channel.send("mute")
    elif host.pid:
        os.kill(host.pid, _NUMBERS[fault.kind])


def _spare(hosts: Hosts, busy: frozenset[str], number: int) -> None:
    for host in hosts.by_name.values():
        for member, pid in host.pids.items():
            if member not in busy and member != "store" and host.pid:
                os.kill(pid, number)
                return
