"""What holds for every shape of model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import model, names
from artery.core.workload import Elementwise, Matmul, Parameter, Workload
from artery.workload import DecoderShape, Experts, decoder, gpt_shape
from tests.workload.counting import kept_bytes, macs, score_flops

CATALOG = {name: model(name) for name in names("models")}
TOKENS = [name for name, workload in CATALOG.items() if workload.row_kind == "token"]


@dataclass(frozen=True)
class Gpt:
    """Layers, heads of 8 to 128, vocabulary and sequence of a GPT."""

    layers: int
    heads: int
    head_dim: int
    vocab: int
    sequence: int

    @property
    def hidden(self) -> int:
        return self.heads * self.head_dim

    @property
    def workload(self) -> Workload:
        return decoder(
            "gpt",
            gpt_shape(
                layers=self.layers,
                hidden=self.hidden,
                heads=self.heads,
                vocab=self.vocab,
                sequence=self.sequence,
            ),
        )


gpts = st.builds(
    Gpt,
    layers=st.integers(1, 128),
    heads=st.integers(1, 96),
    head_dim=st.sampled_from([8, 64, 128]),
    vocab=st.integers(10, 60_000),
    sequence=st.integers(1, 4096),
)


@given(gpts)
def test_gpt_has_the_weights_of_the_closed_formula(gpt: Gpt) -> None:
    # Narayanan et al. 2021, equation 2: 12·l·h²·(1 + 13/(12h) + (V + s)/(12·l·h)); the formula
    # leaves out the final norm, 2h.
    l, h, v, s = gpt.layers, gpt.hidden, gpt.vocab, gpt.sequence  # noqa: E741 - the paper's letter
    exact = 12 * l * h * h + 13 * l * h + (v + s) * h
    assert gpt.workload.parameters == exact + 2 * h


@given(gpts)
def test_gpt_costs_the_flops_of_the_closed_formula(gpt: Gpt) -> None:
    # Narayanan et al. 2021, equation 3, less recomputation (3 of 4 passes) and per token:
    # 72·l·h²·(1 + s/(6h) + V/(12·l·h)). It counts the whole score matrix, not the causal half.
    l, h, v, s = gpt.layers, gpt.hidden, gpt.vocab, gpt.sequence  # noqa: E741 - the paper's letter
    workload = gpt.workload
    whole = 3 * (2 * macs(workload) + 2 * score_flops(workload, s))
    assert whole == pytest.approx(72 * l * h * h * (1 + s / (6 * h) + v / (12 * l * h)), rel=1e-9)


@given(gpts, st.sampled_from([1, 2, 4, 8]), st.booleans())
def test_splitting_never_adds_memory(gpt: Gpt, tp: int, sharded: bool) -> None:
    layer = gpt.workload.layers[0]
    whole = kept_bytes(layer, gpt.sequence)
    part = kept_bytes(layer, gpt.sequence, tp=tp, sharded=sharded)
    assert whole / tp <= part * (1 + 1e-12)
    assert part <= whole * (1 + 1e-12)


@given(st.integers(2, 64), st.data())
def test_active_weights_grow_with_top_k_up_to_all(count: int, data: st.DataObject) -> None:
    top_k = data.draw(st.integers(1, count))
    shape = DecoderShape(
        layers=2,
        hidden=32,
        heads=4,
        vocab=50,
        sequence=8,
        experts=Experts(count=count, top_k=top_k, width=16),
    )
    workload = decoder("moe", shape)
    spared = 2 * (count - top_k) * 3 * 32 * 16
    assert workload.active_parameters == workload.parameters - spared


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_costs_two_flops_per_active_weight(name: str) -> None:
    # Kaplan et al. 2020, section 2.1: a forward pass costs 2·N per token, N without embeddings;
    # a tied head works with the embedding's weights, BERT's only on the masked tokens.
    workload = CATALOG[name]
    if name.startswith("bert"):
        expected = workload.layers[0].count * _matrices(workload.layers[0].parameters)
        got = workload.layers[0].count * _products(workload.layers[0].operators)
    else:
        inputs = sum(p.size for p in workload.first.parameters)
        head = workload.logits * workload.hidden if workload.tied else 0
        expected = workload.active_parameters - inputs + head
        got = macs(workload)
    assert got == pytest.approx(expected, rel=0.02)


def _matrices(parameters: tuple[Parameter, ...]) -> int:
    return sum(p.size for p in parameters if len(p.shape) == 2)


def _products(operators: tuple[object, ...]) -> float:
    return sum(op.rows * op.k * op.n for op in operators if isinstance(op, Matmul))


@pytest.mark.parametrize("name", CATALOG)
def test_nothing_is_negative_or_empty(name: str) -> None:
    workload = CATALOG[name]
    assert workload.depth > 0
    for layer in workload.parts:
        assert layer.count >= 1
        assert layer.boundary > 0
        assert all(parameter.size > 0 for parameter in layer.parameters)
        assert all(item.elements > 0 for item in layer.saved)
        for operator in layer.operators:
            if isinstance(operator, Elementwise):
                assert operator.forward >= 0
                assert operator.backward > 0


@pytest.mark.parametrize("name", CATALOG)
def test_every_weight_matrix_has_its_product(name: str) -> None:
    # Per layer the matrices with a product have as many elements as the products consume.
    for layer in CATALOG[name].layers:
        products = sum(
            op.k * op.n * op.batch * (op.rows if op.split == "expert" else 1)
            for op in layer.operators
            if isinstance(op, Matmul)
        )
        share = layer.routing.top_k / layer.routing.experts if layer.routing else 1
        matrices = sum(
            p.size * (share if p.split == "expert" else 1)
            for p in layer.parameters
            if len(p.shape) == 2
        )
        assert products == pytest.approx(matrices)
