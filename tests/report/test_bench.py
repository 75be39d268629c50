"""What ``bench`` prints: nccl-tests' tables that are read back, matrices, documents."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from artery.answers.bench.result import (
    ChipAnswer,
    ChipRow,
    CollectiveRow,
    CollectivesAnswer,
    LinksAnswer,
    PairRow,
    Party,
    Predicted,
)
from artery.answers.calibrate.data import sweeps_of
from artery.answers.diagnose import diagnose
from artery.cli import main
from artery.collective.bandwidth import bus_factor
from artery.core.pricing import Collective
from artery.formats.reading import Reading
from artery.formats.recognise import read
from artery.meter.clock import Times
from artery.report.bench import (
    chip_drawing,
    collectives_text,
    compared_drawing,
    compared_width,
    links_drawing,
)
from artery.report.bench.payload import collectives_payload
from artery.report.bench.words import bench_words
from artery.report.drawing.terminal import draw
from artery.report.writing.json import document, published
from tests.runner.remains import MARK, folders, marked, none_left, ports_of, still_listening

AROUND = {
    "host": "node1", "processor": "AMD EPYC", "cores": 8, "kernel": "Linux 6.1", "python": "3.11.7",
    "load_average_1min": 0.52, "governor": "performance", "threads": 1, "torch": "2.13.0+cpu",
    "mpi4py": None, "pid": 4711, "device": 0, "bus": "0x00", "chip": "AMD EPYC",
}  # fmt: skip
COLLECTIVES: tuple[Collective, ...] = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "alltoall",
    "broadcast",
    "reduce",
    "sendrecv",
)


def party(ranks: int = 4, more: int = 0) -> Party:
    around = tuple(
        {**AROUND, "pid": 100 + rank, "device": rank % 2, "host": f"node{rank // 2}"}
        for rank in range(ranks + more)
    )
    hosts = tuple(dict.fromkeys(str(one["host"]) for one in around))
    return Party("gloo", "gloo (torch 2.13.0)", ranks, hosts, around, 5, 20)


def row(
    collective: Collective = "all_reduce", size: int = 2**20, time: float = 1e-3, **more: Any
) -> CollectiveRow:
    given: dict[str, Any] = {
        "algorithm": "library", "ranks": 4, "count": size // 4, "dtype": "float", "wrong": 0,
        "shape": {}, "predicted": None,
        "factor": float(bus_factor(collective, np.array(4))), **more,
    }  # fmt: skip
    times = Times((0.8 * time, time, 1.5 * time))
    return CollectiveRow(collective=collective, size=size, times=times, **given)


def answer(*rows: CollectiveRow, **more: Any) -> CollectivesAnswer:
    given: dict[str, Any] = {"party": party(), "compared": False, "on": None, "paced": None,
                             "left_out": (), "warnings": (), **more}  # fmt: skip
    return CollectivesAnswer(rows=rows, **given)


def back(text: str, folder: Path, name: str = "bench.log") -> Reading:
    path = folder / name
    path.write_text(text, "utf-8")
    return read(str(path))


def drawn(drawing: Any, least: int = 80) -> str:
    out = StringIO()
    draw(drawing, file=out, least=least)
    return out.getvalue()


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_is_read_back_as_nccl_tests(
    collective: Collective, language: Any, tmp_path: Path
) -> None:
    rows = [row(collective, size, time) for size, time in
            ((8, 31.4e-6), (2**20, 1.2345e-3), (2**26, 0.52801))]  # fmt: skip
    found = back(collectives_text(answer(*rows), language), tmp_path)
    assert found.format == "nccl-tests"
    (table,) = found.fields["tables"]
    assert table["collective"] == collective
    assert (table["ranks"], table["nodes"], table["valid"]) == (4, 2, True)
    assert table["hosts"] == ["node0", "node1"]
    assert table["generation"].startswith("2.20")
    assert found.ignored == ()
    for written, seen in zip(rows, table["rows"], strict=True):
        side = seen["out_of_place"]
        assert (seen["size_bytes"], seen["count"]) == (written.size, written.count)
        assert side["time_s"] == pytest.approx(written.times.median, rel=1e-3)
        assert side["algbw_bytes_per_s"] == pytest.approx(written.algbw, rel=1e-2, abs=1e4)
        assert side["busbw_bytes_per_s"] == pytest.approx(written.busbw, rel=1e-2, abs=1e4)
        assert side["wrong"] == 0


def test_several_collectives_are_several_tables(tmp_path: Path) -> None:
    text = collectives_text(answer(*(row(one) for one in COLLECTIVES)), "en")
    found = back(text, tmp_path)
    assert [table["collective"] for table in found.fields["tables"]] == list(COLLECTIVES)


def test_a_shaped_network_keeps_its_digits(tmp_path: Path) -> None:
    """200 Mbit/s are 0.025 GB/s: with two decimals a third would be lost."""
    rows = [row("all_reduce", 2**22, 0.252)]
    found = back(collectives_text(answer(*rows), "en"), tmp_path)
    seen = found.fields["rows"][0]["out_of_place"]["busbw_bytes_per_s"]
    assert seen == pytest.approx(2**22 / 0.252 * 1.5, rel=1e-3)


def test_wrong_and_unchecked_results_are_read_back(tmp_path: Path) -> None:
    found = back(collectives_text(answer(row(wrong=7)), "en"), tmp_path)
    assert (found.fields["valid"], found.fields["wrong_rows"]) == (False, [2**20])
    unchecked = back(collectives_text(answer(row(wrong=None)), "en"), tmp_path)
    assert unchecked.fields["valid"]
    assert unchecked.fields["rows"][0]["out_of_place"]["wrong"] is None


def test_the_document_is_read_back_exactly(tmp_path: Path) -> None:
    written = answer(row(size=1024), row(size=2048, algorithm="ring", shape={"channels": 2}))
    found = back(document("bench", collectives_payload(written)), tmp_path, "bench.json")
    assert found.format == "artery-bench"
    for one, tree in zip(written.rows, found.measurements, strict=True):
        (term,) = tree.root.children
        assert (term.value, term.low, term.high) == (
            one.times.median,
            one.times.least,
            one.times.most,
        )


def test_diagnose_reads_both_alike(tmp_path: Path) -> None:
    rows = [row(size=2**20 << each, time=5e-3 * 2**each) for each in range(6)]
    (tmp_path / "a.log").write_text(collectives_text(answer(*rows), "en"))
    (tmp_path / "a.json").write_text(document("bench", collectives_payload(answer(*rows))))
    log, js = (
        diagnose(str(tmp_path / f"a.{kind}"), on="ethernet-10g:4") for kind in ("log", "json")
    )
    assert log.diagnosis.verdict == js.diagnosis.verdict
    assert log.facts["ranks"] == js.facts["ranks"] == 4
    assert log.facts["nodes"] == js.facts["nodes"] == 2


def test_calibrate_takes_the_times_of_both(tmp_path: Path) -> None:
    """Of the table the median, nccl-tests' column; of the document the least of all repeats."""
    rows = [row(size=2**20 << each, time=5e-3 * 2**each) for each in range(3)]
    files = tmp_path / "a.log", tmp_path / "a.json"
    files[0].write_text(collectives_text(answer(*rows), "en"))
    files[1].write_text(document("bench", collectives_payload(answer(*rows))))
    log, js = sweeps_of([str(file) for file in files])
    assert (log.collective, log.ranks, log.nodes) == ("all_reduce", 4, 2)
    assert (js.collective, js.ranks, js.nodes) == ("all_reduce", 4, 2)
    assert log.sizes == js.sizes == tuple(one.size for one in rows)
    assert log.times == pytest.approx([one.times.median for one in rows])
    assert js.times == pytest.approx([one.times.least for one in rows])


