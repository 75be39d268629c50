"""``simulate --work``: times by hand, what waits for what, and traces that cannot be."""

from __future__ import annotations

import gzip
import os
import re
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from artery.answers.simulate import simulate
from artery.answers.simulate.request import Request
from artery.answers.simulate.work import simulate_work
from artery.answers.simulate.work_result import WorkAnswer
from artery.catalog import system
from artery.cli import main
from artery.cluster.routing import network, paths
from artery.errors import InputError, UsageError
from tests.formats.chakra_traces import collective, compute, folder, receive, send, trace
from tests.native.compiled import use

MIB = 2**20
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, BARRIER = 0, 2, 6, 9
FIXTURE = Path(__file__).parents[2] / "fixtures" / "chakra" / "step"


def played(file: str | Path, on: str = "dgx-h100:8", **options: Any) -> WorkAnswer:
    found = simulate_work(str(file), Request(collective="", on=on, **options))
    # The critical path is gapless: it adds up to the time, whatever was played.
    assert sum(one.seconds for one in found.critical) == pytest.approx(found.seconds, rel=1e-9)
    return found


def ring(size: int, on: str = "dgx-h100:8") -> float:
    """An all-reduce alone by ``simulate``: network and start."""
    return simulate(
        "all_reduce", on, size=size, algorithm="ring", engine="messages", links=0
    ).seconds


def wire(size: int, one: int, other: int, on: str = "dgx-h100:8") -> float:
    """Bytes over the narrowest link, and the latencies on the way."""
    built = system(on)
    wires = network(built)
    way = paths(built, wires, np.array([one]), np.array([other])).link
    return float(size / wires.rate[way].min() + wires.latency[way].sum() / 1e12)


def test_the_last_rank_decides_when_a_collective_begins(tmp_path: Path) -> None:
    size = 64 * MIB
    ranks = [[compute(1, 100 * (rank + 1)), collective(2, ALL_REDUCE, size, [1])]
             for rank in range(8)]  # fmt: skip
    found = played(folder(tmp_path / "t", *ranks))
    assert found.seconds == pytest.approx(800e-6 + ring(size), rel=1e-6)
    assert [one.compute for one in found.times] == pytest.approx(
        [100e-6 * (rank + 1) for rank in range(8)]
    )
    assert found.shares["compute"] == pytest.approx(800e-6)
    assert found.shares["all_reduce"] == pytest.approx(ring(size), rel=1e-6)
    assert [(one.rank, one.kind) for one in found.critical] == [(7, "compute"), (7, "all_reduce")]


def test_computation_beside_a_collective_hides_it(tmp_path: Path) -> None:
    size = 64 * MIB
    behind = [collective(1, ALL_REDUCE, size), compute(2, 50_000), compute(3, 10, [1, 2])]
    found = played(folder(tmp_path / "t", *[behind] * 8))
    assert found.seconds == pytest.approx(50_010e-6, rel=1e-9)
    assert set(found.shares) == {"compute"}


def test_a_message_takes_its_time_on_the_wire_between_two_computations(tmp_path: Path) -> None:
    size = 16 * MIB
    one = [compute(1, 300), send(2, 1, size, [1])]
    other = [receive(1, 0, size), compute(2, 200, [1])]
    found = played(folder(tmp_path / "t", one, other), "dgx-h100:2")
    expected = 500e-6 + wire(size, 0, 1, "dgx-h100:2")
    assert found.seconds == pytest.approx(expected, rel=1e-3)
    assert [one.kind for one in found.critical] == ["compute", "message", "compute"]
    assert found.times[0].finish < found.times[1].finish
    assert found.times[1].exposed == pytest.approx(expected - 200e-6, rel=1e-3)


def test_kernels_of_a_chip_run_in_turn_and_beside_those_of_the_host(tmp_path: Path) -> None:
    both = [compute(1, 100), compute(2, 100), compute(3, 150, is_cpu_op=1)]
    found = played(folder(tmp_path / "t", both), "dgx-h100:1")
    assert found.seconds == pytest.approx(200e-6)
    assert found.times[0].compute == pytest.approx(200e-6)


