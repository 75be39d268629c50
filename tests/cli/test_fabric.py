"""``artery fabric`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from artery.cli import main
from tests.cluster.fabrics import as_ibnetdiscover, as_plan, broken, leaf_spine
from tests.report.test_schemas import schema


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["fabric", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    document: dict[str, Any] = json.loads(out)
    jsonschema.validate(document, schema("fabric"))
    assert code == (0 if document.get("candidates", True) else 4)
    return document


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The regular network as a plan, and the broken one as it is discovered."""
    plan, found = tmp_path / "cables.csv", tmp_path / "net.txt"
    plan.write_text(as_plan(leaf_spine()), encoding="utf-8")
    found.write_text(as_ibnetdiscover(broken(), nameless=3), encoding="utf-8")
    return str(plan), str(found)


def test_it_designs(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--chips", "16384", "--radix", "64", "--port", "800G", "--rails", "8")
    found = answered(capsys, "design", *asked, "--oversub", "1:1")
    assert [one["name"] for one in found["candidates"]] == [
        "rail-only-2",
        "rail-3",
        "tor-3",
        "dual-plane-3",
    ]
    best = found["candidates"][0]
    assert (best["switches"], best["links_by_tier"]) == (768, [16384, 16384])
    assert best["bisection_bytes_per_s"] == 16384 / 2 * 100e9
    assert best["latency_s"]["infiniband"] == pytest.approx({"leaf": 2.8e-6, "top": 3.7e-6})
    assert best["price_usd"] is None, "no price of the switch is known"
    assert any("price of sn5600" in warning for warning in found["warnings"])


def test_named_parts_are_priced(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "design", "--chips", "2048", "--switch", "qm9700", "--nic", "cx7")
    assert found["parts"]["switch"] == "qm9700"
    for one in found["candidates"]:
        lines = {line["role"]: line for line in one["bill"] if line["role"] in ("switch", "nic")}
        assert lines["switch"]["price_usd"] == {"low": 96 * 36000.0, "high": 96 * 50000.0}
        assert lines["nic"]["power_w"] == {"low": 2048 * 17.0, "high": 2048 * 26.0}
        total = sum(line["price_usd"]["low"] for line in one["bill"])
        assert one["price_usd"]["low"] == pytest.approx(total)


def test_more_addresses_than_an_infiniband_subnet_has_are_warned_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """65,536 cards and 5,120 switches are over the 49,151 unicast LIDs of one subnet."""
    found = answered(capsys, "design", "--chips", "65536", "--switch", "qm9700")
    said = " ".join(found["warnings"])
    assert "rail-3 has 70,656 addresses" in said
    assert "rail-only-3" not in said, "a subnet per rail"


def test_more_than_three_tiers_join_is_infeasible(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "design", "--chips", "1M", "--radix", "32", "--json")
    assert code == 4
    assert json.loads(out)["candidates"] == []
    assert "at most 65,536" in err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_draws(capsys: pytest.CaptureFixture[str], lang: str) -> None:
    code, out, _ = run(capsys, "design", "--chips", "1024", "--port", "400G", "--lang", lang)
    assert code == 0
    assert "rail-only-2" in out
    assert "…" not in out, "nothing is cut"
    for words in ("DeepSeek-V3", "Tolly 225107", "dac400", "qm9700", "sn5600"):
        assert words in out


@pytest.mark.parametrize("name", ["rail-2", "tor-2", "rail-only-2", "dual-plane-2"])
def test_the_plan_of_a_candidate_is_written_and_has_no_fault(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    out = tmp_path / "cables.csv"
    asked = ("--chips", "1000", "--port", "400G", "--cables", name, "-o", str(out))
    assert run(capsys, "design", *asked) == (0, "", "")
    found = answered(capsys, "check", str(out))
    assert found["fabric"]["cards"] == 1000
    assert [one["cause"] for one in found["findings"]] in ([], ["single_homed"])


def test_findings_end_with_5_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, files: tuple[str, str]
) -> None:
    assert run(capsys, "check", files[1])[0] == 0
    code, out, err = run(capsys, "check", files[1], "--fail-on", "error")
    assert (code, "26 of 558 links" in out) == (5, True)
    assert "finding(s) at error or worse" in err
    clean = tmp_path / "clean.csv"
    clean.write_text(as_plan(leaf_spine(leaves=4, spines=2, hosts=4, cards=2)), encoding="utf-8")
    assert run(capsys, "check", str(clean), "--fail-on", "note")[0] == 0


def test_the_plan_of_no_candidate(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "design", "--chips", "1000", "--cables", "rail-7")
    assert code == 3
    assert "rail-2" in err


def test_it_finds_the_missing_links(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    found = answered(capsys, "check", files[1])
    assert found["fabric"]["switches"] == 40
    assert sum(spine["missing"] for spine in found["spines"]) == 26
    assert found["findings"][0]["cause"] == "missing_uplinks"
    assert found["findings"][0]["severity"] == "error"
    assert "spine with most first" in found["findings"][0]["fix"]
    assert {one["cause"] for one in found["findings"]} == {
        "missing_uplinks", "unequal_uplinks", "unnamed", "single_homed", "oversubscribed",
    }  # fmt: skip


@pytest.mark.parametrize(("lang", "said"), [("en", "26 of 558 links"), ("zh", "558 条链路缺 26")])
def test_it_says_so(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str], lang: str, said: str
) -> None:
    code, out, _ = run(capsys, "check", files[1], "--lang", lang)
    assert code == 0
    assert said.replace(" ", "") in "".join(out.split())
    assert ["spine003", "52", "62", "10"] in [line.split() for line in out.splitlines()]


def test_it_compares(capsys: pytest.CaptureFixture[str], files: tuple[str, str]) -> None:
    found = answered(capsys, "diff", *files)
    # 26 cables are gone; behind three ports of the first leaf now sit hosts without a name.
    assert (found["same"], len(found["removed"]), found["added"]) == (1116 - 26 - 3, 26, [])
    assert [one["end"] for one in found["moved"]] == ["leaf001[1]", "leaf001[2]", "leaf001[3]"]
    same = answered(capsys, "diff", files[0], files[0])
    assert (same["same"], same["removed"], same["added"], same["moved"]) == (1116, [], [], [])


def test_a_cable_plugged_elsewhere_has_moved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    head = "a_device,a_port,b_device,b_port\n"
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text(f"{head}n1,1,leaf1,1\nn2,1,leaf1,2\n", encoding="utf-8")
    other.write_text(f"{head}n1,1,leaf1,1\nn2,1,leaf2,2\nn3,1,leaf2,3\n", encoding="utf-8")
    found = answered(capsys, "diff", str(one), str(other))
    assert found["moved"] == [{"end": "n2[1]", "was": "leaf1[2]", "now": "leaf2[2]"}]
    assert found["added"] == ["leaf2[3] - n3[1]"]
    assert found["devices_added"] == ["leaf2", "n3"]
    _, out, _ = run(capsys, "diff", str(one), str(other))
    assert "~ n2[1]: leaf1[2] -> leaf2[2]" in out


def test_two_cables_that_were_swapped_have_both_moved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    head = "a_device,a_port,b_device,b_port\n"
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    gone = "n2,1,leaf1,2\nn2,2,leaf2,2\nn3,1,leaf1,3\n"
    one.write_text(f"{head}n1,1,leaf1,1\nn1,2,leaf2,1\n{gone}", encoding="utf-8")
    other.write_text(f"{head}n1,1,leaf2,1\nn1,2,leaf1,1\n", encoding="utf-8")
    found = answered(capsys, "diff", str(one), str(other))
    # Both cables of n1 are there, at each other's place, however an end of each is told.
    ends = [{pair["end"], pair["was"]} for pair in found["moved"]]
    assert sorted(map(sorted, ends)) == [["leaf1[1]", "n1[1]"], ["leaf2[1]", "n1[2]"]]
    assert (len(found["removed"]), found["added"]) == (3, [])


def test_a_chain_of_moved_cables_is_told_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # Each of three cables now begins where the next began: all three moved, in any order.
    head = "a_device,a_port,b_device,b_port\n"
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text(f"{head}n2,1,leaf,2\nn1,1,leaf,1\nn3,1,leaf,3\n", encoding="utf-8")
    other.write_text(f"{head}n1,1,leaf,2\nn2,1,leaf,3\nn3,1,leaf,4\n", encoding="utf-8")
    found = answered(capsys, "diff", str(one), str(other))
    assert (len(found["moved"]), found["removed"], found["added"]) == (3, [], [])


def test_it_exports_a_file_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "cables.csv"
    code, printed, _ = run(capsys, "export", "dgx-h100:512", "--to", "csv", "-o", str(out))
    assert (code, printed) == (0, "")
    assert len(out.read_text("utf-8").splitlines()) == 1 + 1024
    assert answered(capsys, "check", str(out))["findings"] == []


def test_a_fat_tree_for_htsim(capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of csg-htsim's own fat_tree_1024.topo; 4,096 cards in four pods."""
    _, out, _ = run(capsys, "export", "dgx-h100:4096", "--to", "htsim")
    lines = [line for line in out.splitlines() if line and not line.startswith("#")]
    assert lines[:4] == ["Nodes 4096", "Tiers 3", "Podsize 1024", "Tier 0"]
    assert lines.count("Radix_Down 32") == lines.count("Radix_Up 32") == 2
    assert "Radix_Down 64" in lines
    assert lines.count("Downlink_speed_Gbps 400") == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("design",), 2, ("--chips",)),
        (("design", "--chips", "0"), 2, ("--chips", "1024")),
        (("design", "--chips", "-5"), 2, ("--chips",)),
        (("design", "--chips", "1e9"), 3, ("--chips", "10,000,000")),
        (("design", "--chips", "many"), 2, ("--chips", "whole number")),
        (("design", "--chips", "8", "--oversub", "0:1"), 3, ("--oversub", "1:1")),
        (("design", "--chips", "8", "--oversub", "1:0"), 3, ("--oversub", "1:1")),
        (("design", "--chips", "8", "--oversub", "2"), 3, ("--oversub", "3:1")),
        (("design", "--chips", "8", "--oversub", "1:1,1:1,1:1"), 3, ("--oversub", "1:1,7:1")),
        (("design", "--chips", "8", "--oversub", "999:1"), 3, ("--oversub", "64:1")),
        (("design", "--chips", "8", "--radix", "1"), 3, ("--radix", "64")),
        (("design", "--chips", "8", "--radix", "5000"), 3, ("--radix", "4,096")),
        (("design", "--chips", "8", "--rails", "0", "--planes", "1"), 3, ("--rails", "--planes")),
        (("design", "--chips", "8", "--port", "fast"), 3, ("--port", "400 Gb/s")),
        (("design", "--chips", "8", "--port", "50 GB/s"), 3, ("--port", "per direction")),
        (("design", "--chips", "8", "--port", "3.2T"), 3, ("--port", "--optic")),
        (("design", "--chips", "8", "--switch", "qm970"), 3, ("qm970", "qm9700")),
        (("design", "--chips", "8", "--nic", "cx77"), 3, ("cx77", "cx7")),
        (("design", "--chips", "8", "--optic", "dr4-401"), 3, ("dr4-401", "dr4-400")),
        (("design", "--chips", "8", "--nic", "cx6", "--optic", "dr4-400"), 3, ("cx6", "dr4-400")),
        (("design", "--chips", "8", "--switch", "qm9700", "--radix", "128"), 3, ("--radix 64",)),
        (("design", "--chips", "8", "--switch", "qm9700", "--port", "800G"), 3, ("400 Gb/s",)),
        (("design", "--chips", "8", "--switch", "qm9700", "--nic", "pollara"), 3, ("pollara",)),
        (("check", "/no/such/file"), 3, ("/no/such/file", "check the path")),
        (("check",), 2, ("FILE",)),
        (("diff", "a"), 2, ("OTHER",)),
        (("export", "dgx-h100:512", "--to", "dott"), 2, ("dot",)),
        (("export", "dgx-h100:8", "--to", "dot"), 3, ("dgx-h100:256",)),
        (("export", "tpu-v4-pod:64", "--to", "csv"), 3, ("no switches",)),
        (("export", "aliyun-hpn7:512", "--to", "htsim"), 3, ("--to csv",)),
        (("export", "dgx-h101:64", "--to", "csv"), 3, ("dgx-h100",)),
        (("desgin",), 2, ("design",)),
    ],
)
def test_mistakes_get_the_place_and_the_fix(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: tuple[str]
) -> None:
    ended, out, err = run(capsys, *arguments)
    assert (ended, out) == (code, ""), err
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.parametrize("name", ["design", "check", "diff", "export"])
def test_help_has_examples_one_a_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, name, "--help")
    lines = out.splitlines()
    assert code == 0
    assert lines[lines.index("  Examples:") + 1].startswith(f"    artery fabric {name}")
    assert max(map(len, lines)) <= 90


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        ("", 1, "no cable"),
        ("# n1,1,leaf1,2\n", 1, "no cable"),
        ("n1,1,leaf1,1\nn2,1,leaf1\n", 3, "the line ends before b_port"),
        ('n1,1,"leaf1,1\n', 2, "must be CSV"),
    ],
)
def test_a_plan_that_is_cut_short_is_not_without_fault(
    rows: str, line: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text("a_device,a_port,b_device,b_port\n" + rows, encoding="utf-8")
    code, _, err = run(capsys, "check", str(plan))
    assert code == 3
    assert f"{plan.name}:{line}" in err
    assert said in err


@pytest.mark.parametrize(("language", "said"), [("en", "fabric check reads"), ("zh", "可读别的")])
def test_a_file_of_another_tool_is_told_what_reads_it(
    language: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(Path(__file__).parents[1] / "fixtures/ibnetdiscover/two-tier.txt")
    assert main(["fabric", "export", file, "--to", "dot", "--lang", language]) == 3
    told = capsys.readouterr().err
    assert said in told
    assert "aliyun" not in told
