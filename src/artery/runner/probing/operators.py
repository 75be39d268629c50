"""The operators of one training step: counted without computing, or timed one by one.

Counting runs the step on fake tensors, which have shapes but no numbers, so that a model of any
size is counted in a second. Timing runs it for real and looks at the thread's processor time
before and after each operator (on a processor, operators are done when they return), so that what
else runs on the machine hardly matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from artery.runner.exchange.buckets import BUCKET_BYTES, bucketed
from artery.runner.tasks import Supervised

Phase = Literal["forward", "backward", "optimizer", "exchange"]
KINDS: Final = {
    "mm": "product",
    "addmm": "product",
    "bmm": "product",
    "baddbmm": "product",
    "convolution": "convolution",
    "convolution_backward": "convolution_backward",
    "native_batch_norm": "norm",
    "native_layer_norm": "norm",
    "native_batch_norm_backward": "norm_backward",
    "native_layer_norm_backward": "norm_backward",
}
"""Operators that are priced as a kind of their own.

So are attention, convolutions of 1x1 (``pointwise``, which libraries compute in another way), what
the optimizer does (``update``), and what an exchange does: ``copied``, and PowerSGD's products
with a few columns (``thin_product``, of the matrix as it lies or transposed), of a few columns
with a few rows (``outer_product``), and ``orthogonal`` bases; the rest is ``other``.
"""

_EXCHANGED: Final = {"linalg_qr": "orthogonal"}

_FREE: Final = frozenset(
    {"alias", "as_strided", "detach", "empty", "expand", "lift_fresh", "permute", "select"}
    | {"slice", "split", "squeeze", "t", "transpose", "unbind", "unsqueeze", "view"}
    | {"_unsafe_view"}
)
"""Operators that only look at memory in another way."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a step: what it computes and moves, and how long that took.

    ``flops`` counts a multiply-add as two, ``bytes`` is what it reads and writes if every tensor
    is touched once, ``seconds`` is 0 where nothing was timed.
    """

    phase: Phase
    name: str
    kind: str
    flops: float
    bytes: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Counted:
    """The operators of a step in order, and its buckets of gradients.

    ``buckets`` has bytes, in the order of sending; ``ready`` says after how many of the
    ``operators`` each bucket has all its gradients.
    """

    operators: tuple[Operator, ...]
    buckets: tuple[int, ...]
    ready: tuple[int, ...]

    @property
    def flops(self) -> float:
        """FLOP of the whole step."""
        return sum(one.flops for one in self.operators)


@dataclass
class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operator that computes or moves something."""

    seen: list[Operator] = field(default_factory=list)
    phase: Phase = "forward"

    def __post_init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - torch's operator objects have no public type
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run one operator and note it."""
        start = thread_time()
        out = func(*args, **(kwargs or {}))
        seconds = thread_time() - start
        name = func._overloadpacket.__name__  # noqa: SLF001
        if func.namespace == "aten" and name not in _FREE:
            flops = _flops(func, args, kwargs or {}, out)
            moved = sum(one.nbytes for one in _tensors((args, kwargs, out)))
            kind = _kind(name, args, self.phase)
            self.seen.append(Operator(self.phase, name, kind, flops, moved, seconds))
        return out


def count(
    task: Supervised, batch: int, *, bucket_bytes: int = BUCKET_BYTES, adding: bool = False
) -> Counted:
    """Return the operators of one step of ``batch`` samples; nothing is computed.

    ``adding``: there are gradients of an earlier pass already, to which these are added.
    """
    samples = _samples(task, batch)
    with FakeTensorMode() as fake:
        inputs, targets = (fake.from_tensor(one) for one in samples)
        step = _Step(task.build(0), inputs, targets, bucket_bytes, adding=adding)
        step.take()  # not looked at: the optimizer makes its momentum in it
        operators, ready = step.take()
        sizes = tuple(sum(one.nbytes for one in bucket) for bucket in step.buckets)
        return Counted(tuple(operators), sizes, tuple(ready))


class Timer:
    """Times the operators of one step of ``batch`` samples, one step at each :meth:`take`."""

    def __init__(self, task: Supervised, batch: int, *, adding: bool = False) -> None:
        inputs, targets = _samples(task, batch)
        self._step = _Step(task.build(0), inputs, targets, BUCKET_BYTES, adding=adding)
        self.take()  # not looked at: the optimizer makes its momentum in it

    def take(self) -> list[Operator]:
        """Take one step and return its operators with their seconds."""
        return self._step.take()[0]


class _Step:
    """A step of a model that can be watched again and again."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Tensor,
        targets: Tensor,
        bucket_bytes: int,
        *,
        adding: bool,
    ) -> None:
        self.model, self.inputs, self.targets, self.adding = model, inputs, targets, adding
        self.buckets = list(bucketed(model, bucket_bytes))
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)

    def take(self) -> tuple[list[Operator], list[int]]:
        """Return the operators of a step, and after how many each bucket is ready."""
        watch = Watch()
        ready = [0] * len(self.buckets)
        hooks = list(_arrivals(self.buckets, ready, watch.seen))
        with watch:
            logits = self.model(self.inputs).flatten(0, -2)
            loss = functional.cross_entropy(logits, self.targets.flatten())
            watch.phase = "backward"
            loss.backward()  # type: ignore[no-untyped-call]
            watch.phase = "optimizer"
            self.optimizer.step()
        if not self.adding:
            self.optimizer.zero_grad()
        for hook in hooks:
            hook.remove()
        return watch.seen, ready


