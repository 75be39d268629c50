"""BERT, T5 and vision transformers, with weights counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.core.workload import Attention, Matmul
from artery.workload import (
    EncoderDecoderShape,
    EncoderShape,
    VitShape,
    encoder,
    encoder_decoder,
    vit,
)
from tests.workload.counting import matmuls

BERT = EncoderShape(
    layers=3, hidden=64, heads=4, vocab=100, sequence=32, positions=40, feed_forward=128
)
BLOCK = (64 * 192 + 192) + (64 * 64 + 64) + (64 * 128 + 128) + (128 * 64 + 64) + 2 * 2 * 64
INPUTS = 100 * 64 + 40 * 64 + 2 * 64 + 2 * 64


def test_bert_by_hand() -> None:
    pooler, mlm, nsp = 64 * 64 + 64, 64 * 64 + 64 + 2 * 64 + 100, 2 * 64 + 2
    assert encoder("bert", BERT).parameters == INPUTS + 3 * BLOCK + pooler + mlm + nsp
    bare = replace(BERT, pooler=False, mlm=False, nsp=False)
    assert encoder("bare", bare).parameters == INPUTS + 3 * BLOCK


def test_only_masked_tokens_enter_the_head() -> None:
    shares = {op.name: op.rows for _, op in matmuls(encoder("bert", BERT))}
    assert shares["head"] == 0.15
    assert shares["pooler"] == 1 / 32
    assert encoder("bert", BERT).logits == 15


def test_encoders_see_both_ways() -> None:
    cores = [
        op
        for layer in encoder("bert", BERT).layers
        for op in layer.operators
        if isinstance(op, Attention)
    ]
    assert [core.causal for core in cores] == [False]


T5 = EncoderDecoderShape(
    encoder_layers=3,
    decoder_layers=2,
    hidden=64,
    heads=4,
    head_dim=10,
    feed_forward=128,
    vocab=100,
    sequence=32,
)
SELF = 4 * 64 * 40 + 64
PLAIN = 2 * 64 * 128 + 64


@pytest.mark.parametrize(
    ("gated", "tied", "more"),
    [(False, True, 0), (True, True, 5 * 64 * 128), (False, False, 6400)],
)
def test_t5_by_hand(gated: bool, tied: bool, more: int) -> None:
    base = 100 * 64 + 2 * 32 * 4 + 3 * (SELF + PLAIN) + 2 * (2 * SELF + PLAIN) + 2 * 64
    built = encoder_decoder("t5", replace(T5, gated=gated, tied=tied))
    assert built.parameters == base + more


def test_a_decoder_layer_reduces_three_times() -> None:
    layers = encoder_decoder("t5", T5).layers
    assert [(layer.count, layer.reductions) for layer in layers] == [(3, 2), (2, 3)]
    causal = [
        [op.causal for op in layer.operators if isinstance(op, Attention)] for layer in layers
    ]
    assert causal == [[False], [True, False]]


def test_the_target_length_is_said() -> None:
    assert "as many target tokens" in encoder_decoder("t5", T5).notes[0]


def test_an_encoder_alone_has_one_bias_table_and_no_head() -> None:
    alone = encoder_decoder("t5", replace(T5, decoder_layers=0))
    assert alone.parameters == 100 * 64 + 32 * 4 + 3 * (SELF + PLAIN) + 64
    assert alone.logits == 0


VIT = VitShape(layers=3, hidden=64, heads=4, image=32, patch=8, feed_forward=128, classes=10)


def test_vit_by_hand() -> None:
    inputs = 3 * 64 * 64 + 64 + 64 + 17 * 64
    assert vit("vit", VIT).parameters == inputs + 3 * BLOCK + 2 * 64 + 64 * 10 + 10
    pooled = replace(VIT, classes=0, pooler=True)
    assert vit("pooled", pooled).parameters == inputs + 3 * BLOCK + 2 * 64 + 64 * 64 + 64


def test_an_image_is_its_patches_and_a_class_token() -> None:
    workload = vit("vit", VIT)
    assert workload.sequence == workload.max_sequence == 17
    (patches,) = [op for op in workload.first.operators if isinstance(op, Matmul)]
    assert patches.rows * workload.sequence == 16
    (classifier,) = [op for op in workload.last.operators if isinstance(op, Matmul)]
    assert classifier.rows * workload.sequence == pytest.approx(1)