def test_groups_are_the_ranks_that_name_them_and_run_at_once(tmp_path: Path) -> None:
    size = 8 * MIB
    ranks = [[collective(1, ALL_REDUCE, size, group="ab"[rank // 4])] for rank in range(8)]
    found = played(folder(tmp_path / "t", *ranks))
    assert found.collectives == 2
    alone = played(folder(tmp_path / "one", *ranks[:4]))
    assert found.seconds == pytest.approx(alone.seconds, rel=1e-6)


def test_an_all_gather_says_what_a_rank_gives(tmp_path: Path) -> None:
    found = played(folder(tmp_path / "t", *[[collective(1, ALL_GATHER, MIB)]] * 8))
    whole = simulate(
        "all_gather", "dgx-h100:8", size=8 * MIB, algorithm="ring", engine="messages", links=0
    )
    assert found.seconds == pytest.approx(whole.seconds, rel=1e-6)


def test_one_trace_stands_for_all_chips(tmp_path: Path) -> None:
    file = tmp_path / "alone.et"
    file.write_bytes(trace(compute(1, 0), collective(2, BARRIER, 0, [1])))
    found = played(file)
    assert (found.ranks, found.collectives, found.replicated, found.timeless) == (8, 1, True, 8)
    assert found.seconds > 0


def test_messages_of_a_trace_that_every_chip_copies_are_one_problem(tmp_path: Path) -> None:
    one = tmp_path / "one.et"
    one.write_bytes(trace(compute(1, 5), send(2, 1, 8), receive(3, 1, 8)))
    with pytest.raises(InputError, match="2 sends and receives, first node 2") as caught:
        played(one, "dgx-h100:16")
    assert len(caught.value.problems) == 1
    assert "a folder with the traces of all ranks" in str(caught.value)


@pytest.mark.parametrize("links", [0, 2, 8])
def test_as_many_links_are_told_as_were_asked_for(tmp_path: Path, links: int) -> None:
    at = folder(tmp_path / "t", *[[collective(1, ALL_REDUCE, MIB)]] * 16)
    assert len(played(at, "dgx-h100:16", links=links).links) == links


def test_goal_is_played_as_well(tmp_path: Path) -> None:
    # 1000 ns, a message of 4 MiB, 2000 ns.
    file = tmp_path / "work.goal"
    file.write_text(
        "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 4194304b to 1 tag 7\nb requires a\n}\n"
        "rank 1 {\nc: recv 4194304b from 0 tag 7\nd: calc 2000\nd requires c\n}\n"
    )
    found = played(file, "dgx-h100:2")
    expected = 3e-6 + wire(4 * MIB, 0, 1, "dgx-h100:2")
    assert (found.form, found.messages) == ("goal", 1)
    assert found.seconds == pytest.approx(expected, rel=2e-3)


def test_a_job_between_nodes_meets_itself_on_shared_links(tmp_path: Path) -> None:
    # Two messages over one card take twice as long as one.
    size = 64 * MIB
    twice = [[send(1, 8, size), send(2, 8, size)], *[[]] * 7,
             [receive(1, 0, size), receive(2, 0, size)]]  # fmt: skip
    rest = [one or [compute(1, 1)] for one in twice]
    found = played(folder(tmp_path / "t", *rest), "dgx-h100:16")
    assert found.seconds == pytest.approx(wire(2 * size, 0, 8, "dgx-h100:16"), rel=5e-3)
    assert found.links[0][1] > 0.95


@pytest.mark.parametrize("engine", ["messages", "fluid"])
def test_with_and_without_a_compiler_it_is_the_same(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, engine)
    compiled = played(FIXTURE, engine=engine)
    use(monkeypatch, None)
    twin = played(FIXTURE, engine=engine)
    assert replace(compiled, system=twin.system) == twin


CIRCLE = [compute(1, 1, [2]), compute(2, 1, [1])]
CROSSED = (
    [collective(1, ALL_REDUCE, 8, group="a"), collective(2, ALL_REDUCE, 8, [1], group="b")],
    [collective(1, ALL_REDUCE, 8, group="b"), collective(2, ALL_REDUCE, 8, [1], group="a")],
)


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([CIRCLE], "nodes wait for each other in a circle"),
        (CROSSED, "ranks wait for each other (a deadlock)"),
        ([[compute(1, 1, [9])]], "node 1 (gemm 1) waits for it, and it is not there"),
        ([[compute(1, 1), compute(1, 1)]], "every node has an id of its own"),
        ([[send(1, 1, 8)], [compute(1, 1)]], "rank 1 does not receive it from rank 0"),
        ([[compute(1, 1)], [receive(1, 0, 8)]], "rank 0 sends rank 1 nothing more"),
        (
            [[collective(1, ALL_REDUCE, 8)], [collective(1, ALL_REDUCE, 9)]],
            "rank 0 does ALL_REDUCE of 8 B at its turn",
        ),
        ([[collective(1, ALL_REDUCE, 8)], [compute(1, 1)]], "every rank takes part in each"),
        ([[collective(1, 3, 8)], [collective(1, 3, 8)]], "played are ALL_REDUCE"),
        ([[compute(1, 10**12)]], "durations are up to a day"),
        ([[collective(1, ALL_REDUCE, 2**60)]], "sizes from 0 to a pebibyte"),
        ([[compute(1, 2**64 - 1)]], "durations are up to a day"),
        ([[compute(1, 1)]] * 9, "has 8 chips, one for each rank"),
    ],
)
def test_traces_that_cannot_be_are_refused_with_the_node(
    ranks: list[list[bytes]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        played(folder(tmp_path / "t", *ranks))


def test_a_work_of_too_many_messages_is_refused_before_it_is_laid_out(tmp_path: Path) -> None:
    file = tmp_path / "alone.et"
    file.write_bytes(trace(*(collective(one, ALL_REDUCE, MIB) for one in range(1, 9))))
    with pytest.raises(InputError, match="fewer steps of the job"):
        played(file, "dgx-h100:512")


def test_a_work_longer_than_the_clock_counts_is_refused(tmp_path: Path) -> None:
    day = 86_400 * 10**6
    with pytest.raises(InputError, match="s of computation on all ranks together"):
        played(folder(tmp_path / "t", [compute(one, day) for one in range(12)]))


@pytest.mark.parametrize("name", ["x", "x.et", "x.goal", "x.et.gz"])
@pytest.mark.parametrize("content", [b"", b" \n\n\t\n"])
def test_an_empty_work_is_called_empty_whatever_its_name(
    name: str, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    for on in (file, tmp_path):
        if on == tmp_path and not name.endswith(".et"):
            continue
        (tmp_path / "x.0.et").unlink(missing_ok=True)
        if on == tmp_path:
            file.rename(tmp_path / "x.0.et")
        with pytest.raises(InputError) as caught:
            played(on)
        assert caught.value.problems[0].found == "an empty file"


def test_a_text_that_is_no_work_is_told_as_text(tmp_path: Path) -> None:
    for name in ("notes.txt", "notes.et"):
        file = tmp_path / name
        file.write_text('{"a": 1}\n', encoding="utf-8")
        with pytest.raises(InputError, match=r'"\{"a": 1\}", a work is a Chakra trace'):
            played(file)


def test_goal_may_come_through_a_pipe(tmp_path: Path) -> None:
    text = b"num_ranks 2\nrank 0 {\nl1: calc 1000\n}\nrank 1 {\nl1: calc 2000\n}\n"
    file, pipe = tmp_path / "a.goal", tmp_path / "pipe"
    file.write_bytes(text)
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    found = played(pipe)
    writer.join()
    assert found.seconds == played(file).seconds > 0


def test_files_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="one trace for every rank"):
        played(tmp_path / "empty")
    gap = Path(folder(tmp_path / "gap", [compute(1, 1)], [compute(1, 1)]))
    (gap / "step.0.et").unlink()
    with pytest.raises(InputError, match="no trace of rank 0"):
        played(gap)
    nothing = tmp_path / "nothing.goal"
    nothing.touch()
    with pytest.raises(
        InputError, match=r"an empty file, .* Chakra trace .* GOAL text \(num_ranks"
    ):
        played(nothing)
    (gap / "other.et").write_bytes(b"")
    with pytest.raises(InputError, match="ends in its rank"):
        played(gap)
    with pytest.raises(InputError, match="no such file"):
        played(tmp_path / "nowhere.et")
    cut = tmp_path / "cut.et"
    cut.write_bytes(trace(compute(1, 1), compute(2, 1))[:-2])
    with pytest.raises(InputError, match="cut off"):
        played(cut)
    cut.write_bytes(b"no trace at all, but text")
    with pytest.raises(InputError, match="a header and nodes"):
        played(cut)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seeds": 3}, "--seeds is for a collective"),
        ({"background": ["30%"]}, "--background is for a collective"),
        ({"engine": "coupled"}, "plays collectives alone"),
        ({"flow_control": "pfc"}, "endless buffers"),
    ],
)
def test_what_a_work_cannot_be_asked_with_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        played(FIXTURE, **options)


def test_the_command_shows_ranks_and_critical_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--work", str(FIXTURE), "--on", "dgx-h100:8"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "critical path" in said
    assert "8 ranks" in said
    assert main(["simulate", "--work", str(FIXTURE), "--on", "dgx-h100:8", "--lang", "zh"]) == 0
    assert "关键路径" in capsys.readouterr().out
    assert main(["simulate", "--on", "dgx-h100:8"]) == 2
    assert "COLLECTIVE is missing" in capsys.readouterr().err
    assert main(["simulate", "alltoall", "--work", str(FIXTURE), "--on", "dgx-h100:8"]) == 2
    assert main(["simulate", "--work", str(FIXTURE), "--on", "dgx-h100:8", "--map", "m.csv"]) == 2


def test_what_is_down_is_said_as_of_a_collective(tmp_path: Path) -> None:
    file = folder(tmp_path / "t", *[[collective(1, ALL_REDUCE, MIB)]] * 4)
    asked: dict[str, Any] = {"fail_links": "1%", "fail_switches": 1, "seed": 3}
    found = played(file, "rail-clos-h100:1024", **asked).down
    alone = simulate("all_reduce", "rail-clos-h100:1024", size=MIB, links=0, **asked).down
    assert found is not None
    assert found == alone
    assert (found.links, found.of, len(found.names)) == (10, 1024, 10)
    assert played(file, "rail-clos-h100:1024").down is None
