"""From a published row to the plan that it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accuracy.plans import planned
from accuracy.recipes import Match, Recipe, claim
from accuracy.record import Record, read_records
from accuracy.rows import Row, Unexpressed, express, read_rows
from accuracy.workloads import MASKED, assumed_heads, workload_of
from artery.core.workload import Matmul
from artery.step.legality import problems

BY_ID = {record.id: record for record in read_records()}
ROWS, REST = read_rows()


def recipe(**fields: object) -> Recipe:
    basic = {
        "table": "own",
        "line": "step",
        "match": Match("own"),
        "workload": "gpt",
        "system": "dgx-a100",
        "profile": "megatron-2021",
        "rule": "",
        "rule_zh": "",
    }
    return Recipe(**{**basic, **fields})  # type: ignore[arg-type]


def small(**fields: object) -> Record:
    row = replace(
        BY_ID["kor22-175B-full"],
        id="own",
        dataset="own",
        chips=32,
        layers=24,
        hidden=1024,
        heads=16,
        tp=4,
        pp=4,
        vpp=None,
        dp=2,
        micro_batch=None,
        global_batch=32,
        recompute="",
        sequence_parallel="",
    )
    return replace(row, **fields)  # type: ignore[arg-type]


def test_a_published_value_wins_over_an_assumption() -> None:
    record = small(micro_batch=2, vpp=3)
    found = planned(record, recipe(assumed={"micro_batch": [1], "vpp": [2]}), workload(record))
    assert (found.plan.micro_batch, found.plan.vpp) == (2, 3)
    assert found.unknown == ()
    assert found.alternatives == ()


def test_an_open_field_takes_the_first_value_and_the_others_are_alternatives() -> None:
    record = small()
    assumed = {"micro_batch": [1, 2, 4], "vpp": ["layers/2", "layers/3"]}
    found = planned(record, recipe(assumed=assumed), workload(record))
    assert (found.plan.micro_batch, found.plan.vpp) == (1, 3)
    assert found.unknown == ("micro_batch", "vpp")
    assert {(p.micro_batch, p.vpp) for p in found.alternatives} == {(2, 3), (4, 3), (1, 2)}


def test_an_illegal_alternative_is_left_out() -> None:
    record = small()
    found = planned(record, recipe(assumed={"micro_batch": [1, 3]}), workload(record))
    assert found.alternatives == ()


def test_what_sources_disagree_on_widens_but_does_not_move_the_plan() -> None:
    record = small(vpp=1, micro_batch=1)
    found = planned(record, recipe(doubted={"vpp": [2]}), workload(record))
    assert found.plan.vpp == 1
    assert [p.vpp for p in found.alternatives] == [2]


def test_an_impossible_layout_names_the_broken_rule() -> None:
    record = small(micro_batch=1, tp=3, heads=16)
    with pytest.raises(ValueError, match="tp divides the heads"):
        planned(record, recipe(), workload(record))


def test_sequence_parallelism_needs_more_than_one_tensor_rank() -> None:
    record = small(tp=1, dp=8, micro_batch=1)
    found = planned(record, recipe(known={"sequence_parallel": True}), workload(record))
    assert not found.plan.sequence_parallel


def test_words_that_do_not_speak_of_the_row_are_not_read() -> None:
    record = small(micro_batch=1, sharding="ZeRO-2 (MegaScale)")
    assert planned(record, recipe(), workload(record)).plan.zero == 2
    unread = recipe(unread=("sharding",), known={"zero": 1})
    assert planned(record, unread, workload(record)).plan.zero == 1


def test_degrees_that_do_not_multiply_to_the_chips_are_not_scored() -> None:
    answer = express(BY_ID["bloom-sweep-045"])
    assert isinstance(answer, Unexpressed)
    assert "640" in answer.reason
    assert "320" in answer.reason


def test_a_measurement_listed_twice_counts_once() -> None:
    twice = [BY_ID["bloom-sweep-003"], BY_ID["bloom-sweep-010"], BY_ID["bloom-sweep-014"]]
    rows, rest = read_rows(twice)
    assert [row.id for row in rows] == ["bloom-sweep-003"]
    assert {one.record.id for one in rest} == {"bloom-sweep-010", "bloom-sweep-014"}


def test_every_plan_and_alternative_is_legal_and_uses_the_published_chips() -> None:
    for row in ROWS:
        assert row.plan.chips == row.record.chips
        for plan in row.plans:
            assert not problems(row.workload, plan), row.id


def test_no_alternative_repeats_another() -> None:
    for row in ROWS:
        assert len(set(row.plans)) == len(row.plans), row.id


def test_all_rows_are_either_scored_or_have_a_reason_in_both_languages() -> None:
    assert len(ROWS) + len(REST) == len(BY_ID)
    assert all(one.reason and one.reason_zh for one in REST)


@pytest.mark.parametrize(
    ("hidden", "tp", "heads"), [(14336, 8, 112), (12288, 8, 96), (13824, 8, 96), (14400, 8, 120)]
)
def test_unpublished_heads_come_nearest_to_128_wide(hidden: int, tp: int, heads: int) -> None:
    """BLOOM itself: hidden 14,336, 112 heads (arXiv 2211.05100, Table 3)."""
    assert assumed_heads(hidden, tp) == heads


def test_bert_predicts_the_vocabulary_at_the_masked_positions_only() -> None:
    record = BY_ID["dle-bert-s128-amp-1n"]
    entry = claim(record)
    assert isinstance(entry, Recipe)
    built = workload_of(record, entry)
    products = [part for part in built.last.operators if isinstance(part, Matmul)]
    assert products
    assert all(part.rows <= MASKED for part in products)


def test_a_proxy_is_the_same_model_with_fewer_layers() -> None:
    rows = {row.id: row for row in ROWS}
    proxy = rows["dgxc-llama405proxy30-H100-BF16-64-g64"]
    assert proxy.workload.depth == 30
    assert proxy.workload.hidden == 16384


def workload(record: Record):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return workload_of(record, recipe())


def test_rows_know_where_they_ran() -> None:
    row = express(BY_ID["sc21-t1-1008.0B"])
    assert isinstance(row, Row)
    assert row.system == "dgx-a100:3072"
    assert row.table == "megatron-sc21-table1"
    assert row.profile == "megatron-2021"
