"""Files of the user's own: what is taken, and what every kind of mistake is answered with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from artery.catalog import chip, link
from artery.catalog.door import is_path, json_schema
from artery.catalog.loader import entry
from artery.catalog.schema import ChipTable, LinkTable
from artery.catalog.syntax import LARGEST_FILE
from artery.errors import InputError

CHIP = """\
vendor: ACME
year: 2026
cores: 64
cache: 32 MiB
peaks: {bf16: 500 TFLOPS, fp8: 1 PFLOP/s}
memory:
  kind: HBM3
  capacity: 64 GiB
  bandwidth: 2.6 TB/s
ports:
  acmelink: {count: 4, bandwidth: 200 GB/s both ways}
"""

PEAKS = "{bf16: 500 TFLOPS, fp8: 1 PFLOP/s}"

LINK = """\
kind = "acme"
bandwidth = "400 Gb/s"
efficiency = "90 %"
latency = "1.2 us"
"""


def write(folder: Path, name: str, text: str | bytes) -> str:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(file)


def test_a_chip_in_yaml(tmp_path: Path) -> None:
    file = write(tmp_path, "acme-1.yaml", CHIP)
    found = chip(file)
    assert found.name == "acme-1"
    assert found.peaks == {"bf16": 500e12, "fp8": 1e15}
    assert found.ports[0].bandwidth == 100e9
    assert (found.power, found.price) == (None, None)
    assert file in found.provenance["peaks.bf16"].text
    assert found.provenance["efficiency.matmul.bf16"].confidence == "assumed"


def test_the_same_chip_in_json_and_toml(tmp_path: Path) -> None:
    from ruamel.yaml import YAML

    as_json = json.dumps(YAML(typ="safe").load(CHIP))
    as_toml = (
        'vendor="ACME"\nyear=2026\ncores=64\ncache="32 MiB"\n'
        'peaks={bf16="500 TFLOPS",fp8="1 PFLOP/s"}\n'
        '[memory]\nkind="HBM3"\ncapacity="64 GiB"\nbandwidth="2.6 TB/s"\n'
        '[ports.acmelink]\ncount=4\nbandwidth="200 GB/s both ways"\n'
    )
    expected = chip(write(tmp_path, "acme.yaml", CHIP))
    for name, text in (("acme.json", as_json), ("acme.toml", as_toml)):
        found = chip(write(tmp_path, name, text))
        assert (found.name, found.peaks, found.memories) == (
            "acme",
            expected.peaks,
            expected.memories,
        )


def test_a_link_in_toml_with_a_byte_order_mark(tmp_path: Path) -> None:
    found = link(write(tmp_path, "acme.toml", b"\xef\xbb\xbf" + LINK.encode()))
    assert (found.bandwidth, found.efficiency, found.latency) == (50e9, 0.9, 1.2e-6)
    assert found.price is None


def test_a_variant_of_a_shipped_chip(tmp_path: Path) -> None:
    text = 'base = "H100"\npower = "500 W"\n[memory]\nbandwidth = "3.9 TB/s"\n'
    found = chip(write(tmp_path, "capped.toml", text))
    assert (found.name, found.power, found.memory.bandwidth) == ("capped", 500, 3.9e12)
    assert found.peaks == chip("h100-sxm").peaks


def test_sources_of_the_users_own(tmp_path: Path) -> None:
    text = LINK.replace('"1.2 us"', '["1.2 us", "lab"]') + (
        '[sources]\nlab = {text = "our lab", as_of = "2026-11", confidence = "measured"}\n'
    )
    found = link(write(tmp_path, "acme.toml", text))
    assert found.provenance["latency"].confidence == "measured"
    assert found.provenance["bandwidth"].confidence == "recalled"


def test_yaml_is_read_as_version_1_2(tmp_path: Path) -> None:
    # YAML 1.1 would read no as false and 1e9 as a text.
    text = LINK.replace(" =", ":").replace('"acme"', "no").replace('"90 %"', "9e-1")
    found = link(write(tmp_path, "acme.yaml", text))
    assert (found.kind, found.efficiency) == ("no", 0.9)


# name, text, place (line:column), field, a word of the message
CORPUS = [
    ("empty.yaml", "", None, None, "empty"),
    ("blank.toml", " \n\n", None, None, "empty"),
    ("comment.yaml", "# nothing\n", None, None, "table"),
    ("bytes.toml", bytes(range(128, 256)), None, None, "UTF-8"),
    ("zero.toml", "a = 1\0", None, None, "binary"),
    ("utf16.yaml", "a: 1".encode("utf-16"), None, None, "UTF-16"),
    ("huge.toml", "#" * (LARGEST_FILE + 1), None, None, "at most"),
    ("noext", "a = 1", None, None, ".toml"),
    ("chip.txt", "a = 1", None, None, ".toml"),
    ("tab.yaml", "a: 1\n\tb: 2\n", "2:1", None, "tab"),
    ("two.yaml", "a: 1\n---\nb: 2\n", "2:1", None, "second document"),
    ("list.yaml", "- a\n", None, None, "a list"),
    ("text.yaml", "hello", None, None, "table"),
    ("open.yaml", "a: [1, 2\n", "2:1", None, "valid YAML"),
    ("twice.yaml", "a: 1\na: 2\n", "2:1", None, '"a" a second time'),
    ("alias.yaml", "a: *b\n", "1:4", None, "valid YAML"),
    ("twice.toml", "a = 1\na = 2\n", "2:6", None, "once"),
    ("broken.toml", "[peaks\n", "1:7", None, "valid TOML"),
    ("open.toml", 'a = "x', "1:7", None, "valid TOML"),
    ("bare.toml", "a = x\n", "1:5", None, "valid TOML"),
    ("broken.json", '{"a": 1,, }', "1:9", None, "valid YAML"),
    ("deep.yaml", "a: " + "[" * 3000 + "]" * 3000, None, None, "nest"),
    ("dashes.yaml", "- " * 2000, None, None, "nest"),
    ("deep.toml", "a = " + "[" * 3000 + "]" * 3000, None, None, "nest"),
    ("base.yaml", "base: h1000\n", "1:1", "base", "did you mean"),
    ("base.toml", "\nbase = 7\n", "2:1", "base", "name"),
    ("source.yaml", "base: h100\nsource: lab\n", "2:1", "source", "[sources]"),
    ("pair.yaml", "base: h100\npower: [500 W, lab]\n", "2:1", "power", 'describe "lab"'),
    ("missing.yaml", CHIP.replace("cores: 64\n", ""), None, "cores", "required"),
    ("missing2.yaml", CHIP.replace("  capacity: 64 GiB\n", ""), "6:1", "memory.capacity", "80 GiB"),
    ("typo.yaml", CHIP.replace("cores:", "coers:"), "3:1", "coers", '"cores"'),
    ("typo2.yaml", CHIP.replace("  kind:", "  kidn:"), "7:3", "memory.kidn", '"kind"'),
    ("typo3.yaml", CHIP.replace("bf16", "bf61"), "5:9", "peaks.bf61", '"bf16"'),
    ("typo4.toml", LINK.replace("latency", "latencey"), "4:1", "latencey", '"latency"'),
    ("unit.yaml", CHIP.replace("2.6 TB/s", "2.6 TB"), "9:3", "memory.bandwidth", "B/s"),
    ("unit2.yaml", CHIP.replace("2.6 TB/s", "2600"), "9:3", "memory.bandwidth", "needs a unit"),
    ("unit3.yaml", CHIP.replace("500 TFLOPS", "500 TB"), "5:9", "peaks.bf16", "FLOP/s"),
    ("way.yaml", CHIP.replace(" both ways", ""), "11:24", "ports.acmelink.bandwidth", "both ways"),
    ("way2.toml", LINK.replace("400 Gb/s", "50 GB/s"), "2:1", "bandwidth", "per direction"),
    ("negative.yaml", CHIP.replace("64 GiB", "-64 GiB"), "8:3", "memory.capacity", "negative"),
    ("none.yaml", CHIP.replace("64 GiB", "0 GiB"), "8:3", "memory.capacity", "zero"),
    ("absurd.yaml", CHIP.replace("64 GiB", "1e30 GiB"), "8:3", "memory.capacity", "at most"),
    ("inf.yaml", CHIP.replace("64 GiB", ".inf"), "8:3", "memory.capacity", "unit"),
    ("count.yaml", CHIP.replace("cores: 64", "cores: 0"), "3:1", "cores", "at least 1"),
    ("half.yaml", CHIP.replace("cores: 64", "cores: 6.5"), "3:1", "cores", "whole number"),
    ("words.yaml", CHIP.replace("cores: 64", "cores: 8x"), "3:1", "cores", "whole number"),
    ("year.yaml", CHIP.replace("2026", "26"), "2:1", "year", "1990"),
    ("flat.yaml", CHIP.replace(PEAKS, "5"), "5:1", "peaks", "table"),
    ("nopeak.yaml", CHIP.replace(PEAKS, "{}"), "5:1", "peaks", "dtype"),
    ("nulls.yaml", CHIP.replace("64 GiB", ""), "8:3", "memory.capacity", "unit"),
    ("more.yaml", CHIP + "efficiency: {memory: 1.2}\n", "12:14", "efficiency.memory", "fraction"),
    ("kernel.yaml", CHIP + "efficiency: {attention: {flash9: {peak_fraction: 1, half_length: 1}}}",
     "12:26", "efficiency.attention.flash9", "flash3"),
    ("other.yaml", CHIP + "efficiency: {matmul: {fp32: 0.5}}\n", "12:23", "efficiency.matmul.fp32",
     "no peak"),
    ("pins.yaml", CHIP.replace("HBM3", "HBM3\n  stacks: 5\n  bits_per_stack: 1024\n  rate: 8 Gb/s"),
     "12:3", "memory.bandwidth", "5.12 TB/s"),
    ("tag.yaml", CHIP.replace("64 GiB", "!!python/name:os.system"), "8:3", "memory.capacity", "B"),
    ("above.toml", LINK.replace("90 %", "120 %"), "3:1", "efficiency", "fraction"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "place", "field", "word"), CORPUS, ids=[case[0] for case in CORPUS]
)
def test_a_mistake_is_answered_with_place_rule_and_fix(
    tmp_path: Path, name: str, text: str | bytes, place: str | None, *, field: str | None, word: str
) -> None:
    file = write(tmp_path, name, text)
    read = link if isinstance(text, str) and text.startswith('kind = "acme"') else chip
    with pytest.raises(InputError) as caught:
        read(str(tmp_path / name))
    assert any(
        problem.place == (file if place is None else f"{file}:{place}")
        and problem.field == field
        and word in str(problem)
        for problem in caught.value.problems
    ), str(caught.value)


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = CHIP.replace("cores: 64", "coers: 64").replace("64 GiB", "64").replace("2026", "x")
    with pytest.raises(InputError) as caught:
        chip(write(tmp_path, "acme.yaml", text))
    assert {problem.field for problem in caught.value.problems} == {
        "year", "coers", "cores", "memory.capacity"
    }  # fmt: skip


def test_references_that_unfold_without_end_are_stopped(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(InputError, match="unfold"):
        chip(write(tmp_path, "bomb.yaml", "\n".join(lines)))


@pytest.mark.parametrize("name", ["nowhere.toml", "folder.toml", "bad\0name.toml"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError) as caught:
        chip(str(tmp_path / name))
    assert caught.value.problems[0].file == str(tmp_path / name)


def test_where_toml_keys_stand(tmp_path: Path) -> None:
    text = (
        'base = "h100"\nports."nvlink".count = 0\n\n[[tiers]]\n[[tiers]]\nx = 1\n'
        '[efficiency.matmul]\n  "bf16" = 2\n'
    )
    with pytest.raises(InputError) as caught:
        chip(write(tmp_path, "x.toml", text.replace("[[tiers]]\n[[tiers]]\nx = 1\n", "")))
    places = {problem.field: (problem.line, problem.column) for problem in caught.value.problems}
    assert places == {"ports.nvlink.count": (2, 1), "efficiency.matmul.bf16": (5, 3)}


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.sampled_from(("yaml", "toml"))
)
def test_no_text_at_all_gets_past_the_door_or_breaks_it(text: bytes, suffix: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.raises(InputError):
        chip(write(Path(folder), f"any.{suffix}", text))


@pytest.mark.parametrize(
    ("table", "kind", "name"), [(ChipTable, "chips", "v100"), (LinkTable, "links", "eth10")]
)
def test_the_published_schema_takes_shipped_files_and_refuses_typos(
    table: type, kind: str, name: str
) -> None:
    schema = json_schema(table)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    values = {**entry(kind, name).values, "sources": {}}
    assert validator.is_valid(values)
    assert validator.is_valid({**values, "price": ["5 USD", "street"]})
    assert not validator.is_valid({**values, "pricee": "5 USD"})
    assert not validator.is_valid({**values, "price": ["5 USD", "street", "more"]})


def test_what_is_a_path() -> None:
    assert all(is_path(text) for text in ("./x", "a/b", "x.toml", "X.YAML", "x.json", "a\\b"))
    assert not any(is_path(text) for text in ("h100-sxm", "megatron-1.7b", "dgx-h100"))


def test_a_device_without_end_is_not_read_whole() -> None:
    with pytest.raises(InputError, match="over 250,000 bytes"):
        chip("/dev/zero")