def test_the_head_says_how_and_under_which_conditions() -> None:
    ring = row(algorithm="hierarchical", shape={"levels": [2, 2]})
    one = answer(ring, paced="lab:4", party=party(more=1), warnings=("w",))
    lines = collectives_text(one, "en").splitlines()
    how = "# algorithm: hierarchical levels=2x2, a schedule executed over gloo messages; "
    assert f"{how}one more process adds as the switch" in lines
    assert any("PACED: sends follow the links of lab:4" in line for line in lines)
    assert any("2 process(es) on node0: AMD EPYC, 8 core(s), Linux 6.1, load 0.5, governor "
               "performance" in line for line in lines)  # fmt: skip
    assert sum(line.startswith("#  Rank ") for line in lines) == 4
    assert lines[-1] == "# w"


def compared() -> CollectivesAnswer:
    told = Predicted(2e-3, 1e-3, 3e-3)
    rows = [
        row(size=1024, time=5e-6),
        row(size=2048, time=8e-6),
        row(size=1024, time=4e-6, algorithm="ring"),
        row(size=2048, time=1e-3, algorithm="ring", predicted=told),
    ]
    return answer(*rows, compared=True, on="lab:4", left_out=("nvls: no switch",))


def test_algorithms_stand_beside_each_other_by_size() -> None:
    text = drawn(compared_drawing(compared(), "en"), compared_width(compared()))
    lines = [line.split() for line in text.splitlines()]
    assert ["library", "5.00", "*8.00"] in lines
    assert ["ring", "*4.00", "1000.0"] in lines
    assert ["ring", "2000.0"] in lines  # predicted, at the one size that has it
    assert ["ring", "0.50"] in lines
    assert "# not run: nvls: no switch" in text


