"""Gradients averaged in every step, in buckets that travel while backward still runs.

As ``DistributedDataParallel`` does it (Li et al. 2020, arXiv 2006.15704, section 3.2): gradients
appear from the last layer to the first, so buckets are filled in reverse order of the parameters;
a bucket that is full is sent, in the same order on every rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd.profiler import record_function

from artery.runner.exchange.compress import Codec, Finish

BUCKET_BYTES: Final = 25 * 2**20
FIRST_BYTES: Final = 2**20
"""DDP's own defaults: 25 MiB, and 1 MiB for the first bucket, so that sending starts early."""


@dataclass
class _Bucket:
    parameters: list[nn.Parameter]
    flat: Tensor
    missing: int = 0
    finish: Finish | None = None


@dataclass
class Buckets:
    """Averages gradients over the ranks of ``codec``.

    ``bytes_sent`` counts what this rank handed to all-reduces, ``waited_s`` the time in
    :meth:`reduce`, in which nothing is computed; ``steps`` calls of it.
    """

    codec: Codec
    bucket_bytes: int = BUCKET_BYTES
    bytes_sent: int = 0
    waited_s: float = 0.0
    steps: int = 0
    _model: nn.Module | None = None
    _buckets: list[_Bucket] = field(default_factory=list)
    _hooks: list[torch.utils.hooks.RemovableHandle] = field(default_factory=list)
    _next: int | None = None
    """The bucket to be sent next; ``None`` while no backward pass is the last of a step."""

    def begin(self, model: nn.Module, *, last: bool) -> None:
        """Say that a backward pass follows; buckets leave during the last one."""
        if self._alone():
            return
        self._attach(model)
        self._next = 0 if last else None
        for bucket in self._buckets:
            bucket.missing = len(bucket.parameters)

    def reduce(self, model: nn.Module) -> None:
        """Send what has not left yet, and put the means into ``.grad``."""
        self.steps += 1
        if self._alone():
            return
        start = perf_counter()
        self._attach(model)
        for index in range(self._next or 0, len(self._buckets)):
            self._send(index)
        self._next = None
        with record_function("artery:wait"):
            for bucket in self._buckets:
                if bucket.finish is not None:
                    _write(bucket.finish(), bucket.parameters)
                bucket.finish = None
        self.bytes_sent += sum(self.codec.sent)
        self.codec.sent.clear()
        self.waited_s += perf_counter() - start

    def settle(self, model: nn.Module, step: int) -> None:
        """Do nothing: the replicas are equal already."""

    def state(self) -> dict[str, Any]:
        """Return what the codec carries from step to step."""
        return self.codec.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state`."""
        self.codec.load_state(state)

    def figures(self) -> dict[str, float]:
        """Return what was sent and waited for: ``steps``, ``bytes_sent``, ``waited_s``."""
        return {
            "steps": self.steps,
            "bytes_sent": self.bytes_sent,
            "waited_s": self.waited_s,
        }

    def _alone(self) -> bool:
        """Whether there is nobody to agree with: then nothing is copied, sent or rounded."""
        return self.codec.peers.size() == 1

    def _attach(self, model: nn.Module) -> None:
        if self._model is model:
            return
        for hook in self._hooks:
            hook.remove()
        self._model = model
        self._buckets = [_Bucket(one, _room(one)) for one in bucketed(model, self.bucket_bytes)]
        self._hooks = [
            parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
                partial(self._arrived, index)
            )
            for index, bucket in enumerate(self._buckets)
            for parameter in bucket.parameters
        ]

    def _arrived(self, index: int, _: Tensor) -> None:
        """Note a gradient of bucket ``index``; send every bucket whose turn it is."""
        self._buckets[index].missing -= 1
        while (
            self._next is not None
            and self._next < len(self._buckets)
            and self._buckets[self._next].missing <= 0
        ):
            self._send(self._next)
            self._next += 1

    def _send(self, index: int) -> None:
        bucket = self._buckets[index]
        with record_function("artery:pack"):
            gradients = [_gradient(one).detach().reshape(-1) for one in bucket.parameters]
            torch.cat(gradients, out=bucket.flat)
        shapes = [one.shape for one in bucket.parameters]
        bucket.finish = self.codec.start(index, bucket.flat, shapes)


def bucketed(model: nn.Module, bucket_bytes: int = BUCKET_BYTES) -> Iterator[list[nn.Parameter]]:
    """Yield the parameters of each bucket, in the order in which the buckets are sent.

    A bucket has one type, and ends with the parameter that fills it, as DDP's do.
    """
    part: list[nn.Parameter] = []
    held, limit = 0, min(FIRST_BYTES, bucket_bytes)
    for one in reversed([one for one in model.parameters() if one.requires_grad]):
        if part and part[-1].dtype != one.dtype:
            yield part
            part, held = [], 0
        part.append(one)
        held += one.nbytes
        if held >= limit:
            yield part
            part, held, limit = [], 0, bucket_bytes
    if part:
        yield part


def _room(parameters: Sequence[nn.Parameter]) -> Tensor:
    """Return room for the gradients in a row; it is kept, for fresh memory costs page faults."""
    return parameters[0].detach().new_empty(sum(one.numel() for one in parameters))


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _write(flat: Tensor, parameters: Sequence[nn.Parameter]) -> None:
    with torch.no_grad(), record_function("artery:unpack"):
        at = 0
        for one in parameters:
            mean = flat[at : at + one.numel()].view_as(one)
            at += one.numel()
            if one.grad is None:
                one.grad = mean.clone()
            else:
                one.grad.copy_(mean)
