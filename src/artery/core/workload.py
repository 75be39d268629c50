"""``Workload``: what a model computes, as operators with FLOPs, bytes and memory.

The unit of work is a *row*: a token for a sequence model, a sample for an image model.
Operators describe one layer and one row, unsplit; how a plan splits them is said by
``split``, and how long they take is the business of ``step``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Split = Literal["none", "sequence", "tensor", "vocab", "expert"]
"""What divides a tensor or an operator.

``tensor`` and ``vocab``: by tp. ``sequence``: by tp only under sequence parallelism, else
every tensor-parallel rank does all of it. ``expert``: by ep and etp. ``none``: by nothing.
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """``count`` equal weight tensors of ``shape``."""

    name: str
    shape: tuple[int, ...]
    split: Split
    count: int = 1

    @property
    def size(self) -> int:
        """Number of elements in all ``count`` tensors."""
        product = self.count
        for extent in self.shape:
            product *= extent
        return product


@dataclass(frozen=True, slots=True)
class Matmul:
    """A product of ``rows`` x ``k`` with ``k`` x ``n``; 2·rows·k·n FLOP per row of work.

    ``side`` says which side tensor parallelism cuts: ``column`` cuts n, ``row`` cuts k,
    ``none`` cuts nothing. ``rows`` is matrix rows per row of work (output pixels of a
    convolution; top-k for routed experts, whose rows are then spread over the experts).
    ``batch`` counts equal, independent products (grouped convolutions).
    """

    name: str
    k: int
    n: int
    side: Literal["column", "row", "none"]
    split: Split = "tensor"
    rows: float = 1.0
    batch: int = 1


@dataclass(frozen=True, slots=True)
class Attention:
    """The score core: query times key and weights times value.

    FLOP forward per row: 2·heads·(qk_dim + v_dim)·keys, where keys is the sequence length
    (halved when ``causal``), at most ``window``; ``keys`` fixes it instead (cross-attention).
    """

    name: str
    heads: int
    kv_heads: int
    qk_dim: int
    v_dim: int
    causal: bool
    window: int | None = None
    keys: int | None = None


@dataclass(frozen=True, slots=True)
class Elementwise:
    """Memory-bound work: elements read and written per row, and kernels launched.

    ``composed`` is the same work built of single operations, each counted, as frameworks run it
    that have no kernel for it (``Profile.composed``).
    """

    name: str
    forward: float
    backward: float
    split: Split
    forward_kernels: float = 1.0
    backward_kernels: float = 1.0
    composed: Elementwise | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """An activation kept for the backward pass.

    ``elements`` per row, of ``bytes`` each (``None``: the width of the training dtype).
    ``per_key`` elements are multiplied by the sequence length (the score matrix).
    ``core`` marks the attention core, which selective recomputation and fused attention drop.
    """

    name: str
    elements: float
    split: Split
    bytes: float | None = None
    per_key: bool = False
    core: bool = False


@dataclass(frozen=True, slots=True)
class Routing:
    """A mixture-of-experts layer's router: ``top_k`` of ``experts``, rows of ``width``.

    With ``groups`` of experts above 1 a row may pick from ``group_limit`` of them only
    (DeepSeek-V3: 4 of 8, so that it reaches at most 4 nodes).
    """

    experts: int
    top_k: int
    width: int
    groups: int = 1
    group_limit: int = 1


Operator = Matmul | Attention | Elementwise


@dataclass(frozen=True, slots=True)
class Layer:
    """``count`` equal layers in a row.

    ``reductions`` is the number of tensor-parallel all-reduces per forward pass, each of
    ``reduced`` elements per row. ``boundary`` is the elements per row handed to the next
    layer (what pipeline parallelism sends).
    """

    name: str
    count: int
    operators: tuple[Operator, ...]
    parameters: tuple[Parameter, ...]
    saved: tuple[Saved, ...]
    reductions: int
    reduced: int
    boundary: int
    routing: Routing | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """A model as layers between an input part and an output part.

    ``first`` runs before the layers on the first pipeline stage (embeddings), ``last`` after
    them on the last stage (final norm, head, loss). ``row_kind`` is ``token`` or ``sample``;
    ``sequence`` the default rows per sample (1 for image models). ``logits`` is elements per
    row entering the loss (the vocabulary). ``tied`` says that ``last`` reuses the input
    embedding's weight, counted once in ``first``. ``heads`` and ``kv_heads`` bound tensor
    parallelism. ``unsupported`` gives, if any, the reason why no step time is modelled.
    ``global_batch`` is the published number of samples per step, if one is known.
    """

    name: str
    family: str
    row_kind: Literal["token", "sample"]
    sequence: int
    first: Layer
    layers: tuple[Layer, ...]
    last: Layer
    hidden: int
    heads: int
    kv_heads: int
    logits: int
    tied: bool
    max_sequence: int | None = None
    unsupported: str | None = None
    notes: tuple[str, ...] = ()
    weight_dtype: str | None = None
    global_batch: int | None = None

    @property
    def parts(self) -> tuple[Layer, ...]:
        """All layers in order: first, the repeated ones, last."""
        return (self.first, *self.layers, self.last)

    @property
    def kinds(self) -> tuple[Layer, ...]:
        """The repeated layers by kind: equal ones, wherever they stand, as one with their count.

        Costs that do not depend on the order of layers are computed on these.
        """
        found: dict[Layer, list[Layer]] = {}
        for layer in self.layers:
            found.setdefault(replace(layer, name="", count=1), []).append(layer)
        return tuple(
            replace(alike[0], count=sum(each.count for each in alike)) for alike in found.values()
        )

    @property
    def depth(self) -> int:
        """Number of repeated layers."""
        return sum(layer.count for layer in self.layers)

    @property
    def parameters(self) -> int:
        """Number of weights, tied ones once."""
        return sum(layer.count * p.size for layer in self.parts for p in layer.parameters)

    @property
    def active_parameters(self) -> int:
        """Weights that one row meets: of the routed experts, only ``top_k``."""
        total = 0
        for layer in self.parts:
            for parameter in layer.parameters:
                size = layer.count * parameter.size
                if parameter.split == "expert" and layer.routing is not None:
                    size = size * layer.routing.top_k // layer.routing.experts
                total += size
        return total
