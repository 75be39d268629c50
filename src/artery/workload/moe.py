"""The mixture-of-experts block: a router, routed experts, and shared experts if any."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Elementwise, Matmul, Parameter, Routing, Saved
from artery.workload.feed_forward import FeedForward, activation, feed_forward
from artery.workload.sublayer import NOTHING, Sublayer, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """``count`` routed experts of ``width``, of which each row meets ``top_k``.

    ``shared_width`` is the width of all shared experts together, which every row meets (0:
    none), ``shared_bias`` whether they have biases and ``shared_gate`` whether a learned scalar
    gates them (Qwen2-MoE). A bias that only steers the choice of experts and has no gradient
    (DeepSeek-V3) is no parameter. ``groups`` and ``group_limit``: see ``Routing``.
    """

    count: int
    top_k: int
    width: int
    gated: bool = True
    bias: bool = False
    router_bias: bool = False
    shared_width: int = 0
    shared_bias: bool = False
    shared_gate: bool = False
    groups: int = 1
    group_limit: int = 1


def mixture(shape: Experts, hidden: int) -> Sublayer:
    """Return the block on rows of ``hidden`` elements.

    Each row is copied to ``top_k`` experts and their outputs are added, weighted, so experts'
    activations are ``top_k`` times a row's. An expert-parallel rank works, with an even load, on
    as many rows as it sends away: expert parallelism divides the weights, not the activations.
    """
    return _router(shape, hidden) + _routed(shape, hidden) + _shared(shape, hidden)


def routing(shape: Experts, hidden: int) -> Routing:
    """Return what dispatch and combine must move."""
    return Routing(shape.count, shape.top_k, hidden, shape.groups, shape.group_limit)


def _router(shape: Experts, hidden: int) -> Sublayer:
    """Return the router: scores of all experts, softmax or sigmoid, top-k, in 32 bit."""
    scores = 2 * shape.count  # 32-bit, counted in 16-bit elements
    work = Elementwise("router scores", 3 * scores, 3 * scores, "sequence", 3, 3)
    kept = (
        Saved("mlp input", hidden, "sequence"),
        Saved("router scores", shape.count, "sequence", bytes=4),
    )
    router = linear("router", hidden, shape.count, side="none", bias=shape.router_bias)
    return router + Sublayer((work,), saved=kept)


def _routed(shape: Experts, hidden: int) -> Sublayer:
    """Return permutation, the experts' matrix products and the weighted sum of their outputs."""
    count, copies, width = shape.count, shape.top_k, shape.width
    lanes = 2 if shape.gated else 1
    moved = (1 + copies) * hidden
    operators = (
        Elementwise("permute", moved, moved, "sequence"),
        Matmul("expert in", hidden, lanes * width, "column", "expert", copies),
        activation("expert activation", copies * width, shape.gated),
        Matmul("expert out", width, hidden, "row", "expert", copies),
        Elementwise("unpermute", moved, (1 + 2 * copies) * hidden, "sequence"),
    )
    parameters: tuple[Parameter, ...] = (
        Parameter("expert in weight", (hidden, lanes * width), "expert", count),
        Parameter("expert out weight", (width, hidden), "expert", count),
    )
    if shape.bias:
        parameters += (
            Parameter("expert in bias", (lanes * width,), "expert", count),
            Parameter("expert out bias", (hidden,), "expert", count),
        )
    saved = (
        Saved("expert input", copies * hidden, "sequence"),
        Saved("expert activation input", copies * lanes * width, "tensor"),
        Saved("expert activation output", copies * width, "tensor"),
        Saved("expert output", copies * hidden, "sequence"),
    )
    return Sublayer(operators, parameters, saved)


def _shared(shape: Experts, hidden: int) -> Sublayer:
    """Return the shared experts, as one block of their joint width; they share the input."""
    if not shape.shared_width:
        return NOTHING
    form = FeedForward(
        hidden=hidden, width=shape.shared_width, gated=shape.gated, bias=shape.shared_bias
    )
    block = feed_forward(form, prefix="shared expert")
    kept = tuple(item for item in block.saved if item.name != "shared expert input")
    shared = Sublayer(block.operators, block.parameters, kept)
    if shape.shared_gate:
        shared += linear("shared expert gate", hidden, 1, side="none", bias=False)
    return shared
