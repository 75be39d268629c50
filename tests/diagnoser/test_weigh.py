from __future__ import annotations

from math import exp, log, sqrt

import pytest

from artery.diagnoser.case import Case, Curve, Point, Said
from artery.diagnoser.rules import Cause, Evidence, World
from artery.diagnoser.weigh import ELSE, TOLERANCE, UNPRICED, Priced, residual, weigh

SIZES = (2**24, 2**28, 2**32)
USUAL = (100e9, 300e9, 400e9)
CURVE = Curve(
    "all_reduce", 32, 4, tuple(Point(s, r / 2) for s, r in zip(SIZES, USUAL, strict=True)), "a"
)


def cause(key: str, *worlds: World, evidence: tuple[Evidence, ...] = ()) -> Cause:
    return Cause(key, key, key, 0.1, "next", "reference", worlds=worlds, evidence=evidence)


def shares(world: World) -> Priced | None:
    share = world["network"]
    assert isinstance(share, float)
    return Priced([rate * share for rate in USUAL], "ring")


def test_what_remains_is_the_root_mean_square_of_logarithms() -> None:
    assert residual(CURVE, USUAL) == pytest.approx(log(2))
    crooked = (200e9, 200e9, 200e9)  # the last two as measured
    rest = [log(point.busbw / 200e9) ** 2 for point in CURVE.points]
    assert residual(CURVE, crooked) == pytest.approx(sqrt(sum(rest) / 3))


def test_a_size_that_start_up_slows_in_that_world_does_not_count() -> None:
    rates = [point.busbw for point in CURVE.points]
    rates[0] = 0.5 * rates[-1]
    assert residual(CURVE, rates) == pytest.approx(0.0)


def test_sizes_ruled_by_start_up_do_not_count() -> None:
    points = (Point(1024, 1e6), *CURVE.points)
    curve = Curve("all_reduce", 32, 4, points, "a")
    assert residual(curve, (1e9, *USUAL)) == pytest.approx(log(2))


def test_the_cause_that_lands_on_the_curve_comes_first_and_others_are_refuted() -> None:
    candidates = [cause("quarter", {"network": 0.25}), cause("half", {"network": 0.5})]
    first, second = weigh(Case(), CURVE, "plateau", shares, candidates)
    assert (first.cause.key, second.cause.key) == ("half", "quarter")
    assert first.explanation.fits is True
    assert first.explanation.predicted == 200e9
    assert first.explanation.algorithm == "ring"
    assert first.explanation.remains == pytest.approx(1)
    assert second.explanation.fits is False
    assert second.explanation.remains == pytest.approx(2)
    assert first.confidence == pytest.approx(0.1 / (0.1 + ELSE), rel=1e-3)


def test_the_best_variant_counts_and_more_variants_cost() -> None:
    one = weigh(Case(), CURVE, None, shares, [cause("a", {"network": 0.5})])[0]
    two = weigh(Case(), CURVE, None, shares, [cause("a", {"network": 0.25}, {"network": 0.5})])[0]
    assert two.explanation.world == {"network": 0.5}
    assert two.odds == pytest.approx(one.odds / sqrt(2))


def test_evidence_multiplies_the_odds_and_counts_against_below_one() -> None:
    case = Case(facts={"fabric": "roce"}, origins={"fabric": "a.log"})
    odds = (Evidence(4, fact="fabric", equals="roce"), Evidence(0.5, fact="fabric", equals="roce"))
    plain = weigh(case, CURVE, None, shares, [cause("a", {"network": 0.5})])[0]
    found = weigh(case, CURVE, None, shares, [cause("a", {"network": 0.5}, evidence=odds)])[0]
    assert found.odds == pytest.approx(2 * plain.odds)
    assert found.evidence == found.against == ("a.log: fabric = roce",)


def test_a_cause_without_a_world_or_a_curve_stays_unpriced() -> None:
    (found,) = weigh(Case(), CURVE, None, shares, [cause("a")])
    assert found.explanation.fits is None
    assert found.odds == pytest.approx(0.1 * UNPRICED)
    (found,) = weigh(Case(), None, None, None, [cause("a", {"network": 0.5})])
    assert found.explanation.predicted is None


def test_a_bad_fit_is_less_likely_by_the_normal_law() -> None:
    off = [rate * 0.5 * exp(0.12) for rate in USUAL]
    (found,) = weigh(Case(), CURVE, None, lambda _: Priced(off), [cause("a", {"network": 0.5})])
    assert found.odds == pytest.approx(0.1 * exp(-0.5))


def test_one_line_that_meets_two_rules_counts_once_by_the_stronger() -> None:
    rules = (Evidence(10.0, says="Xid 79"), Evidence(4.0, says="Xid"), Evidence(3.0, says="bus"))
    case = Case(said=(Said("Xid 79 on GPU 1", "a"), Said("fell off the bus", "b")))
    (found,) = weigh(case, None, None, None, [cause("a", evidence=rules)])
    assert found.odds == pytest.approx(0.1 * UNPRICED * 10 * 3)
    assert found.evidence == ("a: Xid 79 on GPU 1", "b: fell off the bus")


def test_a_cause_that_touches_nothing_here_is_as_likely_as_the_curve_without_it() -> None:
    def untouched(world: World) -> Priced | None:
        return None if world else Priced(USUAL)

    (found,) = weigh(Case(), CURVE, None, untouched, [cause("a", {"above_leaf": 0.5})])
    assert found.explanation.fits is None
    assert found.odds == pytest.approx(0.1 * UNPRICED * exp(-((log(2) / TOLERANCE) ** 2) / 2))
