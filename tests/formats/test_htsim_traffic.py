from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.collective.schedules import messages, schedule
from artery.core.pricing import Collective
from artery.errors import InputError
from artery.formats.channels import Channel
from artery.formats.htsim_traffic import htsim_traffic


def test_a_ring_of_two() -> None:
    assert list(htsim_traffic([Channel(schedule("ring", "all_reduce", 2), 10)])) == [
        "# all_reduce by ring: 10 bytes, 2 steps",
        "Nodes 2",
        "Connections 4",
        "Triggers 2",
        "0->1 id 1 start 0 size 5 send_done_trigger 1 recv_done_trigger 2",
        "1->0 id 2 start 0 size 5 send_done_trigger 2 recv_done_trigger 1",
        "0->1 id 3 trigger 1 size 5",
        "1->0 id 4 trigger 2 size 5",
        "trigger id 1 barrier count 2",
        "trigger id 2 barrier count 2",
    ]


def test_ranks_may_be_any_hosts() -> None:
    lines = list(htsim_traffic([Channel(schedule("sendrecv", "sendrecv", 2), 8, np.array([7, 3]))]))
    assert lines[1] == "Nodes 8"
    assert lines[4].startswith("7->3 id 1")


def test_an_empty_message_is_a_byte_since_none_would_never_end() -> None:
    assert " size 1" in list(htsim_traffic([Channel(schedule("sendrecv", "sendrecv", 2), 0)]))[4]


def test_switches_and_huge_messages_are_refused() -> None:
    with pytest.raises(InputError, match="switches add nothing"):
        list(htsim_traffic([Channel(schedule("nvls", "all_reduce", 4), 8)]))
    with pytest.raises(InputError, match="up to 2147483647 bytes"):
        list(htsim_traffic([Channel(schedule("sendrecv", "sendrecv", 2), 2**31)]))


LINE = re.compile(
    r"(?P<source>\d+)->(?P<target>\d+) id (?P<id>\d+) (?:start 0|trigger (?P<trigger>\d+)) "
    r"size (?P<size>\d+)(?: send_done_trigger (?P<sent>\d+))?(?: recv_done_trigger (?P<got>\d+))?"
)


def play(lines: list[str]) -> list[tuple[int, int, int, int]]:
    """Play a file in rounds, as htsim's triggers do: (round, source, target, size), sorted."""
    connections = [found for line in lines if (found := LINE.fullmatch(line))]
    counts = {
        int(one[1]): int(one[2])
        for line in lines
        if (one := re.fullmatch(r"trigger id (\d+) barrier count (\d+)", line))
    }
    assert lines[2:4] == [f"Connections {len(connections)}", f"Triggers {len(counts)}"]
    assert len(lines) == 4 + len(connections) + len(counts)
    waiting = defaultdict(list)
    for one in connections:
        waiting[int(one["trigger"] or 0)].append(one)
    now, number, played, fired = waiting[0], 0, [], Counter[int]()
    while now:
        number += 1
        played += [
            (number, int(one["source"]), int(one["target"]), int(one["size"])) for one in now
        ]
        fired.update(int(one[what]) for one in now for what in ("sent", "got") if one[what])
        full = [trigger for trigger, count in counts.items() if fired[trigger] == count]
        now = [one for trigger in full for one in waiting.pop(trigger, [])]
    assert len(played) == len(connections)
    return sorted(played)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(
        [
            ("ring", "all_reduce"),
            ("halving_doubling", "all_reduce"),
            ("tree", "all_reduce"),
            ("bruck", "alltoall"),
            ("pat", "reduce_scatter"),
            ("ring", "broadcast"),
        ]
    ),
    st.integers(2, 9),
    st.integers(100, 10_000),
)
def test_connections_start_each_other_in_the_order_of_the_steps(
    pair: tuple[str, Collective], ranks: int, size: int
) -> None:
    built = schedule(pair[0], pair[1], ranks)
    played = play(list(htsim_traffic([Channel(built, size)])))
    sent = [messages(built, k, size) for k in range(built.steps)]
    rows = [
        (k + 1, *row)
        for k, one in enumerate(sent)
        for row in zip(one.source.tolist(), one.target.tolist(), one.size.tolist(), strict=True)
    ]
    assert sorted(row[1:] for row in played) == sorted(row[1:] for row in rows)
    # Nothing is later than its step, and where all ranks work in all steps nothing is earlier.
    assert max(row[0] for row in played) <= built.steps
    if pair[0] in {"bruck", "pat"} or pair == ("ring", "all_reduce"):
        assert played == sorted(rows)
