"""``nvidia-smi -q`` as text and XML, and ``nvlink -s``: the figures, and what is remarked."""

from __future__ import annotations

from artery.answers.diagnose import diagnose
from artery.formats.gpus.nvidia_smi_q import pcie_share
from tests.formats.readings import FIXTURES, fields, reading, warned


def test_a_text_report_of_three_gpus() -> None:
    found = reading("nvidia-smi-q/h100.txt")
    assert (found.format, found.kind) == ("nvidia-smi-q", "state")
    well, held, broken = found.fields["gpus"]
    assert (found.fields["gpu_count"], found.fields["chip"]) == (3, "h100-sxm")
    assert well["sm_clock_hz"] == well["sm_clock_max_hz"] == 1.98e9
    assert (well["power_w"], well["utilization"], well["temperature_c"]) == (612.0, 0.98, 61.0)
    assert well["memory_bytes"] == 81559 * 2**20
    assert (held["pcie"]["generation"], held["pcie"]["width"]) == (3, 8)
    assert held["reasons"]["hw_power_brake_slowdown"] is True
    assert held["reasons"]["hw_thermal_slowdown"] is False
    assert broken["ecc"]["volatile_uncorrectable"] == 2
    assert well["ecc"]["volatile_correctable"] == 3
    assert broken["remapped_rows"] == {
        "correctable": 0, "uncorrectable": 2, "pending": True, "failure": True,
    }  # fmt: skip
    assert found.fields["throttled"] == found.fields["narrow"] == ["00000000:43:00.0"]
    assert not found.ignored


def test_what_is_remarked_on_the_text() -> None:
    found = reading("nvidia-smi-q/h100.txt")
    for words in (
        "43:00.0 is throttled: power brake",
        "43:00.0: PCIe width x8 of x16",
        "43:00.0: PCIe generation 3 of 5, at work",
        "43:00.0: power limit 500 W, below its default of 700 W",
        "61:00.0: 2 uncorrectable memory errors since the driver loaded",
        "61:00.0: remapping a row failed",
        "2 different power limits",
    ):
        assert warned(found, words), words
    assert not any("1B:00.0" in line for line in found.warnings)


def test_xml_with_the_old_titles() -> None:
    found = reading("nvidia-smi-q/a100.xml")
    idle, hot = found.fields["gpus"]
    assert found.fields["chip"] == "a100-40g"
    assert (idle["pcie"]["generation"], idle["pcie"]["generation_max"]) == (1, 4)
    assert idle["slowdown_temperature_c"] == 89
    assert hot["retired_pages"] == {"single_bit": 1, "double_bit": 2, "pending": True}
    assert warned(found, "PCIe generation 1 of 4 while idle: read again under load")
    assert warned(found, "0F:00.0 is throttled: hardware thermal slowdown")
    assert "jane" not in str(found.fields), "names of processes are not kept"


def test_nvlinks_that_are_inactive() -> None:
    found = reading("nvidia-smi-q/nvlink.txt")
    assert [one["inactive"] for one in found.fields["nvlinks"]] == [0, 2]
    assert found.fields["nvlinks"][0]["rate_bytes_per_s"] == 18 * 26.562e9
    assert warned(found, "GPU 1 has 2 of 18 NVLinks inactive")
    assert warned(found, "some GPUs have lost NVLinks: 16 are up, 18 on others")


def test_a_part_of_the_report_is_enough() -> None:
    said = fields("nvidia-smi-q/clocks.txt")
    assert [one["sm_clock_max_hz"] for one in said["gpus"]] == [8.75e8, 8.75e8]


def test_the_share_of_a_slot() -> None:
    """A generation has twice the rate of the one before (PCI-SIG); lanes add up."""
    now = {"generation": 4, "generation_max": 5, "width": 8, "width_max": 16}
    assert pcie_share(now) == 0.25
    assert pcie_share({**now, "width": None}) is None


def test_diagnose_takes_the_state_as_evidence() -> None:
    """A run at half its expected bandwidth, and a GPU whose slot has lost half its lanes."""
    log = str(FIXTURES / "diagnose/half-of-the-cards.log")
    answer = diagnose(log, str(FIXTURES / "nvidia-smi-q/h100.txt"), prove=False)
    causes = {one.cause.key: one for one in answer.diagnosis.findings}
    assert {"throttled", "narrow_slot"} <= set(causes)
    told = " ".join(line for one in causes.values() for line in one.evidence)
    assert "throttled gpus = 1" in told
