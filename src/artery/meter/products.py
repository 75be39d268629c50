"""Matrix products by type and shape: what share of the peak a chip reaches, and where it falls off.

A product of m x k and k x n matrices is 2·m·n·k operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from artery.errors import InputError, Problem, UnknownNameError
from artery.meter.clock import Times
from artery.meter.device import Device

Shape = tuple[int, int, int]

DTYPES: Final = {
    "fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
    "fp16": torch.float16, "fp8": torch.float8_e4m3fn, "int8": torch.int8,
}  # fmt: skip
"""Types by the catalog's names; tf32 is fp32 at the tensor cores' precision."""

USUAL_DTYPES: Final = {"cpu": ("fp64", "fp32", "bf16"), "cuda": ("fp64", "tf32", "bf16", "fp8")}
"""Types measured if none are asked for."""

USUAL_SHAPES: Final = {
    "cpu": "256,512,1024,2048,16x1024x1024,1x1024x4096",
    "cuda": "512,1024,2048,4096,8192,16384,16x4096x4096,128x4096x4096,1x8192x8192",
}
"""Shapes measured if none are asked for: squares, and the flat ones of small batches."""


@dataclass(frozen=True, slots=True)
class Product:
    """One type and shape; ``times`` is ``None`` where the chip cannot, and ``why`` says so."""

    dtype: str
    m: int
    n: int
    k: int
    times: Times | None
    why: str = ""

    @property
    def operations(self) -> int:
        """Floating-point (or integer) operations of one product."""
        return 2 * self.m * self.n * self.k


def shapes(text: str) -> tuple[Shape, ...]:
    """Return ``1024,16x4096x4096`` as shapes m x n x k; one number is a square.

    Raises :class:`artery.errors.InputError`.
    """
    found = []
    for part in text.split(","):
        sizes = [piece.strip() for piece in part.split("x")]
        good = all(one.isascii() and one.isdigit() and 0 < int(one) < 10**6 for one in sizes)
        if len(sizes) not in {1, 3} or not good:
            rule = "a shape is one size, or m x n x k"
            fix = 'for example "1024,16x4096x4096"'
            raise InputError(Problem(field="shapes", found=f'"{part}"', rule=rule, fix=fix))
        m, n, k = (int(one) for one in (sizes * 3)[:3])
        found.append((m, n, k))
    return tuple(found)


def room(shape: Shape) -> int:
    """Return the bytes that a product needs at most: in 8-byte floats, and in what they come from.

    Both factors are drawn in 4-byte floats and the second is turned; then they take their type.
    """
    m, n, k = shape
    return m * k * (4 + 8) + n * k * (4 + 4 + 8) + m * n * 8


def types(names: Sequence[str], chip: Device) -> tuple[str, ...]:
    """Return the types asked for, or the usual ones; raises ``UnknownNameError``."""
    for name in names:
        if name not in DTYPES:
            raise UnknownNameError("type", name, DTYPES)
    return tuple(names) or USUAL_DTYPES[chip.kind]


def product(
    chip: Device, dtype: str, shape: Shape, *, warmup: int, repeats: int, most: float
) -> Product:
    """Return the measured product; at most ``most`` seconds are spent on it."""
    m, n, k = shape
    try:
        multiply = _ready(chip, dtype, m, n, k)
        multiply()
    except (RuntimeError, NotImplementedError, ValueError) as error:
        return Product(dtype, m, n, k, None, str(error).splitlines()[0][:120])
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    try:
        times = chip.times(multiply, warmup=warmup, repeats=repeats, most=most)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    return Product(dtype, m, n, k, times)


def _ready(chip: Device, dtype: str, m: int, n: int, k: int) -> Callable[[], object]:
    """Return what multiplies; on wider types the result lies in a buffer made before."""
    kind, place = DTYPES[dtype], chip.torch
    if dtype == "tf32" and chip.kind != "cuda":
        raise ValueError("tf32 is a type of GPUs")
    if dtype == "int8":
        left = torch.randint(-8, 8, (m, k), dtype=kind, device=place)
        right = torch.randint(-8, 8, (k, n), dtype=kind, device=place)
        return lambda: torch._int_mm(left, right)  # noqa: SLF001 - torch's only int8 product
    one = torch.randn(m, k, device=place)
    two = torch.randn(n, k, device=place)
    if dtype == "fp8":
        left, right = one.to(kind), two.to(kind).t()  # the second by columns, as cuBLASLt wants
        scale = torch.ones((), device=place)
        return lambda: torch._scaled_mm(  # noqa: SLF001 - torch's only fp8 product
            left, right, scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16
        )
    left, right = one.to(kind), two.t().contiguous().to(kind)
    out = torch.empty(m, n, dtype=kind, device=place)
    return lambda: torch.mm(left, right, out=out)
