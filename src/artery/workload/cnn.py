"""Convolutional networks given by the shapes of their stages; rows are images.

A convolution is the matrix product it is computed as (implicit GEMM): output pixels x (inputs per
group · kernel²) x (outputs per group), once per group. Elementwise passes are those of kernels
that fuse nothing: batch normalisation reads its input twice (statistics, then normalise) and
writes once; backward reads input and gradient twice and writes once; ReLU works in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from artery.core.workload import Elementwise, Layer, Matmul, Parameter, Saved, Split, Workload
from artery.workload.ends import loss
from artery.workload.sublayer import MASK_ELEMENTS, NOTHING, Side, Sublayer, layer, merged

StageKind = Literal["conv", "max_pool", "average_pool", "basic", "bottleneck"]

EXPANSION = 4
"""A bottleneck's output channels over its width (He et al. 2015, arXiv 1512.03385, Figure 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """``count`` equal pieces of network; the first one has the ``stride``.

    ``conv``: convolution to ``width`` channels and ReLU. ``basic`` and ``bottleneck``: residual
    blocks of ResNet, the stride in the 3x3 convolution (the variant known as v1.5).
    ``average_pool`` reduces to one pixel. ``padding`` defaults to the half of the kernel.
    """

    kind: StageKind
    width: int = 0
    count: int = 1
    kernel: int = 3
    stride: int = 1
    padding: int | None = None
    groups: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CnnShape:
    """A network for square images: ``stages``, then dense layers of ``dense`` and ``classes``.

    ``batch_norm`` normalises after each convolution, which then has no bias. ``devices`` is the
    number of devices that the network was cut for by output channel (AlexNet: 2): a grouped
    convolution then stays on its device, any other layer first gathers its input.
    """

    image: int
    classes: int
    stages: tuple[Stage, ...]
    channels: int = 3
    dense: tuple[int, ...] = ()
    batch_norm: bool = False
    dropout: float = 0.0
    devices: int = 1
    global_batch: int | None = None


@dataclass(slots=True)
class _Cursor:
    """Where the builder stands: channels and pixels per side of the current feature map.

    ``split`` is what divides a feature map: devices by channel if the network was cut for them.
    """

    channels: int
    side: int
    split: Literal["tensor", "none"]
    layers: list[Layer] = field(default_factory=list)

    @property
    def elements(self) -> int:
        """Elements of the current feature map."""
        return self.channels * self.side**2


def cnn(name: str, shape: CnnShape) -> Workload:
    """Return the workload of a convolutional network; rows are images."""
    cursor = _Cursor(shape.channels, shape.image, "tensor" if shape.devices > 1 else "none")
    for stage in shape.stages:
        cursor.layers.extend(_stage(stage, cursor, shape))
    widest = max(built.boundary for built in cursor.layers)
    dense = list(_dense(shape, cursor.elements))
    return Workload(
        name=name,
        family="cnn",
        row_kind="sample",
        sequence=1,
        first=layer("input", 1, NOTHING, shape.channels * shape.image**2, reductions=0),
        layers=_numbered(merged((*cursor.layers, *dense[:-1]))),
        last=dense[-1],
        hidden=widest,
        heads=shape.devices,
        kv_heads=shape.devices,
        logits=shape.classes,
        tied=False,
        global_batch=shape.global_batch,
    )


def _numbered(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Return the layers with a number behind every name that stood before: names are unique."""
    seen: Counter[str] = Counter()
    found = []
    for each in layers:
        seen[each.name] += 1
        count = seen[each.name]
        found.append(replace(each, name=f"{each.name} #{count}") if count > 1 else each)
    return tuple(found)


def _stage(stage: Stage, cursor: _Cursor, shape: CnnShape) -> Iterator[Layer]:
    """Yield the layers of one stage and move the cursor behind them."""
    if stage.kind in ("max_pool", "average_pool"):
        yield _pool(stage, cursor)
        return
    for index in range(stage.count):
        step = stage if index == 0 else replace(stage, stride=1)
        gathered = cursor.elements if _gathers(step, cursor, shape) else 0
        build = {"conv": _plain, "basic": _basic, "bottleneck": _bottleneck}[stage.kind]
        part = build(step, cursor, shape)
        made = layer(f"{stage.kind} {stage.width}", 1, part, cursor.elements, reductions=0)
        yield _gather(made, gathered)


def _gathers(stage: Stage, cursor: _Cursor, shape: CnnShape) -> bool:
    """Whether the cut network must gather this stage's input: not images, not grouped ones."""
    return shape.devices > 1 and stage.groups == 1 and cursor.channels != shape.channels


