"""The feed-forward block: two matrix products around an activation function, or three gated."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Elementwise, Saved
from artery.workload.sublayer import Sublayer, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """Shape of a feed-forward block: ``hidden`` to ``width`` and back; ``gated`` as in SwiGLU."""

    hidden: int
    width: int
    gated: bool = False
    bias: bool = False


def feed_forward(shape: FeedForward, *, prefix: str = "mlp", side_by_side: int = 1) -> Sublayer:
    """Return the block; gate and up projection are one matrix product of twice the width.

    Kept: the input, and per element of width the activation's input and output (gated: gate, up
    and product). Without a gate, width 4·hidden and 16-bit activations this is the 2·s·b·h +
    8·s·b·h + 8·s·b·h bytes of Korthikanti et al. 2022, section 4.1, less the residual's mask.
    ``side_by_side`` counts equal blocks that work on the same rows (shared experts).
    """
    width = shape.width * side_by_side
    lanes = 2 if shape.gated else 1
    widen = linear(f"{prefix} in", shape.hidden, lanes * width, side="column", bias=shape.bias)
    narrow = linear(f"{prefix} out", width, shape.hidden, side="row", bias=shape.bias)
    kept = Sublayer(
        saved=(
            Saved(f"{prefix} input", shape.hidden, "sequence"),
            Saved(f"{prefix} activation input", lanes * width, "tensor"),
            Saved(f"{prefix} activation output", width, "tensor"),
        )
    )
    between = Sublayer((activation(f"{prefix} activation", width, shape.gated),))
    return kept + widen + between + narrow


def activation(name: str, width: float, gated: bool) -> Elementwise:
    """Return the activation function over ``width`` outputs per row.

    Plain: forward reads and writes ``width``, backward reads input and gradient, writes the
    gradient (2 and 3). Gated: forward reads gate and up, writes the product (3); backward reads
    both and the gradient, writes two gradients (5).
    """
    forward, backward = (3, 5) if gated else (2, 3)
    return Elementwise(name, forward * width, backward * width, "tensor")
