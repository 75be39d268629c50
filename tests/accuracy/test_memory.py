"""Activation formulas against the paper's figure, and the model against the formulas."""

from __future__ import annotations

import pytest

from accuracy.memory import SHAPES, VARIANTS, LayerCheck, Variant, formula_bytes, layer_checks

FIGURE_7 = {
    "22B": {"TP": 100.0, "TP + SP": 66.84, "TP, selective": 49.42, "TP + SP, selective": 16.18,
            "full": 7.64},
    "175B": {"TP": 100.0, "TP + SP": 62.04, "TP, selective": 56.53, "TP + SP, selective": 18.49,
             "full": 8.71},
    "530B": {"TP": 100.0, "TP + SP": 58.31, "TP, selective": 62.04, "TP + SP, selective": 20.27,
             "full": 9.42},
    "1T": {"TP": 100.0, "TP + SP": 58.31, "TP, selective": 62.04, "TP + SP, selective": 20.27,
           "full": 9.42},
}  # fmt: skip
"""Percent of the tensor-parallel baseline: Korthikanti et al. 2022 (arXiv 2205.05198), Figure 7,
as read off by calculon-ai/calculon (calculon/llm/validation.py)."""

VARIANT = {variant.name: variant for variant in VARIANTS}
CHECKS = layer_checks()


@pytest.mark.parametrize("model", SHAPES)
@pytest.mark.parametrize("name", ["TP + SP", "TP, selective", "TP + SP, selective", "full"])
def test_the_formulas_give_the_papers_figure_7(model: str, name: str) -> None:
    shape = SHAPES[model]
    ratio = formula_bytes(shape, VARIANT[name]) / formula_bytes(shape, VARIANT["TP"])
    assert 100 * ratio == pytest.approx(FIGURE_7[model][name], abs=0.3)


def test_a_layer_by_hand() -> None:
    """22B alone: s 2048, b 4, h 6144, a 64: sbh = 50,331,648; 34 + 5·64·2048/6144 = 140.667."""
    alone = formula_bytes(SHAPES["22B"], VARIANT["alone"])
    assert alone == pytest.approx(50_331_648 * (34 + 106.6666667), rel=1e-9)


def name_of(check: LayerCheck) -> str:
    return f"{check.model} {check.variant.name}"


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_the_model_keeps_the_bytes_of_the_formula(check: LayerCheck) -> None:
    assert abs(check.signed) <= 0.05, (
        f"{name_of(check)}: {check.predicted:.4g} B per layer, "
        f"{check.variant.formula} = {check.formula:.4g} B"
    )


def test_every_model_is_checked_in_every_variant() -> None:
    expected: set[tuple[str, Variant]] = {(m, v) for m in SHAPES for v in VARIANTS}
    assert {(check.model, check.variant) for check in CHECKS} == expected