def _gather(made: Layer, elements: int) -> Layer:
    """Return the layer with an all-gather of its input, half the traffic of an all-reduce."""
    return replace(made, reductions=1, reduced=elements // 2) if elements else made


def _plain(stage: Stage, cursor: _Cursor, shape: CnnShape) -> Sublayer:
    """Return convolution, normalisation if any, ReLU."""
    return _convolution(stage, cursor, shape) + _relu(cursor)


def _basic(stage: Stage, cursor: _Cursor, shape: CnnShape) -> Sublayer:
    """Return two 3x3 convolutions beside the identity or a projection."""
    short = _shortcut(stage, cursor, shape, stage.width)
    part = _convolution(stage, cursor, shape) + _relu(cursor)
    part += _convolution(replace(stage, stride=1), cursor, shape)
    return part + short + _addition(cursor) + _relu(cursor)


def _bottleneck(stage: Stage, cursor: _Cursor, shape: CnnShape) -> Sublayer:
    """Return 1x1, 3x3 and 1x1 convolutions beside the identity or a projection."""
    wide = EXPANSION * stage.width
    short = _shortcut(stage, cursor, shape, wide)
    part = _convolution(_pointwise(stage.width), cursor, shape) + _relu(cursor)
    part += _convolution(stage, cursor, shape) + _relu(cursor)
    part += _convolution(_pointwise(wide), cursor, shape)
    return part + short + _addition(cursor) + _relu(cursor)


def _pointwise(width: int, stride: int = 1) -> Stage:
    return Stage(kind="conv", width=width, kernel=1, stride=stride)


def _shortcut(stage: Stage, cursor: _Cursor, shape: CnnShape, width: int) -> Sublayer:
    """Return the projection of the shortcut where the block changes shape, else nothing."""
    if stage.stride == 1 and cursor.channels == width:
        return NOTHING
    beside = _Cursor(cursor.channels, cursor.side, cursor.split)
    return _convolution(_pointwise(width, stage.stride), beside, shape)


def _convolution(stage: Stage, cursor: _Cursor, shape: CnnShape) -> Sublayer:
    """Return one convolution (and its normalisation); the cursor moves to its output."""
    split = cursor.split
    kept = [Saved("convolution input", cursor.elements, split if stage.groups > 1 else "none")]
    k = cursor.channels // stage.groups * stage.kernel**2
    n = stage.width // stage.groups
    cursor.side = _output_side(stage, cursor.side)
    cursor.channels = stage.width
    side: Side = "column" if split == "tensor" else "none"
    name = f"convolution {stage.kernel}x{stage.kernel}"
    product = Matmul(name, k, n, side, split, cursor.side**2, stage.groups)
    weights = Parameter(f"{name} weight", (k, n), split, stage.groups)
    elements = cursor.elements
    if shape.batch_norm:
        kept.append(Saved("batch norm input", elements, split))
        after, vectors = _pass("batch norm", 3 * elements, 5 * elements, split, 2), 2
    else:
        after, vectors = _pass("bias", 2 * elements, elements, split), 1
    vector = Parameter("scale and shift", (stage.width,), split, vectors)
    return Sublayer((product, after), (weights, vector), tuple(kept))


def _output_side(stage: Stage, side: int) -> int:
    """Return pixels per side after a convolution or a pool."""
    padding = stage.kernel // 2 if stage.padding is None else stage.padding
    return (side + 2 * padding - stage.kernel) // stage.stride + 1


def _pass(
    name: str, forward: float, backward: float, split: Split = "none", kernels: int = 1
) -> Elementwise:
    return Elementwise(name, forward, backward, split, kernels, kernels)


def _relu(cursor: _Cursor) -> Sublayer:
    """Return ReLU in place; what it keeps is the next layer's input."""
    return Sublayer((_pass("relu", 2 * cursor.elements, 3 * cursor.elements, cursor.split),))


def _addition(cursor: _Cursor) -> Sublayer:
    """Return the addition of the shortcut, and of the two gradients."""
    moved = 3 * cursor.elements
    return Sublayer((_pass("shortcut addition", moved, moved, cursor.split),))


def _pool(stage: Stage, cursor: _Cursor) -> Layer:
    """Return a pool; backward reads the gradient and writes the input's. The input is kept."""
    before = cursor.elements
    cursor.side = 1 if stage.kind == "average_pool" else _output_side(stage, cursor.side)
    moved = before + cursor.elements
    kept = (Saved("pool input", before, cursor.split),) if stage.kind == "max_pool" else ()
    part = Sublayer((_pass(stage.kind, moved, moved, cursor.split),), saved=kept)
    return layer(stage.kind, 1, part, cursor.elements, reductions=0)


def _dense(shape: CnnShape, inputs: int) -> Iterator[Layer]:
    """Yield the dense layers, the last one with the loss."""
    cut: Split = "tensor" if shape.devices > 1 else "none"
    side: Side = "column" if shape.devices > 1 else "none"
    widths = (*shape.dense, shape.classes)
    for index, (k, n) in enumerate(pairwise((inputs, *widths))):
        name = f"dense {index + 1}"
        last = index == len(shape.dense)
        operators: tuple[Matmul | Elementwise, ...] = (
            Matmul(name, k, n, side, cut),
            loss(n) if last else _pass("relu", 2 * n, 3 * n, cut),
        )
        weights = (Parameter(f"{name} weight", (k, n), cut), Parameter(f"{name} bias", (n,), cut))
        kept = [Saved(f"{name} input", k, "none")]
        if shape.dropout > 0 and not last:
            moved = (2 + MASK_ELEMENTS) * n
            operators += (_pass("dropout", moved, moved, cut),)
            kept.append(Saved(f"{name} dropout mask", n, cut, bytes=1))
        part = Sublayer(operators, weights, tuple(kept))
        yield _gather(layer(name, 1, part, n, reductions=0), k if shape.devices > 1 else 0)
