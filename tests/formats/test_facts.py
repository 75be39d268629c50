"""Facts files: what may be said, how names are taken, and that nothing said is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from artery.errors import InputError
from artery.formats.gpus.variants import variants
from artery.formats.reading import Reading
from artery.formats.recognise import recognise
from artery.formats.text import Text


def told(content: str) -> Reading:
    text = Text("facts.yaml", content)
    return recognise(text)[0].read(text)


def fields(content: str) -> dict[str, Any]:
    found = told(content)
    assert found.format == "facts"
    return dict(found.fields)


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("out_of_memory: true", "out_of_memory", True),
        ("allocation: 3 GiB", "allocation", 3 * 2.0**30),
        ("of_expected: 40%", "of_expected", 0.4),
        ("run_time: 2 min", "run_time", 120.0),
        ("samples_per_s_per_gpu: 7.5", "samples_per_s_per_gpu", 7.5),
        ("tokens_per_s_per_gpu: 3000", "tokens_per_s_per_gpu", 3000.0),
        ("speedup: 0.5", "speedup", 0.5),
        ("no_change: true", "no_change", True),
    ],
)
def test_a_measurement_is_read_in_its_unit(said: str, key: str, value: float) -> None:
    assert fields(f"measured:\n  - {{{said}}}\n")["measured"] == [{key: value}]


@pytest.mark.parametrize(
    "wrong", ["out_of_memory: 3", "allocation: 26 GB/s", "of_expected: x", "run_time: 3 GB"]
)
def test_a_measurement_of_another_kind_is_an_error(wrong: str) -> None:
    with pytest.raises(InputError):
        told(f"measured:\n  - {{{wrong}}}\n")


@pytest.mark.parametrize("section", ["hardware", "software", "workload", "measured"])
def test_one_section_is_enough(section: str) -> None:
    assert fields(f"# a ticket\n{section}: it is slow\n")["words"] == {section: "it is slow"}


def test_a_section_among_other_keys_is_another_file() -> None:
    claims = recognise(Text("other.yaml", "workload: web\nreplicas: 3\nimage: nginx\n"))
    assert "facts" not in [one.name for one in claims]


def test_texts_among_the_measurements_are_kept() -> None:
    said = fields("measured:\n- it stops\n- {step_time: 2 s, words: then it runs out}\n- 7\n")
    assert said["words"]["measured"] == "it stops; then it runs out; 7"
    assert said["measured"] == [{"step_time": 2.0}]


def test_several_chips_are_kept_beside_each_other() -> None:
    said = fields("hardware: {chip: [H200, B200]}\n")["facts"]
    assert said == {"chips": "h200, b200"}
    assert fields("hardware: {chip: [H200, h200]}\n")["facts"] == {"chip": "h200"}
    for wrong in ("[]", "[{a: 1}]"):
        with pytest.raises(InputError):
            told(f"hardware: {{chip: {wrong}}}\n")


def test_the_path_to_a_card_is_one_that_the_driver_prints() -> None:
    assert fields("hardware: {nic_path: PXB}\n")["facts"] == {"nic_path": "pxb"}
    with pytest.raises(InputError, match="PIX"):
        told("hardware: {nic_path: near}\n")


@pytest.mark.parametrize(
    ("name", "chips"),
    [
        ("A100", ("a100-80g", "a100-40g", "a100-80g-pcie")),
        ("A100 SXM", ("a100-80g", "a100-40g")),
        ("NVIDIA A100-SXM4-40GB", ("a100-40g",)),
        ("A100 64GB", ("a100-80g", "a100-40g", "a100-80g-pcie")),
        ("H100", ("h100-sxm", "h100-pcie")),
        ("NVIDIA H100 80GB HBM3", ("h100-sxm",)),
        ("NVIDIA H100 PCIe", ("h100-pcie",)),
        ("GH200", ("gh200-96g", "gh200-144g")),
        ("V100 16G", ("v100-16g",)),
        ("a100-80g", ("a100-80g",)),
        ("mi300x", ("mi300x",)),
        ("Voodoo", ()),
    ],
)
def test_a_name_stands_for_all_variants_that_it_does_not_rule_out(
    name: str, chips: tuple[str, ...]
) -> None:
    assert variants(name) == chips


def test_a_variant_that_was_taken_is_said_with_the_others() -> None:
    found = told("hardware: {chip: GH200}\n")
    assert found.fields["facts"]["chip"] == "gh200-96g"
    assert "GH200 is taken as gh200-96g; others of that name: gh200-144g" in found.warnings
    assert not [one for one in told("hardware: {chip: B200}\n").warnings if "taken" in one]


def curves(rows: str) -> list[list[float]]:
    said = fields(f"hardware: {{ranks: 8}}\nworkload: {{size: 1G}}\nmeasured: [{rows}]\n")
    return [[point["busbw_bytes_per_s"] for point in one["points"]] for one in said["curves"]]


def test_measurements_that_differ_in_notes_are_one_curve_until_they_contradict() -> None:
    low, high = "{busbw: 95 GB/s, note: low}", "{busbw: 97 GB/s, note: high}"
    assert curves(f"{low}, {high}") == [[95e9, 97e9]]
    assert curves(f"{low}, {{busbw: 50 GB/s, note: new}}") == [[95e9], [50e9]]
    rows = f"{low}, {{busbw: 50 GB/s, note: new}}"
    found = told(f"workload: {{size: 1G}}\nmeasured: [{rows}]\n")
    assert any("run of their own" in one for one in found.warnings)


def test_a_total_that_is_said_to_be_of_one_gpu_is_remarked() -> None:
    found = told("measured: [{samples_per_s: 30, note: 30 per GPU}]\n")
    assert any("samples_per_s_per_gpu" in one for one in found.warnings)


IMPOSSIBLE = """\
hardware:
  chip: h100-sxm
  gpus_per_node: 0
  nodes: 2
  ranks: 13
  fabric: infinband
  nics_per_node: 8
  cards_used: 9
