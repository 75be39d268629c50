"""Systems that users write down: what a file may say, and how its mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.catalog import system
from artery.catalog.door import json_schema
from artery.catalog.systems.schema import SystemTable
from artery.errors import InputError

USER = """
chip: h100-sxm
library: nccl
node: {kind: nvswitch, chips: 8, link: nvlink4}
fabric:
  nic: {link: ib-ndr, count: 8}
  hop: 450 ns
  tiers: [{name: leaf, nodes: 32}, {name: spine, taper: 2}]
"""


def test_a_user_says_node_and_fabric_in_a_few_lines(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(USER)
    found = system(f"{file}:512")
    assert (found.name, found.chips) == ("mine", 512)
    assert [tier.bandwidth for tier in found.tiers] == pytest.approx([450e9, 50e9, 25e9])
    assert found.warnings == (
        "mine: node.reduction is not given; taken as none (nvls: NVLink 4 and later)",
    )
    assert str(file) in found.provenance["fabric.hop"].text


def test_a_user_starts_from_a_known_system(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "dgx-h100"\n[fabric]\nhop = "1 us"\n')
    found = system(f"{file}:512")
    assert found.tiers[2].latency - found.tiers[1].latency == pytest.approx(2e-6)


GRAPH = """
chip = "a100-80g"
library = "nccl"
[node]
kind = "graph"
chips = 4
cables = [
  {ends = ["chip0", "switch0"], link = "pcie4x16"},
  {ends = ["chip1", "switch0"], link = "pcie4x16"},
  {ends = ["chip2", "switch1"], link = "pcie4x16"},
  {ends = ["chip3", "switch1"], link = "pcie4x16"},
  {ends = ["switch0", "switch1"], link = "pcie4x16", bandwidth = "20 GB/s per direction"},
]
"""


def test_a_network_drawn_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "drawn.toml"
    file.write_text(GRAPH)
    found = system(str(file))
    assert [(group.kind, group.count) for group in found.groups] == [("chip", 4), ("switch", 2)]
    assert found.tiers[0].pair == pytest.approx(20e9)
    assert found.tiers[0].ring[4] == pytest.approx(20e9)
    assert len(found.wiring().source) == 10


def test_a_graph_that_falls_apart_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "drawn.toml"
    file.write_text(
        "".join(line for line in GRAPH.splitlines(keepends=True) if "20 GB" not in line)
    )
    with pytest.raises(InputError, match="chip0 to chip2"):
        system(str(file))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"chip3"', '"chip4"', "4 chips, numbered from 0"),
        ('"chip3"', '"gpu3"', "chip0, switch3"),
        ('"chip3"', '"switch1"', "switch1, switch1, a cable has two different ends"),
        ('"nccl"', '"ncl"', "library"),
        ('kind = "graph"', 'kind = "torus"', "torus"),
        ("chips = 4", "chips = 400", "2 to 256"),
    ],
)
def test_mistakes_in_a_file_are_placed_and_explained(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    file = tmp_path / "drawn.toml"
    file.write_text(GRAPH.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        system(str(file))
    assert all(problem.file == str(file) for problem in caught.value.problems)
    assert all(problem.line for problem in caught.value.problems)


@pytest.mark.parametrize("chips", ["0", "-3", "1", "999"])
def test_a_graph_without_chips_is_one_problem_that_offers_none(tmp_path: Path, chips: str) -> None:
    file = tmp_path / "drawn.toml"
    file.write_text(GRAPH.replace("chips = 4", f"chips = {chips}"))
    with pytest.raises(InputError, match="2 to 256 chips") as caught:
        system(str(file))
    assert [problem.field for problem in caught.value.problems] == ["node.chips"]


@pytest.mark.parametrize("time", ["1e9 s", "1000001 s"])
def test_a_hop_of_weeks_is_refused_at_its_line(tmp_path: Path, time: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(USER.replace("hop: 450 ns", f"hop: {time}"))
    with pytest.raises(InputError, match="must be at most 1,000,000 s") as caught:
        system(str(file))
    (problem,) = caught.value.problems
    assert (problem.file, problem.field) == (str(file), "fabric.hop")
    assert problem.line
    assert problem.fix


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(USER.replace("chips: 8", "chip: 8").replace("450 ns", "450"))
    with pytest.raises(InputError) as caught:
        system(str(file))
    assert len(caught.value.problems) == 2


def test_the_schema_of_a_file_can_be_printed() -> None:
    schema = json.loads(json.dumps(json_schema(SystemTable)))
    assert {"chip", "node", "fabric", "torus", "base", "sources"} <= set(schema["properties"])
    assert "nvswitch" in json.dumps(schema)


SMALL = """\
chip: h100-sxm
library: nccl
node: {kind: nvswitch, chips: 8, link: nvlink4}
fabric:
  nic: {link: ib-ndr, count: 8}
  hop: 0.5 us
  tiers: [{name: leaf, nodes: 32}, {name: spine}]
"""


@pytest.mark.parametrize(
    ("old", "new", "place", "field", "word"),
    [
        ("h100-sxm", "h100-sxmm", "1:1", "chip", 'did you mean "h100-sxm"'),
        ("nvlink4", "nvlonk4", "3:34", "node.link", 'did you mean "nvlink4"'),
        ("ib-ndr", "ib-ndrr", "5:9", "fabric.nic.link", 'did you mean "ib-ndr"'),
        ("spine", "leaf", "7:37", "fabric.tiers[1].name", "its own name"),
        ("chip:", "chips: true\nchip:", "1:1", "chips", "true, expected a whole number"),
        ("chip:", 'name: "\\e[31mred"\nchip:', "1:1", "name", "can be printed"),
        ("chip:", 'name: ""\nchip:', "1:1", "name", "can be printed"),
        ("chip:", f"title: {'x' * 201}\nchip:", "1:1", "title", "201 characters"),
    ],
)
def test_what_a_system_file_names_is_known_single_and_printable(
    tmp_path: Path, old: str, new: str, *, place: str, field: str, word: str
) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    assert system(f"{file}:16").nodes == 2
    file.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        system(str(file))
    (problem,) = caught.value.problems
    assert (problem.place, problem.field) == (f"{file}:{place}", field)
    assert word in str(problem)
