"""What the lab's answers look like, in both languages."""

from __future__ import annotations

from io import StringIO

import pytest

from artery.answers.lab import HostState, LabAnswer, RunAnswer, WireState
from artery.answers.lab.bench import BenchAnswer, BenchRow
from artery.answers.lab.ib import Astray, IbAnswer, TierLoad
from artery.answers.lab.predict import Flows, Predicted
from artery.report.drawing.terminal import draw
from artery.report.lab import bench_drawing, bits, ib_drawing, lab_drawing, run_drawing
from artery.report.lab.words import lab_words
from artery.report.words import Language
from artery.runner.lab.commanded import Ended

LAB = LabAnswer(
    name="lab",
    system="ethernet-10g:2",
    mode="root",
    engine="kernel",
    scale=0.02,
    rate=25e6,
    hosts=(HostState("node0001", "switch001", ("10.77.0.2",)),
           HostState("node0002", "switch001", ("10.77.0.3",))),
    switches=("switch001",),
    wires=(WireState("node0001 - switch001[1]", 25e6, 1.0),
           WireState("node0002 - switch001[2]", 6.25e6, 0.25)),
    delay=0.0,
    queue=1 << 20,
    loss=0.0,
    runs=0,
)  # fmt: skip


def drawn(drawing: object) -> str:
    out = StringIO()
    draw(drawing, file=out, width=100)  # type: ignore[arg-type]
    return out.getvalue()


def test_both_languages_have_the_same_words() -> None:
    assert lab_words("en").keys() == lab_words("zh").keys()


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "in place of 10 Gbit/s (1 : 50)"), ("zh", "实际为 10 Gbit/s（1 : 50）")],
)
def test_the_scale_and_what_is_wrong_are_said(language: Language, said: str) -> None:
    text = drawn(lab_drawing(LAB, language))
    assert said in text
    assert "node0002 - switch001[2]" in text
    assert "25.0 %" in text
    assert "artery lab down" in text


def test_a_bench_names_the_wire_that_two_flows_share_and_wrong_sums() -> None:
    row = BenchRow(4 << 20, (0.5, 0.52, 0.51), False, Predicted(0.25, 0.25, 0.5, 0.5))
    answer = BenchAnswer(
        LAB, ("node0001", "node0002"), "ring", (row,), Flows((1, 2), (1, 1)), 3.0, 2
    )
    text = drawn(bench_drawing(answer, "en"))
    assert "the busiest wire carries 2 of the ring: node0002 - switch001[2]" in text
    assert "250 ms to 500 ms" in text
    assert "1.020" in text  # the median over what was played
    assert "WRONG SUMS at 4.00 MiB" in text


def test_a_bench_of_few_bytes_says_that_flows_cannot_be_counted() -> None:
    row = BenchRow(1, (0.5, 0.52, 0.51), True, Predicted(0.25, 0.25, 0.5, None))
    answer = BenchAnswer(LAB, ("node0001", "node0002"), "ring", (row,), None, 3.0, 2)
    text = drawn(bench_drawing(answer, "en"))
    assert "flows cannot be counted" in text
    assert "busiest wire" not in text
    assert "无法数出流的条数" in drawn(bench_drawing(answer, "zh"))


def test_a_run_tells_who_failed_and_the_exit_code_is_the_first_ones_own() -> None:
    ended = tuple(
        Ended(f"node000{rank + 1}", rank, code, 1.0, "", "") for rank, code in enumerate((-9, 3, 0))
    )
    answer = RunAnswer(LAB, ended)
    assert answer.code == 3
    text = drawn(run_drawing(answer, "en"))
    assert "node0001 (rank 0)  killed by signal 9" in text
    assert "node0002 (rank 1)  exit code 3" in text
    assert RunAnswer(LAB, ended[:1]).code == 128 + 9
    assert RunAnswer(LAB, ended[2:]).code == 0


def test_a_fabric_names_what_went_astray_and_the_engine_that_was_taken() -> None:
    answer = IbAnswer(
        system="x",
        asked="ftree",
        engine="minhop",
        adapters=4,
        switches=4,
        islands=2,
        paths=12,
        legal=11,
        astray=(Astray("a", "b", ("a", "leaf", "spine"), "it is longer than the shortest"),),
        loads=(TierLoad("leaf", 4, (0, 24), (12, 12)),),
        files={},
    )
    assert not answer.equal
    text = drawn(ib_drawing(answer, "en"))
    assert "minhop; it could not take ftree" in text
    assert "11 of 12" in text
    assert "a leaf spine: it is longer than the shortest" in text
    assert "0 to 24 paths each; artery's d-mod-k 12" in text


def test_rates_are_said_in_bits() -> None:
    assert [bits(one) for one in (125.0, 12.5e6, 125e9)] == ["1 kbit/s", "100 Mbit/s", "1 Tbit/s"]