def test_many_sizes_are_never_cut() -> None:
    rows = [
        row(size=8 << each, algorithm=name) for each in range(25) for name in ("library", "ring")
    ]
    one = answer(*rows, compared=True)
    text = drawn(compared_drawing(one, "en"), compared_width(one))
    assert "…" not in text
    assert next(line for line in text.splitlines() if line.startswith("ring")).count(".") == 25


def links() -> LinksAnswer:
    pairs = tuple(
        PairRow(s, t, 1e-6 * (s + t), 2e-6, 2e9, 5e8 if t == 3 else 2e9)
        for s in range(4)
        for t in range(s + 1, 4)
    )
    return LinksAnswer(party(), 2**22, "auto", pairs, (3,), ((0, 1),), ("w",))


def test_pairs_are_matrices_and_who_is_slow_is_said() -> None:
    text = drawn(links_drawing(links(), "en"))
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "-", "1.00", "2.00", "3.00"] in lines
    assert ["3", "0.50000", "0.50000", "0.50000", "-"] in lines
    assert "rank 3 on node1 is below half of the median in all directions" in text
    assert "from rank 0 to rank 1: below half of the median" in text


def chip() -> ChipAnswer:
    times = Times((1e-3, 2e-3, 3e-3))
    rows = (
        ChipRow("product", "bf16 8x8x8", "FLOP/s", 1e12, times, {}),
        ChipRow("product", "tf32 8x8x8", "FLOP/s", 1e12, None, {}, "tf32 is a type of GPUs"),
        ChipRow("memory", "copy", "B/s", 1e9, times, {"array_bytes": 2**20}),
        ChipRow("dispatch", "host", "s", 1.0, times, {}),
    )
    return ChipAnswer("cpu", "AMD EPYC", 2, AROUND, rows, ())


def test_a_chip_is_a_table_of_best_and_median() -> None:
    lines = [" ".join(line.split()) for line in drawn(chip_drawing(chip(), "en")).splitlines()]
    assert "bf16 8x8x8 1.00 PFLOP/s 500 TFLOP/s" in lines
    assert "tf32 8x8x8 cannot: tf32 is a type of GPUs" in lines
    assert "copy 1.00 TB/s 500 GB/s" in lines
    assert "until the host may go on 1.00 ms 2.00 ms" in lines
    assert "memory, arrays of 1.00 MiB" in lines


