"""``read``, systems made of foreign files, and masked names."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.anonymise import Mask
from artery.answers.expect import expect
from artery.answers.plan import plan
from artery.answers.read import read, system_values
from artery.answers.systems import is_foreign, system_of
from artery.errors import InputError

FIXTURES = Path(__file__).parents[1] / "fixtures"
TOPOLOGY = str(FIXTURES / "nvidia-smi-topo/lost-links.txt")
NAMED = str(FIXTURES / "nvidia-smi-topo/named.txt")
LOG = str(FIXTURES / "nccl-debug/two-nodes.log")


def test_several_files_keep_their_order() -> None:
    answer = read(LOG, TOPOLOGY)
    assert [one.format for one in answer.files] == ["nccl-debug", "nvidia-smi-topo"]
    assert [one.is_system for one in answer.files] == [False, True]
    assert all(one.tested for one in answer.files)


def test_the_problems_of_all_files_are_said_at_once(tmp_path: Path) -> None:
    poem = tmp_path / "poem.txt"
    poem.write_text("shall I compare thee\n", "utf-8")
    with pytest.raises(InputError) as raised:
        read(str(poem), LOG, str(tmp_path / "missing"))
    places = [problem.file for problem in raised.value.problems]
    assert places == [str(poem), str(tmp_path / "missing")]


def test_a_reader_that_met_no_real_file_says_so() -> None:
    (one,) = read(str(FIXTURES / "dmesg-xid/two.log")).files
    assert one.tested is False


def test_names_are_masked_alike_everywhere() -> None:
    (one,) = read(LOG, anonymise=True).files
    assert one.fields["hosts"] == ["host1", "host2"]
    whole = repr(one)
    assert "node01" not in whole
    assert "10.1.0" not in whole


def test_what_a_mask_covers() -> None:
    mask = Mask()
    mask.learn({"hosts": ["gpu-7.site.org"], "user": "ana"})
    said = mask.text(
        "ana@gpu-7.site.org /home/bob/x 192.168.3.4 0x1122334455667788 aa:bb:cc:dd:ee:ff"
    )
    for secret in ("ana", "gpu-7", "bob", "192.168", "1122334455667788", "aa:bb"):
        assert secret not in said
    assert mask.text("127.0.0.1 and version 2.19.3") == "127.0.0.1 and version 2.19.3"
    assert mask.text("banana") == "banana"


def test_a_topology_becomes_a_system_once_the_chip_is_said() -> None:
    with pytest.raises(InputError, match="which chips these are"):
        system_of(TOPOLOGY)
    system = system_of(TOPOLOGY, ["chip=h100-sxm"])
    # GPU5 has 16 links of 25 GB/s left, and every ring passes it.
    assert (system.tiers[0].kind, system.tiers[0].bandwidth) == ("switch", 400e9)
    assert (system.name, system.chips, system.chip.name) == (TOPOLOGY, 8, "h100-sxm")
    assert any("NV16 beside NV18" in warning for warning in system.warnings)


def test_a_part_of_a_topology() -> None:
    assert system_of(f"{NAMED}:2").chips == 2
    with pytest.raises(InputError, match="at most 4 chips"):
        system_of(f"{NAMED}:5")


def test_overrides_reach_a_foreign_system() -> None:
    system = system_of(NAMED, ["node.bandwidth=50 GB/s per direction"])
    assert system.tiers[0].pair == 50e9


def test_what_is_assumed_is_said() -> None:
    def said(*overrides: str) -> str:
        return " ".join(system_of(NAMED, overrides).warnings)

    assert "between sockets 10 GB/s" in said()
    assert "slots are taken as pcie4x16" in said()
    given = "node.host.socket_bandwidth=20 GB/s per direction"
    assert "between sockets" not in said(given)


def test_a_log_is_no_system() -> None:
    with pytest.raises(InputError, match="must describe chips"):
        system_of(LOG)


def test_catalog_names_stay_catalog_names() -> None:
    assert not is_foreign("dgx-h100:16")
    assert system_of("dgx-h100:16").chips == 16


def test_plans_and_expectations_take_such_a_file() -> None:
    """Four A100 in a full mesh: a ring of three links of 100 GB/s each way at most."""
    answer = expect("all_reduce", on=NAMED, sizes=(2**30,))
    assert 100e9 < answer.rows[0].speed.busbw <= 300e9
    assert plan("gpt2", on=NAMED).plans


def test_the_tables_of_a_system_file() -> None:
    values = system_values(TOPOLOGY, ["chip=h100-sxm", "node.power=1 kW"])
    assert values["chip"] == "h100-sxm"
    assert values["node"]["power"] == "1 kW"


def test_names_of_a_network_are_masked() -> None:
    file = str(FIXTURES / "iblinkinfo/blocks.txt")
    (plain,), (masked,) = read(file).files, read(file, anonymise=True).files
    assert "elm-2" in str(plain)
    assert "rack7" in str(plain)
    assert not any(name in str(masked) for name in ("elm-1", "elm-2", "rack7"))
    assert any("host" in line for line in masked.warnings)
