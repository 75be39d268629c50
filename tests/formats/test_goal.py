from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import artery
from artery.answers.simulate.request import Request
from artery.answers.simulate.work import simulate_work
from artery.collective.schedules import messages, schedule
from artery.core.graph import TaskGraph
from artery.core.schedule import Schedule
from artery.errors import InputError
from artery.formats.channels import Channel
from artery.formats.goal import FORMAT, goal, task_graph
from artery.formats.text import Text

# A broadcast from 0 to 1 and 2, then a sum of 1 in 0, in the words of LogGOPSim's examples.
SMALL = """\
num_ranks 3

rank 0 {
l1: send 1024b to 1 tag 7 cpu 0 nic 0
l2: send 1024b to 2 tag 7
l3: recv 8b from 1 tag 1
l4: calc 250 // adds it up
l4 requires l3
}

rank 1 {
l1: recv 1024b from 0 tag 7
l2: calc 100
l2 requires l1
l3: send 8b to 0 tag 1
l3 irequires l2
}

rank 2 {
l1: recv 1024b from 0 tag 7 /* and
nothing more */
}
"""


def read(content: str) -> TaskGraph:
    return task_graph(Text("file.goal", content))


def test_what_a_file_says() -> None:
    graph = read(SMALL)
    assert graph.ranks == 3
    assert graph.rank.tolist() == [0, 0, 0, 0, 1, 1, 1, 2]
    assert graph.partner.tolist() == [4, 7, 6, -1, 0, -1, 2, 1]
    assert graph.sends.tolist() == [True, True, False, False, False, False, True, False]
    assert graph.size.tolist() == [1024, 1024, 8, 0, 1024, 0, 8, 1024]
    assert graph.delay.tolist() == [0, 0, 0, 250_000, 0, 100_000, 0, 0]
    assert graph.after.tolist() == [2, 4, 5]
    assert graph.start.tolist() == [0, 0, 0, 0, 1, 1, 2, 3, 3]
    assert graph.begun.tolist() == [False, False, True]


def test_a_rank_begun_twice_is_refused_at_its_line() -> None:
    content = "num_ranks 2\nrank 0 {\nl1: calc 5\n}\nrank 0 {\nl1: calc 7\n}\n"
    with pytest.raises(InputError, match=r"file\.goal:5.*rank 0.*begins in line 2 already"):
        read(content)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        ("4", "no rank has anything to do"),
        ("99999999999", "a count of ranks has 32 bits"),
    ],
)
def test_a_file_of_a_count_alone_is_goal_and_is_refused_as_such(count: str, said: str) -> None:
    text = Text("file.goal", f"// empty\nnum_ranks {count}\n")
    assert FORMAT.recognise(text) > 0
    with pytest.raises(InputError, match=said):
        task_graph(text)


def test_messages_of_one_tag_belong_together_in_the_order_of_the_file() -> None:
    graph = read(
        "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 0\nsend 2b to 1 tag 0\n}\n"
        "rank 1 {\nrecv 1b from 0 tag 0\nrecv 2b from 0 tag 0\n}\n"
    )
    assert graph.partner.tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("l1: send 8b to 5 tag 0", "there are 2 ranks, 0 to 1 exist"),
        ("l1: put 8b to 1", "a rank has sends, receives, calc and requires"),
        ("l1: send 8b from 1", "one sends to, and receives from"),
        ("l1: recv 8b from -1 tag 0", "depend on the times of one machine"),
        ("l1 requires l2", 'label "l2", no line of this rank has it'),
        ("l1: calc " + 5000 * "9", "at most 10\\^15"),
        ("l1: send 1000000000000001b to 1 tag 3", "at most 10\\^15"),
        ("l1: send 8b to 1 tag 3", "is received by nobody"),
        ("l1: recv 8b from 1 tag 3", "is sent by nobody"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(line: str, rule: str) -> None:
    with pytest.raises(InputError, match=rule) as caught:
        read(f"num_ranks 2\nrank 0 {{\n{line}\n}}\n")
    assert "file.goal:3" in str(caught.value)


def test_a_label_is_told_once_and_not_where_its_own_line_is_wrong() -> None:
    text = "l1: calc -5\nl2: calc 5\nl2 requires l1\nl3 requires l2\nl3 requires l3\nl3 requires l2"
    with pytest.raises(InputError) as caught:
        read(f"num_ranks 1\nrank 0 {{\n{text}\n}}\n")
    assert [(one.line, one.found) for one in caught.value.problems] == [
        (3, '"l1: calc -5"'),
        (6, 'label "l3"'),
    ]


def test_all_lines_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read("send 1b to 0\nnum_ranks 1\nrank 1 {\nnonsense\n}\n")
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]


def test_too_short_a_receive_is_refused() -> None:
    with pytest.raises(InputError, match="4 bytes, line 3 sends 8"):
        read("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 4b from 0\n}\n")


def test_a_deadlock_is_told_as_a_cycle() -> None:
    waiting = "num_ranks 2\n" + "".join(
        f"rank {one} {{\nl1: recv 8b from {1 - one}\nl2: send 8b to {1 - one}\nl2 requires l1\n}}\n"
        for one in (0, 1)
    )
    with pytest.raises(InputError, match="wait for ever") as caught:
        read(waiting)
    assert "the recv of rank 0 in line 3 waits for the send of rank 1" in str(caught.value)


def test_a_file_is_recognised_and_summed_up() -> None:
    text = Text("file.goal", SMALL)
    assert FORMAT.recognise(text) > 0.9
    assert FORMAT.recognise(Text("notes", "rank 0 is slow")) == 0
    reading = FORMAT.read(text)
    assert reading.fields["bytes"] == 2 * 1024 + 8
    assert reading.summary[0] == "3 ranks, 3 messages of 2056 bytes in all"


