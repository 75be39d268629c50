"""The message engine against packets where messages meet: the list was written first."""

from __future__ import annotations

from statistics import fmean, median

import pytest

from artery.native.messages import Transport, messages, twin
from artery.native.packets import Ports, packets
from tests.native.compiled import use
from tests.native.contended import CASES, Case, finish, played, starts
from tests.native.works import same

PACKETS = Ports(unit=4096, window=128, packet=4096)
SEGMENTS = Transport(packet=4096)
MEDIAN, WORST = 0.02, 0.05


def test_both_transports_have_the_window_of_the_list() -> None:
    assert SEGMENTS.segment * SEGMENTS.window == PACKETS.unit * PACKETS.window == 524_288


def error(case: Case) -> float:
    """Return by how much the message engine's makespan is above that of the packets."""
    work, count = played(case)
    works = starts(case, work)
    truth = fmean(finish(packets(one, PACKETS), count) for one in works)
    return fmean(finish(messages(one, SEGMENTS), count) for one in works) / truth - 1


def test_messages_agree_with_packets_where_they_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "packets")
    errors = {str(case): error(case) for case in CASES}
    listed = "\n".join(f"{value:+.2%}  {name}" for name, value in errors.items())
    sizes = sorted(map(abs, errors.values()))
    assert median(sizes) <= MEDIAN, listed
    assert sizes[-1] <= WORST, listed


@pytest.mark.parametrize("case", [one for one in CASES if one.size <= 4_000_000], ids=str)
def test_the_twin_agrees_where_they_meet(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "messages")
    work, _ = played(case)
    same(messages(work, SEGMENTS), twin(work, SEGMENTS))