@pytest.mark.parametrize(
    "draws",
    [
        lambda language: drawn(compared_drawing(compared(), language)),
        lambda language: drawn(links_drawing(links(), language)),
        lambda language: drawn(chip_drawing(chip(), language)),
        lambda language: collectives_text(answer(row()), language),
    ],
)
def test_both_languages_give_the_same_numbers(draws: Callable[[Any], str]) -> None:
    assert set(bench_words("en")) == set(bench_words("zh"))
    texts = [draws(language) for language in ("en", "zh")]
    numbers = [sorted(w for w in text.split() if w[0] in "0123456789*") for text in texts]
    assert texts[0] != texts[1]
    assert [n for n in numbers[0] if "." in n and n[-1].isdigit()] == [
        n for n in numbers[1] if "." in n and n[-1].isdigit()
    ]


@pytest.mark.real
def test_a_real_run_is_read_back_from_both_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", "collectives", "all_reduce", "alltoall", "--ranks", "3", "--repeats", "3",
               "--sizes", "1K,64K"]  # fmt: skip
    assert main([*command, "-o", str(tmp_path / "b.log")]) == 0
    assert main([*command, "--json", "-o", str(tmp_path / "b.json")]) == 0
    assert capsys.readouterr().out == ""
    log, js = read(str(tmp_path / "b.log")), read(str(tmp_path / "b.json"))
    assert (log.format, js.format) == ("nccl-tests", "artery-bench")
    for found in (log, js):
        assert [one["collective"] for one in found.fields["tables"]] == ["all_reduce", "alltoall"]
        for table in found.fields["tables"]:
            assert (table["ranks"], table["nodes"], table["valid"]) == (3, 1, True)
            assert len(table["rows"]) == 2
    written = json.loads((tmp_path / "b.json").read_text())
    assert len(written["environment"]) == 3
    assert {"host", "cores", "kernel", "torch", "load_average_1min", "governor", "threads"} <= set(
        written["environment"][0]
    )


@pytest.mark.real
@pytest.mark.parametrize(
    "asked",
    [
        ["links", "--repeats", "2", "--size", "1K"],
        ["collectives", "alltoall", "--compare", "--on", "ethernet-10g:2", "--sizes", "1K"],
    ],
    ids=lambda asked: asked[0],
)
def test_documents_of_real_runs_keep_to_the_schema(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *asked, "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), published("bench"))


def test_wrong_results_end_with_an_error_after_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: object, **__: object) -> CollectivesAnswer:
        return answer(row(wrong=3), row(size=2**21))

    monkeypatch.setattr("artery.answers.bench.bench_collectives", wrong)
    assert main(["bench", "collectives"]) == 1
    out, err = capsys.readouterr()
    assert "# Out of bounds values : 3 FAILED" in out
    assert err == "error  3 elements are not the exact sum: no time of this run counts\n"


@pytest.mark.real
def test_ctrl_c_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [str(Path(sys.executable).parent / "artery"), "bench", "collectives", "--ranks", "2",
               "--sizes", "16M", "--repeats", "1000000", "--seconds", "80000"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        end = time.monotonic() + 200
        ports: set[str] = set()
        while len(ports) < 2 and time.monotonic() < end:  # until both have found each other
            ports = ports_of(marked(mark))
            time.sleep(0.05)
        assert len(marked(mark)) >= 3
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=120)
    assert parent.returncode == 130
    assert out == b""
    assert err.decode().splitlines()[-1] == "interrupted"
    assert none_left(mark)
    assert still_listening(ports) == set()
    assert folders(tmp_path) == []
    assert list(tmp_path.glob("*artery*")) == []