def test_a_ring_of_two_written_out() -> None:
    lines = list(goal([Channel(schedule("ring", "all_gather", 2), 10)]))
    assert lines == [
        "// all_gather by ring: 10 bytes, 1 steps",
        "num_ranks 2",
        "",
        "rank 0 {",
        "l1: send 5b to 1 tag 0",
        "l2: recv 5b from 1 tag 0",
        "}",
        "",
        "rank 1 {",
        "l1: send 5b to 0 tag 0",
        "l2: recv 5b from 0 tag 0",
        "}",
    ]


def test_switches_are_written_as_ranks() -> None:
    lines = list(goal([Channel(schedule("nvls", "all_reduce", 4), 64)]))
    assert "// ranks 4 to 4 are switches" in lines
    assert "num_ranks 5" in lines


def rounds(graph: TaskGraph) -> np.ndarray:
    """Return the round in which each task is done if every message takes one round."""
    done = np.zeros(len(graph.rank), np.int64)
    for _ in range(len(done) + 1):
        before = np.array(
            [
                max(done[graph.after[a:b]], default=0)
                for a, b in zip(graph.start, graph.start[1:], strict=False)
            ]
        )
        received = (graph.partner >= 0) & ~graph.sends
        arrived = before[graph.partner] + 1
        now = np.where(received, np.maximum(before, arrived), before + graph.sends)
        if (now == done).all():
            return done
        done = now
    raise AssertionError


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(
        [
            ("ring", "all_reduce"),
            ("tree", "all_reduce"),
            ("halving_doubling", "all_gather"),
            ("bruck", "alltoall"),
            ("windowed", "alltoall"),
            ("nvls", "all_reduce"),
            ("collnet", "reduce"),
        ]
    ),
    st.integers(2, 9),
    st.integers(0, 10_000),
)
def test_what_is_written_is_read_again(pair: tuple[str, str], ranks: int, size: int) -> None:
    built: Schedule = schedule(pair[0], pair[1], ranks)  # type: ignore[arg-type]
    graph = read("\n".join(goal([Channel(built, size)])))
    assert graph.ranks == built.ranks + built.switches
    sent = [messages(built, k, size) for k in range(built.steps)]
    expected = sorted(
        (k, *row)
        for k, one in enumerate(sent)
        for row in zip(one.source.tolist(), one.target.tolist(), one.size.tolist(), strict=True)
    )
    send = np.flatnonzero(graph.sends)
    found = zip(graph.rank[send], graph.rank[graph.partner[send]], graph.size[send], strict=True)
    assert sorted((int(a), int(b), int(c)) for a, b, c in found) == sorted(
        row[1:] for row in expected
    )
    # A message of step k can be done in round k + 1 at the latest, if a step takes one round.
    assert rounds(graph).max() <= built.steps


def test_dependencies_of_a_written_schedule_are_its_steps() -> None:
    built = schedule("ring", "all_reduce", 5)
    graph = read("\n".join(goal([Channel(built, 1000)])))
    done = rounds(graph)
    for rank in range(5):
        own = (graph.rank == rank) & graph.sends
        assert sorted(done[own].tolist()) == list(range(1, 9))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("num_ranks 2\nrank 0 {\nsend %sb to 1\n}\nrank 1 {\nrecv %sb from 0\n}", [3, 6]),
        ("num_ranks %s\nrank 0 {\ncalc 1\n}", [1]),
        ("num_ranks 2\nrank 0 {\ncalc %s\n}", [3]),
        ("num_ranks 2\nrank %s {\ncalc 1\n}", [2]),
        ("num_ranks 2\nrank 0 {\nsend 1b to %s\n}", [3]),
        ("num_ranks 2\nrank 0 {\nsend 1b to 1 tag %s\n}", [3]),
    ],
)
@pytest.mark.parametrize("digits", [20, 5_000])
def test_numbers_without_end_are_refused_at_their_line(
    text: str, lines: list[int], digits: int
) -> None:
    with pytest.raises(InputError) as caught:
        read(text.replace("%s", "9" * digits))
    assert [each.line for each in caught.value.problems] == lines
    assert all(len(each.found) < 80 for each in caught.value.problems)


def test_zeros_before_a_number_are_nothing() -> None:
    graph = read(f"num_ranks {'0' * 5_000}1\nrank 0 {{\ncalc {'0' * 60}7\n}}")
    assert graph.ranks == 1
    assert graph.delay.tolist() == [7_000]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"\nhello\nworld\n", 2, '"hello", a GOAL text begins with num_ranks'),
        (b'{"a": 1}', 1, "a GOAL text begins"),
        (b"\x00\x01binary\xff", 1, "a GOAL text begins"),
        (b"num_ranks 2\nsend 8b to 1\n", 2, "stands outside of any rank"),
    ],
)
def test_junk_with_the_name_of_goal_is_told_as_goal(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    file = tmp_path / "junk.goal"
    file.write_bytes(content)
    for ask in (
        lambda: artery.read(str(file)),
        lambda: simulate_work(str(file), Request(collective="", on="dgx-h100:8")),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        (problem,) = caught.value.problems
        assert (problem.file, problem.line) == (str(file), line)
        assert words in str(problem)


def test_an_empty_goal_is_told_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "nothing.goal"
    file.touch()
    with pytest.raises(InputError, match="an empty file, a GOAL text has ranks, num_ranks 2"):
        artery.read(str(file))


def test_a_count_that_is_too_large_is_the_only_problem() -> None:
    with pytest.raises(InputError) as caught:
        task_graph(Text("huge.goal", "num_ranks 99999999999999\n"))
    (problem,) = caught.value.problems
    assert "99999999999999" in problem.found
