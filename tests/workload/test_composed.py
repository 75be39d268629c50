"""What PyTorch itself moves for norms and rotations that have no kernel of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from artery.core.workload import Elementwise
from artery.workload.attention import rotation
from artery.workload.sublayer import Sublayer, norm

ROWS, WIDTH, HEADS = 64, 512, 128
VIEWS = frozenset(
    ("view", "expand", "unsqueeze", "detach", "_unsafe_view", "view_as_complex", "view_as_real")
)
"""Operations that move nothing."""

SMALL = 0.25
"""What numbers kept per row or per position, and the weight, add per element."""


class Moved(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the 16-bit elements that operations read and write."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements = 0.0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ not in VIEWS:
            self.elements += sum(storage(item) for item in (*args, result))
        return result


def storage(item: object) -> float:
    """16-bit elements behind ``item``; what is broadcast is read once."""
    if not isinstance(item, torch.Tensor):
        return 0.0
    extents = [size for size, step in zip(item.shape, item.stride(), strict=True) if step]
    return torch.Size(extents).numel() * item.element_size() / 2.0


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """torchtitan, torchtitan/models/norms.py, RMSNorm (2024)."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * weight


def rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """torchtitan, torchtitan/models/llama/model.py, apply_rotary_emb (2024)."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * angles).flatten(-2).type_as(x)


def composed(part: Sublayer, width: int) -> list[float]:
    """What the model counts per element, forward and backward."""
    (work,) = part.operators
    assert isinstance(work, Elementwise)
    assert work.composed is not None
    return [work.composed.forward / width, work.composed.backward / width]


def moved(run: Callable[..., torch.Tensor], x: torch.Tensor, other: torch.Tensor) -> list[float]:
    """Elements moved per element of ``x``, forward and backward."""
    with Moved() as forward:
        result = run(x, other)
    gradient = torch.ones_like(result)
    with Moved() as backward:
        torch.autograd.grad(result, [part for part in (x, other) if part.requires_grad], gradient)
    return [count.elements / x.numel() for count in (forward, backward)]


def test_a_norm_of_single_operations() -> None:
    x = torch.randn(ROWS, WIDTH, dtype=torch.bfloat16, requires_grad=True)
    weight = torch.ones(WIDTH, dtype=torch.bfloat16, requires_grad=True)
    counted = composed(norm("norm", WIDTH, "rms"), WIDTH)
    assert counted == pytest.approx(moved(rms_norm, x, weight), abs=SMALL)


def test_a_rotation_of_single_operations() -> None:
    x = torch.randn(ROWS, HEADS, 128, dtype=torch.bfloat16, requires_grad=True)
    angles = torch.polar(torch.ones(ROWS, 1, 64), torch.randn(ROWS, 1, 64))
    counted = composed(rotation(128), 128)
    assert counted == pytest.approx(moved(rotate, x, angles), abs=SMALL)


def test_layer_norm_has_a_kernel() -> None:
    """torch.nn.LayerNorm is one; only what no kernel does is composed."""
    (work,) = norm("norm", WIDTH, "layer").operators
    assert isinstance(work, Elementwise)
    assert work.composed is None