software: {zero: 4, tp: 1.5}
workload:
  collective: all_redce
measured:
  - size: 1G
    busbw: 0 GB/s
    ranks: 9
    nodes: 2
  - {step_time: -2 s, mfu: 400%}
  - {of_expected: 60, wrong: -1}
"""


def test_everything_that_cannot_be_is_refused_at_once_each_on_its_line() -> None:
    with pytest.raises(InputError) as caught:
        told(IMPOSSIBLE)
    found = {(one.line, one.field) for one in caught.value.problems}
    assert found == {
        (3, "hardware.gpus_per_node"),
        (5, "hardware.ranks"),
        (6, "hardware.fabric"),
        (8, "hardware.cards_used"),
        (9, "software.zero"),
        (9, "software.tp"),
        (11, "workload.collective"),
        (14, "measured.busbw"),
        (15, "measured.ranks"),
        (17, "measured.step_time"),
        (17, "measured.mfu"),
        (18, "measured.of_expected"),
        (18, "measured.wrong"),
    }
    for one in caught.value.problems:
        assert one.file == "facts.yaml"
        assert one.found
        assert one.rule
        assert one.fix


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hardware: {nodes: 0}", "whole number"),
        ("hardware: {gpus_per_node: 8, nodes: 2, ranks: 17}", "one GPU to a rank"),
        ("hardware: {gpus_per_node: 4, ranks_per_node: 8}", "one GPU to a rank"),
        ("hardware: {nodes: 2, ranks: 16, ranks_per_node: 4}", "times nodes is ranks"),
        ("measured: {ranks: 9, nodes: 2, busbw: 3 GB/s}", "as many"),
        ("measured: {step_time: 0 s}", "more than zero"),
        ("workload: {parameters: 0}", "above 0"),
    ],
)
def test_counts_that_exclude_each_other_are_refused(wrong: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        told(f"{wrong}\n")


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("fabric: IB", "fabric", "infiniband"),
        ("fabric: Omni-Path", "fabric", "omni-path"),
        ("nics_per_node: 0", "nics_per_node", 0.0),
        ("nvlinks: 0", "nvlinks", 0.0),
    ],
)
def test_what_can_be_is_taken(said: str, key: str, value: object) -> None:
    assert fields(f"hardware: {{{said}}}\n")["facts"] == {key: value}


def test_a_utilisation_above_one_is_kept_as_people_divide_by_the_wrong_peak() -> None:
    assert fields("measured: {mfu: 104%}\n")["measured"] == [{"mfu": 1.04}]


def test_a_collective_is_taken_by_any_of_its_names() -> None:
    assert fields("workload: {collective: AllReduce}\n")["facts"] == {"collective": "all_reduce"}
