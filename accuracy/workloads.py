"""What each row trains: a model of the catalog, or a shape given by the row itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from accuracy.recipes import Recipe
from accuracy.record import Record
from artery.catalog import model
from artery.core.workload import Layer, Matmul, Workload
from artery.workload import decoder, gpt_shape

CATALOG = {
    "BERT-large": "bert-large",
    "DeepSeek-V3": "deepseek-v3",
    "GPT-3 175B": "gpt3-175b",
    "GPT3-175B": "gpt3-175b",
    "LLAMA2-70B": "llama2-70b",
    "LLAMA3-70B": "llama3-70b",
    "Llama 2 13B": "llama2-13b",
    "Llama 2 70B": "llama2-70b",
    "Llama 3 405B": "llama3-405b",
    "Llama 3 70B": "llama3-70b",
    "Llama 3 8B": "llama3-8b",
    "Llama 3.1 405B": "llama3-405b",
    "Llama 3.1 70B": "llama3-70b",
    "Llama 3.1 8B": "llama3-8b",
    "Nemotron4 15B": "nemotron4-15b",
    "Qwen3-30B-A3B": "qwen3-30b-a3b",
    "ResNet-50 v1.5": "resnet50",
}
"""Catalog names by the sources' names; "Llama 3.1 405B proxy (8 layers)" is a shorter 405B."""

MASKED = 20 / 128
"""Share of BERT's positions at which the vocabulary is predicted: max_predictions_per_seq 20 of
128, NVIDIA DeepLearningExamples PyTorch/LanguageModeling/BERT (dense sequence output)."""

HEAD = 128
"""Head dimension that an unpublished number of heads is brought nearest to; assumed."""


def workload_of(record: Record, recipe: Recipe) -> Workload:
    """Return what ``record`` trains. Raises ``KeyError`` for a model without a shape."""
    if recipe.workload == "catalog":
        return _from_catalog(record.model, record.layers)
    return _from_shape(
        recipe.workload,
        layers=_known(record.layers),
        hidden=_known(record.hidden),
        heads=record.heads or assumed_heads(_known(record.hidden), record.tp or 1),
        vocab=_known(record.vocab),
        sequence=_known(record.sequence),
    )


def assumed_heads(hidden: int, tp: int) -> int:
    """Return the multiple of ``tp`` that divides ``hidden`` and gives heads nearest to ``HEAD``."""
    options = [heads for heads in range(tp, hidden + 1, tp) if hidden % heads == 0]
    return min(options, key=lambda heads: abs(hidden / heads - HEAD))


@cache
def _from_catalog(name: str, layers: int | None) -> Workload:
    found = model(CATALOG[name.split(" proxy", maxsplit=1)[0]])
    if name == "BERT-large":
        found = replace(found, last=masked(found.last), logits=round(found.logits * MASKED))
    if layers is not None and "proxy" in name:
        (repeated,) = found.layers
        found = replace(found, name=name, layers=(replace(repeated, count=layers),))
    return found


def masked(head: Layer) -> Layer:
    """Return the head computed at the masked positions only: ``MASKED`` rows per token."""
    thinner = tuple(
        replace(part, rows=part.rows * MASKED) if isinstance(part, Matmul) else part
        for part in head.operators
    )
    return replace(head, operators=thinner)


@cache
def _from_shape(
    kind: str, *, layers: int, hidden: int, heads: int, vocab: int, sequence: int
) -> Workload:
    """Return a GPT of Megatron's kind (``gpt``) or of MosaicML's (``mpt``, no dropout).

    ``gpt-parallel`` has attention and feed-forward side by side.
    """
    shape = gpt_shape(layers=layers, hidden=hidden, heads=heads, vocab=vocab, sequence=sequence)
    if kind == "mpt":
        shape = replace(shape, dropout=0.0, attention_dropout=0.0, embedding_dropout=0.0)
    if kind == "gpt-parallel":
        shape = replace(shape, parallel=True, dropout=0.0, attention_dropout=0.0)
    return decoder(f"{kind}-{layers}x{hidden}", shape)


def _known(value: int | None) -> int:
    if value is None:
        raise KeyError("the row's shape is incomplete")
    return value
