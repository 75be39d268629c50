"""Pieces of a layer, and how they join: linear maps, norms, residual additions.

Elementwise work counts elements read plus written per row by kernels fused as Megatron-LM
(arXiv 2104.04473, section 4.2) fuses them: bias with the activation function; bias, dropout and
residual addition in one. A framework that fuses less multiplies the count (``Profile.traffic``).
One-byte masks count as half an element, as beside 16-bit activations.

What is kept for the backward pass follows Korthikanti et al. 2022 (arXiv 2205.05198), section 4:
every matrix product keeps its input, every non-linear operation its input, every dropout its
one-byte mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from artery.core.workload import Elementwise, Layer, Matmul, Operator, Parameter, Saved, Split

NormKind = Literal["layer", "rms", "plain"]
"""``layer``: LayerNorm. ``rms``: RMSNorm. ``plain``: a norm without weights."""

Side = Literal["column", "row", "none"]

MASK_ELEMENTS = 0.5
"""A one-byte dropout mask, counted in 16-bit elements."""

RMS_COMPOSED = (18.0, 46.0)
"""Elements moved per element, forward and backward, by an RMSNorm of single operations.

Counted from torchtitan's ``RMSNorm`` of 2024 and what autograd runs for it: on a 32-bit copy x,
``(x * rsqrt(x.pow(2).mean() + eps)).type_as(input) * weight``. A 32-bit element counts as two.
Forward: copy 3, square 4, mean 2, product 4, copy back 3, weight 2. Backward: weight 2 and its
gradient 4, copy 3, both sides of the product 12, mean 2, square 14 (power, times two, times
gradient), sum of the two gradients 6, copy back 3.
"""

RMS_KERNELS = (8.0, 16.0)
"""Their kernels, those on one number per row included."""


@dataclass(frozen=True, slots=True)
class Sublayer:
    """Part of a layer: operators, parameters and saved activations, all per row and unsplit."""

    operators: tuple[Operator, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    saved: tuple[Saved, ...] = ()

    def __add__(self, other: Sublayer) -> Sublayer:
        """Return both parts, this one first."""
        return Sublayer(
            self.operators + other.operators,
            self.parameters + other.parameters,
            self.saved + other.saved,
        )


NOTHING = Sublayer()


def join(*parts: Sublayer) -> Sublayer:
    """Return all ``parts`` as one, in order."""
    return sum(parts, NOTHING)


def linear(name: str, k: int, n: int, *, side: Side, bias: bool) -> Sublayer:
    """Return a linear map of ``k`` to ``n`` elements; its input is kept by the caller.

    ``side`` as in :class:`Matmul`. A map that tensor parallelism does not cut (``none``) works on
    sequence shards under sequence parallelism. The bias itself is added by a fused kernel; its
    gradient reads the output's gradient (``n`` elements) once.
    """
    cut: Split = "sequence" if side == "none" else "tensor"
    weight = Parameter(f"{name} weight", (k, n), "none" if side == "none" else "tensor")
    plain = Sublayer((Matmul(name, k, n, side, cut),), (weight,))
    if not bias:
        return plain
    column = side == "column"
    gradient = Elementwise(f"{name} bias gradient", 0, n, "tensor" if column else "sequence", 0, 1)
    vector = Parameter(f"{name} bias", (n,), "tensor" if column else "none")
    return plain + Sublayer((gradient,), (vector,))


def norm(
    name: str,
    width: int,
    kind: NormKind,
    *,
    bias: bool = True,
    split: Split = "sequence",
    per_row: int = 1,
) -> Sublayer:
    """Return a norm over ``width`` elements, applied ``per_row`` times per row (query-key norms).

    Forward reads and writes the row; backward reads input and gradient and writes the gradient,
    and a second kernel reduces the weights' gradients. The input is kept. Only LayerNorm has a
    ``bias``. PyTorch has a kernel for LayerNorm, so only RMSNorm is ever composed.
    """
    elements = width * per_row
    work = Elementwise(name, 2 * elements, 3 * elements, split, 1, 1 if kind == "plain" else 2)
    if kind == "rms":
        forward, backward = (elements * moved for moved in RMS_COMPOSED)
        work = replace(work, composed=Elementwise(name, forward, backward, split, *RMS_KERNELS))
    weights: tuple[Parameter, ...] = ()
    if kind != "plain":
        weights += (Parameter(f"{name} weight", (width,), "none"),)
    if kind == "layer" and bias:
        weights += (Parameter(f"{name} bias", (width,), "none"),)
    return Sublayer((work,), weights, (Saved(f"{name} input", elements, split),))


def residual(name: str, hidden: int, dropout: float) -> Sublayer:
    """Return (dropout and) addition to the residual stream of ``hidden`` elements.

    Forward reads both and writes the sum (and the mask); backward adds the gradients of the two
    branches (reads 2, writes 1) and, with dropout, masks one of them (reads 1 and the mask,
    writes 1). The mask of one byte per element is kept.
    """
    if dropout <= 0:
        return Sublayer((Elementwise(name, 3 * hidden, 3 * hidden, "sequence"),))
    forward = (3 + MASK_ELEMENTS) * hidden
    backward = (5 + MASK_ELEMENTS) * hidden
    return Sublayer(
        (Elementwise(name, forward, backward, "sequence", 1, 2),),
        saved=(Saved(f"{name} dropout mask", hidden, "sequence", bytes=1),),
    )


def layer(name: str, count: int, part: Sublayer, hidden: int, *, reductions: int) -> Layer:
    """Return ``part`` as ``count`` layers that reduce and hand on rows of ``hidden`` elements."""
    return Layer(
        name=name,
        count=count,
        operators=part.operators,
        parameters=part.parameters,
        saved=part.saved,
        reductions=reductions,
        reduced=hidden,
        boundary=hidden,
    )


def merged(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """Return ``layers`` in order, equal neighbours counted as one."""
    return tuple(
        replace(first, count=first.count * len(list(run))) for first, run in groupby(layers)
    )
