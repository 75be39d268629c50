"""Lists of jobs: ours, Philly's table, sacct; and the instances that a provider granted."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.errors import InputError
from artery.formats.reading import Reading
from artery.formats.recognise import read

FIXTURES = Path(__file__).parents[2] / "fixtures"


def reading(name: str) -> Reading:
    return read(str(FIXTURES / name))


def test_our_list_in_three_spellings() -> None:
    table = reading("jobtrace-artery/jobs.csv")
    first, second, third = table.jobs
    assert (first.id, first.submit_s, first.run_s, first.gpus) == ("a", 0, 3600, 16)
    assert (first.limit_s, first.user, dict(first.told)["min_chips"]) == (7200, "red", 8)
    assert second.told == {"priority": 1}
    assert (third.run_s, third.told["tp"]) == (600, 4)
    assert table.fields["gpu_s"] == 16 * 3600 + 8 * 1800 + 32 * 600
    for name in ("jobs.json", "jobs.yaml"):
        other = reading(f"jobtrace-artery/{name}")
        assert other.format == "jobtrace-artery"
        assert other.jobs[0].run_s == 3600
    assert reading("jobtrace-artery/jobs.yaml").jobs[1].told["kind"] == "service"


def test_everything_wrong_with_a_list_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "id,submit,run,chips,min_chips,colour\n"
        "a,0,-5,16,,\n"
        "b,,10,x,,\n"
        "c,0,10,8,16,red\n"
        "d,0,10,8,,\n"
    )
    with pytest.raises(InputError) as caught:
        read(str(path))
    said = [(one.line, one.field) for one in caught.value.problems]
    assert said == [
        (2, "a.run"), (3, "b.submit"), (3, "b.chips"), (4, "c.colour"), (4, "c.chips"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["submit,run,chips\n", '{"jobs": [], "submit": 1, "run": 2, "chips": 3}']
)
def test_an_empty_list_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="no job"):
        read(str(path))


def test_the_table_of_philly() -> None:
    found = reading("jobtrace-philly/table.csv")
    assert found.format == "jobtrace-philly"
    assert [one.gpus for one in found.jobs] == [1, 8]
    assert found.jobs[0].submit_s - found.jobs[1].submit_s == 48 * 60 + 52  # type: ignore[operator]
    assert found.fields["gpu_s"] == 66 + 8 * 2951


def test_jobs_of_sacct_and_of_the_traces() -> None:
    jobs = reading("slurm-sacct/gpu.txt").jobs
    assert [(one.gpus, one.run_s) for one in jobs] == [(16, 86400), (2, 600)]
    requeued = reading("slurm-sacct/requeued.txt").jobs
    assert [one.queue_s for one in requeued] == [600, 175]
    assert len(reading("jobtrace-helios/jobs.csv").jobs) == 2
    assert reading("jobtrace-openb/pods.csv").jobs[0].gpus == 0.5


def test_spot_instances() -> None:
    found = reading("jobtrace-aws-spot/made-up.csv")
    assert (found.format, found.kind) == ("jobtrace-aws-spot", "state")
    said = found.fields
    assert (said["lost"], said["gained"], said["duration_s"]) == (1, 9, 7200)
    assert [(one["time_s"], one["instances"]) for one in said["capacity"]] == [
        (0, 0), (600, 4), (1200, 3), (4800, 8),
    ]  # fmt: skip
    # 600 s of 4, 3600 s of 3, 2400 s of 8 in 7200 s.
    assert said["mean_instances"] == pytest.approx((600 * 4 + 3600 * 3 + 2400 * 8) / 7200)


def test_decimals_are_hours(tmp_path: Path) -> None:
    path = tmp_path / "spot.csv"
    path.write_text("0.000,0\n0.500,0\n0.500,4\n2.000,4\n")
    said = read(str(path)).fields
    assert (said["unit"], said["duration_s"], said["capacity"][1]["time_s"]) == ("h", 7200, 1800)


def test_two_columns_of_numbers_alone_are_no_spot_trace(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("1,2\n3,4\n5,6\n")
    with pytest.raises(InputError):
        read(str(path))


@pytest.mark.parametrize(
    "text",
    [
        '[{"submit": 0, "run": 3600, "chips": 8}]',
        "# ours\n- submit: 0\n  run: 3600\n  chips: 8\n",
        "- {submit: 0, run: 1 h, chips: 8}\n",
    ],
)
def test_a_list_without_a_name_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "jobs"
    path.write_text(text)
    (job,) = read(str(path)).jobs
    assert (job.submit_s, job.run_s, job.gpus) == (0, 3600, 8)


@pytest.mark.parametrize(
    ("header", "lacks"), [("id,submit,run,gpus", "chips"), ("id,submit,chips,tenant", "run")]
)
def test_a_table_that_lacks_a_column_names_it(tmp_path: Path, header: str, lacks: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"{header}\n1,2,3,4\n")
    with pytest.raises(InputError) as caught:
        read(str(path))
    (only,) = caught.value.problems
    assert (only.line, only.field) == (1, lacks)