def _arrivals(
    buckets: Sequence[Sequence[nn.Parameter]], ready: list[int], seen: Sequence[Operator]
) -> Iterator[torch.utils.hooks.RemovableHandle]:
    """Yield hooks that write into ``ready`` how many operators each bucket waits for."""

    def arrived(index: int) -> Callable[[Tensor], None]:
        def note(_: Tensor) -> None:
            ready[index] = len(seen)

        return note

    for index, bucket in enumerate(buckets):
        for one in bucket:
            yield one.register_post_accumulate_grad_hook(arrived(index))  # type: ignore[no-untyped-call]


def _samples(task: Supervised, batch: int) -> tuple[Tensor, Tensor]:
    return task.data.train(torch.arange(batch) % task.samples)


def _kind(name: str, args: tuple[Any, ...], phase: Phase) -> str:
    """Return the kind by which an operator is priced."""
    if phase == "exchange":
        return _factored(args[0], args[1]) if name == "mm" else _EXCHANGED.get(name, "copied")
    kind = KINDS.get(name)
    if kind is None:
        return "attention" if "attention" in name else "update" if phase == "optimizer" else "other"
    weights = {"convolution": 1, "convolution_backward": 2}.get(kind)
    if weights is not None and args[weights].shape[2:].numel() == 1:
        return f"pointwise_{kind}"
    return kind


def _factored(left: Tensor, right: Tensor) -> str:
    """Return the kind of one of PowerSGD's products."""
    if left.shape[1] < min(left.shape[0], right.shape[1]):
        return "outer_product"
    return "thin_product" if left.is_contiguous() else "thin_product_transposed"


def _flops(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: object) -> float:  # noqa: ANN401
    """Return the FLOP of an operator: torch's own formulas, and attention on a processor."""
    packet = func._overloadpacket  # noqa: SLF001
    if packet in flop_registry:
        return float(flop_registry[packet](*args, **kwargs, out_val=out))
    if packet is torch.ops.aten.linalg_qr:
        rows, columns = args[0].shape[-2:]
        # Householder's, the basis itself included (Golub and Van Loan, 4th ed., 5.2.2).
        return float(4 * (rows * columns**2 - columns**3 / 3))
    if "flash_attention_for_cpu" in str(packet):
        backward = "backward" in str(packet)
        query, key = (args[1], args[2]) if backward else (args[0], args[1])
        products = 5 if backward else 2
        # Each product of query and key, or of weights and values: 2·b·h·q·k·d.
        return float(products * 2 * query.numel() * key.shape[-2])
    return 0.0


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
