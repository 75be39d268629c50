from __future__ import annotations

import pytest

from artery.answers.explain import open_terms
from artery.answers.plan import plan
from artery.errors import InputError
from tests import factories


def test_without_paths_both_roots_are_opened() -> None:
    opened = open_terms(factories.answer(), ())
    assert [one.path for one in opened.terms] == ["step", "memory"]
    assert [one.share for one in opened.terms] == [1.0, 1.0]


def test_terms_come_in_the_order_asked_with_their_share_of_the_root() -> None:
    opened = open_terms(factories.answer(), ("memory.weights", "step.tp", " step.dp. "))
    assert [one.path for one in opened.terms] == ["memory.weights", "step.tp", "step.dp"]
    assert opened.terms[0].share == pytest.approx(17 / 61)  # GiB
    assert opened.terms[1].share == pytest.approx(1.0 / 7.0)


def test_every_unknown_path_is_reported_at_once_with_the_nearest_ones() -> None:
    with pytest.raises(InputError) as caught:
        open_terms(factories.answer(), ("step.bubbel", "step.dp", "comm.tp"))
    bubble, tensor = caught.value.problems
    assert 'did you mean "step.bubble"' in bubble.fix
    assert '"step.tp"' in tensor.fix


def test_a_path_like_nothing_is_told_the_roots() -> None:
    with pytest.raises(InputError, match="the roots are step and memory"):
        open_terms(factories.answer(), ("zzz",))


def test_every_term_of_the_step_has_an_interval_and_the_step_the_narrowest() -> None:
    root = plan("gpt2", "dgx-h100:16", tp=2).plans[0].time.root
    nonzero = [term for _, term in root.walk() if term.value]
    assert all(0 < term.low < term.value < term.high for term in nonzero)
    parts = [part for part in root.children if part.value]
    assert len(parts) > 3
    assert root.high < sum(part.high for part in parts)
    assert root.low > sum(part.low for part in parts)
