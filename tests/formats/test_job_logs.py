"""torchrun's logs and public job traces."""

from __future__ import annotations

import re
from pathlib import Path

from artery.formats.jobs.rows import seconds
from artery.formats.recognise import read
from tests.formats.readings import FIXTURES, fields, reading, warned


def test_the_rank_out_of_memory_is_the_cause_though_another_was_seen_first() -> None:
    found = reading("torchrun/memory.log")
    said = found.fields
    assert (said["root_cause_rank"], said["root_cause"]) == (3, "out of memory")
    assert (said["first_observed_rank"], said["exit_code"]) == (0, 1)
    assert said["consequences"] == [0, 1]
    assert said["world_size"] == 4
    assert warned(found, "torchrun names rank 0 first, but rank 3")


def test_a_rank_that_was_killed() -> None:
    found = reading("torchrun/killed.log")
    assert (found.fields["root_cause_rank"], found.fields["signal"]) == (10, "SIGKILL")
    assert warned(found, "OOM killer")


def test_the_silent_rank_of_a_hang() -> None:
    found = reading("torchrun/hang.log")
    said = found.fields
    assert (said["root_cause"], said["root_cause_rank"]) == ("hang", None)
    assert (said["waiting_ranks"], said["silent_ranks"]) == ([0, 2], [1])
    assert said["timeout_s"] == 60
    assert warned(found, "are the victims")


def test_nodes_of_openb() -> None:
    found = reading("jobtrace-openb/nodes.csv")
    said = found.fields
    assert (said["node_count"], said["gpus"]) == (4, 18)
    assert said["gpus_by_model"] == {"V100M32": 8, "P100": 2, "G3": 8, "no GPU": 0}
    assert said["nodes"][0]["memory_bytes"] == 393_216 * 2**20
    assert [(one.line, one.count) for one in found.ignored] == [(5, 1)]


def test_pods_of_openb_share_gpus() -> None:
    found = reading("jobtrace-openb/pods.csv")
    assert found.fields["gpu_s"] == 0.5 * 1000
    assert found.fields["gpus_per_job"] == {"0": 1, "0.5": 1, "8": 1}
    assert warned(found, "1 of 3 jobs have no start and end")


def test_helios_and_acme() -> None:
    said = fields("jobtrace-helios/jobs.csv")
    assert said["gpu_s"] == 8 * 3600 + 16 * 30
    assert said["median_queue_s"] == (600 + 30) / 2
    assert fields("jobtrace-acme/jobs.csv")["gpu_s"] == 32 * 7200


def test_philly_counts_the_gpus_of_all_machines() -> None:
    said = fields("jobtrace-philly/jobs.json")
    assert said["gpu_s"] == 4 * 3590 + 4 * 10
    assert said["states"] == {"Pass": 1, "Killed": 1}


def test_time_stamps() -> None:
    assert seconds("2020-01-01 00:00:00") == 1_577_836_800
    assert seconds("2020-01-01T08:00:00+08:00") == 1_577_836_800
    assert seconds("yesterday") is None


def test_what_tee_puts_before_a_rank_changes_nothing(tmp_path: Path) -> None:
    """``torchrun --tee 3`` writes ``[default3]:[rank3]: ...``."""
    text = (FIXTURES / "torchrun/memory.log").read_text("utf-8")
    tagged = re.sub(r"(?m)^\[rank(\d+)\]:", r"[default\1]:[rank\1]:", text)
    assert tagged != text
    file = tmp_path / "teed.log"
    file.write_text(tagged, "utf-8")
    assert read(str(file)).fields["root_cause"] == "out of memory"


def test_a_quote_in_the_header_of_a_table_is_no_column(tmp_path: Path) -> None:
    """Found by ``make fuzz``: the name is there by its letters, and by CSV's rules it is not."""
    text = (FIXTURES / "jobtrace-openb/nodes.csv").read_text("utf-8")
    file = tmp_path / "nodes.csv"
    file.write_text(text.replace("cpu_milli", ' "cpu_milli', 1), "utf-8")
    assert read(str(file)).fields["nodes"][0]["cpus"] == 0.0
