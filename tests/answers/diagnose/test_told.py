"""What people tell: slow-downs, shares, memory, names; right values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.answers.diagnose.scaling import scaling_facts
from artery.answers.diagnose.training import training_facts
from artery.answers.diagnose.words import failed_allocations, out_of_memory, parameters_of
from artery.diagnoser.case import Fact


def told(tmp_path: Path, text: str) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    path.write_text(text, encoding="utf-8")
    return diagnose(str(path), prove=False)


def causes(found: DiagnoseAnswer) -> list[str]:
    return [one.cause.key for one in found.diagnosis.findings]


ALONE = (
    "hardware: {{chip: h100-sxm, gpus_per_node: 8{}}}\n"
    "workload: {{collective: all_reduce, size: 8G}}\nmeasured: [{{busbw: 470 GB/s}}]\n"
)


def test_without_a_network_one_node_is_meant_and_said(tmp_path: Path) -> None:
    found = told(tmp_path, ALONE.format(""))
    assert found.diagnosis.verdict == "healthy"
    assert found.system == "dgx-h100:8"
    assert "one_node" in found.notes


@pytest.mark.parametrize("network", [", fabric: infiniband", ", nic_rate: 400 Gb/s"])
def test_with_a_network_the_count_is_asked_for(tmp_path: Path, network: str) -> None:
    found = told(tmp_path, ALONE.format(network))
    assert "one_node" not in found.notes
    assert [one.fact for one in found.diagnosis.missing] == ["ranks"]


def test_a_measurement_on_fewer_nodes_has_fewer_ranks(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 4, nics_per_node: 8,"
        " nic_rate: 400 Gb/s}\nworkload: {collective: all_reduce, size: 8G}\n"
        "measured: [{busbw: 100 GB/s, nodes: 1}, {busbw: 370 GB/s}]\n",
    ).diagnosis
    assert found.curve is not None
    assert (found.curve.ranks, found.curve.nodes) == (8, 1)


def test_a_named_system_needs_nodes_only(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {system: dgx-h100}\nworkload: {collective: all_reduce, size: 8G}\n"
        "measured: [{busbw: 370 GB/s, nodes: 4}]\n",
    )
    assert (found.diagnosis.verdict, found.system) == ("healthy", "dgx-h100:32")
    assert "all 8 chips of a node take part" in found.assumed


def test_more_nodes_that_are_slower_than_one_bring_causes_and_a_question(tmp_path: Path) -> None:
    found = told(tmp_path, "hardware: {gpus_per_node: 4}\nmeasured: [{speedup: 0.6, nodes: 3}]\n")
    assert found.facts["efficiency_across"] == pytest.approx(0.2)
    assert found.diagnosis.verdict == "degraded"
    assert causes(found)[0] == "network_bound_training"
    assert {"sockets", "kernel_tcp"} <= set(causes(found))
    assert [one.fact for one in found.diagnosis.missing] == ["nic rate"]


@pytest.mark.parametrize(
    ("row", "fact", "value"),
    [
        ({"speedup": 1.5, "nodes": 2.0}, "efficiency_across", 0.75),
        ({"speedup": 12.0, "nodes": 2.0, "ranks": 16.0}, "efficiency_across", 0.75),
        ({"speedup": 6.0, "ranks": 8.0}, "efficiency_in_node", 0.75),
        ({"speedup": 8.0, "ranks": 16.0}, "efficiency_across", 0.5),
    ],
)
def test_a_speed_up_is_over_so_many_nodes_or_gpus(
    row: dict[str, float], fact: str, value: float
) -> None:
    found = dict(scaling_facts({"gpus_per_node": 8.0}, [row]))
    assert found[fact] == pytest.approx(value)


def test_the_throughput_of_one_gpu_counts_for_all_of_them() -> None:
    rows = [
        {"samples_per_s_per_gpu": 40.0, "nodes": 1.0},
        {"samples_per_s_per_gpu": 10.0, "nodes": 2.0},
    ]
    found = dict(scaling_facts({"gpus_per_node": 8.0}, rows))
    assert found["efficiency_across"] == pytest.approx(0.25)
    # 16 · 10 / (8 · 40)
    assert found["throughput_over_one_node"] == pytest.approx(0.5)


def test_times_of_equally_many_gpus_are_compared_and_no_others() -> None:
    rows = [
        {"run_time": 60.0, "nodes": 1.0, "ranks": 4.0},
        {"run_time": 150.0, "nodes": 2.0, "ranks": 4.0},
        {"run_time": 900.0, "nodes": 3.0, "ranks": 24.0},
    ]
    assert dict(scaling_facts({}, rows)) == {"efficiency_across": pytest.approx(0.4)}
    assert not dict(scaling_facts({}, rows[1:]))


MEMORY = "hardware: {chip: a100-80g, ranks: 1}\nworkload: {model: some-13b}\nmeasured: "


@pytest.mark.parametrize(
    "measured",
    ["[{out_of_memory: true}]", "CUDA out of memory", "[{step_time: 2 s, note: then OOM}]",
     "[it ran out of memory]", "显存不足"],
)  # fmt: skip
def test_memory_that_ran_out_is_weighed_by_the_model(tmp_path: Path, measured: str) -> None:
    found = told(tmp_path, MEMORY + measured + "\n")
    # 13e9 · 16 B over 80 GiB
    assert found.facts["states_over_memory"] == pytest.approx(208e9 / (80 * 2**30))
    assert found.facts["memory_needed"] == pytest.approx(208e9)
    assert (found.diagnosis.verdict, causes(found)[0]) == ("faulty", "states_do_not_fit")
    assert "model_by_name" in found.notes


@pytest.mark.parametrize(
    ("measured", "width"),
    [
        ("[{allocation: 52 GB}]", 4.0),  # 13e9 · 4 B
        ("[{allocation: 26 GB}]", 2.0),
        ("Tried to allocate 48.43 GiB (GPU 0; 79.15 GiB total capacity)", 4.0),
        ("[could not allocate 24.2 GiB of memory]", 2.0),
    ],
)
def test_a_failed_allocation_of_a_whole_copy(tmp_path: Path, measured: str, width: float) -> None:
    text = MEMORY.replace("ranks: 1", "ranks: 64").replace(
        "workload", "software: {zero: 2}\nworkload"
    )
    found = told(tmp_path, text + measured + "\n")
    assert found.facts["copy_bytes"] == width
    assert (found.diagnosis.verdict, causes(found)[0]) == ("faulty", "whole_copy")


def test_a_run_that_ran_fits_and_adapters_keep_no_states(tmp_path: Path) -> None:
    ran = told(tmp_path, MEMORY + "[{step_time: 2 s}]\n")
    assert "states_over_memory" not in ran.facts
    lora = told(tmp_path, MEMORY.replace("some-13b", "some-13b, task: LoRA") + "OOM\n")
    assert lora.facts["states_over_memory"] == pytest.approx(26e9 / (80 * 2**30))


def test_other_optimizers_keep_less() -> None:
    facts: dict[str, Fact] = {"parameters": 1e9, "memory_per_gpu": 1e9, "optimizer": "sgd"}
    assert training_facts(facts, [])["states_over_memory"] == pytest.approx(2 + 2 + 4 + 4)


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("the request for 3 GiB of memory failed", [3 * 2.0**30]),
        ("Tried to allocate 512 MB", [512e6]),
        ("allocated 3 GiB so far", []),
        ("the allocation is 3 GiB", []),
        ("分配 2 GiB 失败", [2 * 2.0**30]),
    ],
)
def test_the_size_of_a_failed_allocation_is_read_from_words(text: str, bytes_: list[float]) -> None:
    assert list(failed_allocations([text])) == bytes_


@pytest.mark.parametrize("text", ["no OOM", "it went on without out of memory", "ROOM 7", "fine"])
def test_memory_that_did_not_run_out(text: str) -> None:
    assert not out_of_memory([text])


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("some-7b", 7e9), ("x-1.5B-chat", 1.5e9), ("tiny-350m", 350e6), ("vision", None),
     ("resnet18", 11.69e6), ("7bit", None)],
)  # fmt: skip
def test_parameters_are_those_of_the_catalog_or_of_the_name(
    model: str, parameters: float | None
) -> None:
    # He et al., 2015: ResNet-18 has 11.69 million parameters.
    assert parameters_of(model) == (parameters and pytest.approx(parameters, rel=1e-3))


PEAK = "hardware: {}\nworkload: a dense model\nmeasured: [{{flops_per_gpu: 494.7 TFLOP/s}}]\n"


@pytest.mark.parametrize(
    ("hardware", "share"),
    [
        ("{chip: [h100-sxm, H200]}", 0.5),  # both 989.4 TFLOP/s dense
        ("{words: H100 or H200}", 0.5),
        ("{words: eight H200}", 0.5),
        ("{chip: [h100-sxm, b200]}", None),
        ("{words: H100 and B200}", None),
    ],
)
def test_a_peak_that_all_chips_share_is_used(
    tmp_path: Path, hardware: str, share: float | None
) -> None:
    found = told(tmp_path, PEAK.replace("{}", hardware).replace("{{", "{").replace("}}", "}"))
    assert found.facts.get("mfu_dense") == (share and pytest.approx(share, rel=1e-3))
    assert ("same_peak" in found.notes) == (share is not None and "eight" not in hardware)
    assert ("chips_in_words" in found.notes) == ("words" in hardware)


@pytest.mark.parametrize(
    ("share", "verdict"), [("20%", "faulty"), ("60%", "degraded"), ("95%", "healthy")]
)
def test_a_share_of_the_expected_is_the_verdict_where_nothing_else_is_known(
    tmp_path: Path, share: str, verdict: str
) -> None:
    assert told(tmp_path, f"measured: [{{of_expected: {share}}}]\n").diagnosis.verdict == verdict


def test_a_share_of_the_expected_is_priced_where_the_system_is_known(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 4, nics_per_node: 8,"
        " cards_used: 4, nic_rate: 400 Gb/s, fabric: infiniband}\n"
        "workload: {collective: all_reduce}\nmeasured: [{of_expected: 50%}]\n",
    )
    judged = found.diagnosis.judged
    assert judged is not None
    assert judged.ratio == pytest.approx(0.5)
    assert causes(found)[0] == "half_the_cards"
    assert "share_said" in found.notes


def test_notes_that_contradict_each_other_make_curves_of_their_own(tmp_path: Path) -> None:
    # Read as one curve, bandwidth would fall from 400 at 1 GiB to 60 at 2 GiB: congestion.
    found = told(
        tmp_path,
        "hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 4, fabric: roce, nics_per_node: 8,"
        " nic_rate: 400 Gb/s}\nworkload: {collective: all_reduce}\nmeasured:\n"
        "  - {size: 1G, busbw: 360 GB/s, note: before}\n"
        "  - {size: 1G, busbw: 55 GB/s, note: after}\n"
        "  - {size: 2G, busbw: 60 GB/s, note: after}\n",
    ).diagnosis
    assert found.judged is not None
    assert [point.busbw for point in found.judged.curve.points] == [55e9, 60e9]
    assert found.judged.shape.shape != "falling"


def test_a_pipeline_that_a_faster_network_leaves_as_it_was(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {nodes: 2, fabric: ethernet}\nsoftware: {pp: 2}\n"
        "measured: [{no_change: true, note: twice the rate of the cards}]\n",
    )
    assert causes(found)[0] == "pipeline_moves_little"
