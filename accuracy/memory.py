"""Memory: activation formulas, configurations that ran, and peaks that were printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from accuracy.predict import Prediction, Predictor, predict
from accuracy.rows import Row
from artery.core.plan import Plan, Recompute
from artery.core.workload import Workload
from artery.workload import decoder, gpt_shape

GIB = 2.0**30


@dataclass(frozen=True, slots=True)
class Shape:
    """One model of Korthikanti et al. 2022 (arXiv 2205.05198), Table 3; t is the TP degree."""

    layers: int
    hidden: int
    heads: int
    micro_batch: int
    tp: int = 8
    sequence: int = 2048
    vocab: int = 51200


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "22B": Shape(48, 6144, 64, 4),
        "175B": Shape(96, 12288, 96, 1),
        "530B": Shape(105, 20480, 128, 1),
        "1T": Shape(128, 25600, 160, 1),
    }
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One line of the paper's Table 2: how a layer runs and the bytes that it keeps."""

    name: str
    tensor_parallel: bool
    sequence_parallel: bool
    recompute: Recompute
    formula: str
    per_sbh: Callable[[Shape], float]


VARIANTS = (
    Variant("alone", False, False, "none", "sbh(34 + 5as/h)", lambda s: 34 + _scores(s)),
    Variant(
        "TP", True, False, "none", "sbh(10 + 24/t + 5as/(ht))",
        lambda s: 10 + 24 / s.tp + _scores(s) / s.tp,
    ),
    Variant(
        "TP + SP", True, True, "none", "(sbh/t)(34 + 5as/h)", lambda s: (34 + _scores(s)) / s.tp
    ),
    Variant("TP, selective", True, False, "selective", "sbh(10 + 24/t)", lambda s: 10 + 24 / s.tp),
    Variant("TP + SP, selective", True, True, "selective", "34 sbh/t", lambda s: 34 / s.tp),
    Variant("full", True, False, "full", "2 sbh", lambda _: 2.0),
)  # fmt: skip
"""Korthikanti et al. 2022, equations (1), (2), (4) and Table 2."""


def _scores(shape: Shape) -> float:
    """5as/h: what the score matrices add, in units of sbh."""
    return 5 * shape.heads * shape.sequence / shape.hidden


def formula_bytes(shape: Shape, variant: Variant) -> float:
    """Return the paper's bytes per layer and chip for one micro-batch."""
    sbh = shape.sequence * shape.micro_batch * shape.hidden
    return sbh * variant.per_sbh(shape)


@dataclass(frozen=True, slots=True)
class LayerCheck:
    """Bytes per layer: the paper's formula and the model's."""

    model: str
    variant: Variant
    formula: float
    predicted: float

    @property
    def signed(self) -> float:
        """predicted / formula - 1."""
        return self.predicted / self.formula - 1


def layer_checks(predictor: Predictor = predict) -> list[LayerCheck]:
    """Return every model and variant; the model's bytes are what one layer more adds."""
    return [
        LayerCheck(name, variant, formula_bytes(shape, variant), _added(shape, variant, predictor))
        for name, shape in SHAPES.items()
        for variant in VARIANTS
    ]


def _added(shape: Shape, variant: Variant, predictor: Predictor) -> float:
    plan = Plan(
        tp=shape.tp if variant.tensor_parallel else 1,
        micro_batch=shape.micro_batch,
        global_batch=shape.micro_batch,
        sequence=shape.sequence,
        dtype="fp16",
        grad_dtype="fp16",
        recompute=variant.recompute,
        sequence_parallel=variant.sequence_parallel,
        attention="eager",
    )
    held = [
        predictor(_stack(shape, layers), f"dgx-a100:{plan.chips}", "megatron-2021", [plan])[0]
        for layers in (shape.layers, shape.layers + 1)
    ]
    return held[1].activations - held[0].activations


def _stack(shape: Shape, layers: int) -> Workload:
    """The model of ``shape`` with ``layers`` layers."""
    built = gpt_shape(
        layers=layers,
        hidden=shape.hidden,
        heads=shape.heads,
        vocab=shape.vocab,
        sequence=shape.sequence,
    )
    return decoder("gpt", built)


@dataclass(frozen=True, slots=True)
class Ran:
    """Whether the model says that a published configuration, which ran, fits."""

    row: Row
    fits: str


@dataclass(frozen=True, slots=True)
class Peak:
    """A printed peak of memory per chip beside the predicted total, in bytes."""

    row: Row
    measured: float
    predicted: float

    @property
    def signed(self) -> float:
        """predicted / measured - 1."""
        return self.predicted / self.measured - 1


Predicted = Mapping[str, Sequence[Prediction]]
"""Predictions of each row's plan and alternatives, by the row's id."""


def ran(rows: Iterable[Row], predicted: Predicted) -> list[Ran]:
    """Return for each row whether it fits, or one of the plans it may have been does."""
    return [Ran(row, _best(predicted[row.id])) for row in rows]


def _best(predictions: Iterable[Prediction]) -> str:
    answers = {prediction.fits for prediction in predictions}
    return next((word for word in ("yes", "at_limit") if word in answers), "no")


def peaks(rows: Iterable[Row], predicted: Predicted) -> list[Peak]:
    """Return the rows whose source prints a peak, beside the prediction for their plan."""
    return [
        Peak(row, row.record.memory_gib * GIB, predicted[row.id][0].memory)
        for row in rows
        if row.record.memory_gib is not None
    ]
