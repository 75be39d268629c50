"""Cases joined from files of our own: the curves were drawn by hand, the causes planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, check_threshold, diagnose
from artery.errors import InputError, ThresholdError

CASES = Path(__file__).parents[2] / "fixtures" / "diagnose"


def answer(*names: str, on: str | None = None) -> DiagnoseAnswer:
    return diagnose(*(str(CASES / name) for name in names), on=on)


def causes(found: DiagnoseAnswer) -> list[str]:
    return [one.cause.key for one in found.diagnosis.findings]


def test_a_machine_that_gives_what_it_should_is_healthy() -> None:
    # 230 to 235 GB/s is what maintainers expect of eight A100 (NVIDIA/nccl-tests issue 149).
    found = answer("healthy-a100.log")
    assert found.diagnosis.verdict == "healthy"
    assert found.system == "dgx-a100:8"
    assert not found.diagnosis.findings


def test_the_ring_on_eight_h100_is_nvls_off() -> None:
    # Ring 360 to 370, NVLS 480 GB/s (NVIDIA/nccl-tests issue 212).
    found = answer("ring-instead-of-nvls.log").diagnosis
    assert found.verdict == "degraded"
    best = found.findings[0]
    assert best.cause.key == "no_in_switch"
    assert best.explanation.predicted == pytest.approx(365e9, rel=0.03)


def test_half_of_the_cards_re_prices_the_curve_onto_the_measured_one() -> None:
    found = answer("half-of-the-cards.log", "half-cards-debug.log", "ibstat.txt")
    best = found.diagnosis.findings[0]
    assert found.diagnosis.verdict == "degraded"
    assert best.cause.key == "half_the_cards"
    assert best.explanation.fits
    assert best.explanation.predicted == pytest.approx(196e9, rel=0.1)
    assert "cards used share = 50.0 %" in best.evidence[0]
    assert best.confidence > 0.8
    sockets = next(one for one in found.diagnosis.findings if one.cause.key == "sockets")
    assert sockets.explanation.fits is False


def test_without_the_network_that_fact_is_asked_for() -> None:
    found = answer("half-of-the-cards.log")
    assert found.diagnosis.verdict == "unknown"
    assert [one.fact for one in found.diagnosis.missing] == ["network"]


def test_numbers_that_leave_causes_open_ask_for_the_log_that_decides() -> None:
    found = answer("half-of-the-cards.log", on="dgx-h100").diagnosis
    assert found.verdict == "degraded"
    assert [one.fact for one in found.missing] == ["transport"]
    assert "half_the_cards" in [one.cause.key for one in found.findings[:3]]


def test_sockets_are_found_by_log_and_numbers() -> None:
    found = answer("sockets.log", "socket-debug.log", on="dgx-h100")
    assert found.diagnosis.verdict == "faulty"
    assert causes(found)[0] == "sockets"
    assert found.diagnosis.findings[0].explanation.fits


def test_bandwidth_that_falls_with_size_is_congestion_or_loss() -> None:
    found = answer("falls-with-size.log", on="rail-clos-h100")
    assert found.diagnosis.verdict == "faulty"
    assert causes(found)[0] == "congestion"
    assert found.diagnosis.judged is not None
    assert found.diagnosis.judged.shape.shape == "falling"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wrong-results.log", "wrong_results"),
        ("every-rank-zero.log", "every_rank_zero"),
        ("no-rows.log", "no_rows"),
    ],
)
def test_numbers_that_do_not_count_are_refused_with_the_reason(name: str, reason: str) -> None:
    found = answer(name).diagnosis
    assert found.verdict == "refused"
    assert reason in [why.reason for why in found.refusals]
    assert not found.findings


def test_on_two_nodes_the_wire_rate_of_a_chip_is_said() -> None:
    found = answer("sockets.log", on="dgx-h100")
    # busbw (k-1)/(n-1) with k = 2 nodes and n = 16 ranks
    assert found.wire == pytest.approx(3.0e9 / 15)
    assert "two_nodes" in found.notes


def test_a_threshold_is_broken_by_a_ratio_below_it_and_by_what_cannot_be_compared() -> None:
    found = answer("ring-instead-of-nvls.log")
    check_threshold(found, 0.7)
    with pytest.raises(ThresholdError, match="below 80%"):
        check_threshold(found, 0.8)
    with pytest.raises(ThresholdError, match="nothing could be compared"):
        check_threshold(answer("no-rows.log"), 0.1)


def test_a_missing_file_is_said() -> None:
    with pytest.raises(InputError, match="no such file"):
        diagnose("no-such-file.log")
