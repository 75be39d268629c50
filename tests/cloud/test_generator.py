"""Made-up mixes against what is published of the clusters that they follow."""

from __future__ import annotations

from statistics import mean, median

import pytest

from artery.cloud.generator import MIXES, Asked, generate, large_part
from artery.units.durations import DAY

COUNT = 40_000


def test_the_mix_of_the_benchmark() -> None:
    jobs = generate(Asked("llm", COUNT, 100_000, 110.0, 0.85, seed=1))
    work = sum(job.chips * job.run for job in jobs)
    large = sum(job.chips * job.run for job in jobs if job.chips >= 1024)
    assert work == pytest.approx(0.85 * 100_000 * 110 * DAY, rel=1e-3)
    assert large / work == pytest.approx(0.85, abs=1e-3)
    assert sum(job.chips >= 1024 for job in jobs) / COUNT == pytest.approx(0.15, abs=0.01)
    small = [job.chips for job in jobs if job.chips < 1024]
    # Kalos: 26.8 GPUs a job on average.
    assert mean(small) == pytest.approx(26.8, rel=0.05)
    assert max(job.run for job in jobs) <= MIXES["llm"].longest
    assert all(0 <= job.submit <= 110 * DAY for job in jobs)


@pytest.mark.parametrize(("name", "chips"), [("philly", 1.304), ("helios", 3.72)])
def test_published_sizes_and_run_times(name: str, chips: float) -> None:
    """Without a load asked for, run times keep their published median.

    1.304 chips is the mean of the 82,247 jobs that the weights were counted in; Acme's summary has
    1.93 for all 112,956.
    """
    mix = MIXES[name]
    jobs = generate(Asked(name, COUNT, 8192, 100.0, None, seed=2))
    assert mean(job.chips for job in jobs) == pytest.approx(chips, rel=0.15)
    assert median(job.run for job in jobs) == pytest.approx(mix.median_run, rel=0.05)
    ends = [sum(job.state == state for job in jobs) / COUNT for state in ("completed", "failed")]
    assert ends == pytest.approx([mix.ends[0], mix.ends[2]], abs=0.02)


def test_arrivals_come_in_bursts_as_at_philly() -> None:
    """The index of dispersion of hourly arrivals is 1 + mean·burst²: 161 in Philly's trace."""
    jobs = generate(Asked("philly", round(31.5 * 24 * 400), 8192, 400.0, None, seed=3))
    hours = [0] * (24 * 400)
    for job in jobs:
        hours[min(int(job.submit / 3600), len(hours) - 1)] += 1
    average = mean(hours)
    dispersion = mean((count - average) ** 2 for count in hours) / average
    assert dispersion == pytest.approx(161, rel=0.25)


def test_users_ask_for_one_to_five_times_what_they_need() -> None:
    factors = [
        job.limit / job.run for job in generate(Asked("llm", 2000, 4096, 9.0, 0.8)) if job.limit
    ]
    assert min(factors) >= 1
    assert max(factors) <= 5
    assert mean(factors) == pytest.approx(3, rel=0.05)


def test_the_same_seed_makes_the_same_jobs_and_another_others() -> None:
    one, other = (
        Asked("llm", 500, 4096, 9.0, 0.8, seed=4),
        Asked("llm", 500, 4096, 9.0, 0.8, seed=5),
    )
    assert generate(one) == generate(one)
    assert generate(one) != generate(other)


def test_no_job_asks_for_more_than_a_quarter_of_the_cluster() -> None:
    for chips in (8, 100, 1024, 5000):
        assert max(job.chips for job in generate(Asked("llm", 3000, chips, 5.0, 0.5))) <= chips / 4


def test_all_chip_time_in_large_jobs_leaves_no_others() -> None:
    jobs = generate(Asked("llm", 100, 4096, 1.0, 0.85, large=1.0))
    assert all(job.chips >= 1024 for job in jobs)
    work = sum(job.chips * job.run for job in jobs)
    assert work == pytest.approx(0.85 * 4096 * DAY, rel=1e-3)


def test_the_large_part_is_counted() -> None:
    jobs = generate(Asked("llm", 4000, 16384, 20.0, 0.85, large=0.5, seed=1))
    large = [job for job in jobs if job.chips >= 1024]
    work, count = large_part(jobs, 1024)
    assert work == pytest.approx(0.5, abs=0.01)
    assert count == len(large) / 4000
    assert large_part([job for job in jobs if job.chips < 1024], 1024) == (0.0, 0.0)
