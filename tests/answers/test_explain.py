from __future__ import annotations

from typing import Any

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


SEVERAL: list[tuple[str, str, dict[str, Any]]] = [
    ("llama3-8b", "dgx-h100:64", {}),
    ("llama3-8b", "dgx-h100:64", {"zero": 3, "tp": 1, "pp": 1}),
    ("llama3-70b", "dgx-h100:256", {"tp": 8, "pp": 4, "dp": 8}),
    ("mixtral-8x7b", "dgx-h100:64", {}),
    ("bert-large", "dgx-h100:16", {"dp_replicate": 2, "zero": 3}),
    ("resnet50", "dgx-1v:8", {}),
]


@pytest.mark.parametrize(("model", "on", "options"), SEVERAL)
def test_the_children_of_a_sum_add_up_to_it_and_nothing_stands_beside_what_it_is_in(
    model: str, on: str, options: dict[str, Any]
) -> None:
    best = plan(model, on, **options).plans[0]
    for root in (best.time.root, best.memory.root):
        for path, term in root.walk():
            if term.combine == "sum" and term.children:
                total = sum(child.value for child in term.children)
                assert total == pytest.approx(term.value, rel=1e-6), path
            if term.combine == "none":
                # None of those listed is the sum of all the others.
                values = [child.value for child in term.children if child.value]
                whole = sum(values)
                assert not any(2 * one == pytest.approx(whole, rel=1e-9) for one in values), path


def test_gradients_of_fsdp_are_scattered_layer_by_layer() -> None:
    """No operation moves a whole stage's gradients: the largest are a layer's or the embedding's.

    A layer of Llama 3 8B has 218 million weights, embedding and head 525 million each.
    """
    (best,) = plan("llama3-8b", "dgx-h100:64", zero=3, tp=1, pp=1).plans
    sizes = [one.size for one in best.collectives if one.collective == "reduce_scatter"]
    assert sizes
    assert max(sizes) <= 2 * 526e6 * 4
    (part,) = [one for one in best.time.root.children if one.name == "dp"]
    assert "data_parallel_per_step" not in {one.name for one in part.children}
