"""``bench chip``: what the chip at hand reaches: products, memory, the cost to begin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from types import NoneType
from typing import TYPE_CHECKING, Final

from artery import units
from artery.answers.arguments import check_declared, check_kinds
from artery.answers.bench.request import check_counts
from artery.answers.bench.result import ChipAnswer, ChipRow
from artery.answers.bench.run import require
from artery.answers.numbers import own_numbers
from artery.answers.telling import Heard, nobody
from artery.errors import InputError, Problem, UsageError
from artery.meter.surroundings import cores, surroundings

if TYPE_CHECKING:
    from artery.meter.device import Device
    from artery.meter.dispatch import Dispatch
    from artery.meter.products import Product, Shape

MOST_THREADS: Final = 1024
"""Assumed: more than any host has cores."""


@own_numbers
def bench_chip(
    *,
    device: str = "auto",
    dtypes: Sequence[str] = (),
    shapes: str | None = None,
    array: str | None = None,
    threads: int | None = None,
    warmup: int = 2,
    repeats: int = 20,
    seconds: float = 2.0,
    heard: Callable[[str], None] | None = None,
) -> ChipAnswer:
    """Return what the chip reaches: FLOP/s by type and shape, B/s of its memory, s per operation.

    ``device`` is ``auto`` (a GPU if there is one), ``cpu`` or ``cuda:N``; ``shapes`` are m x n x k
    as text (``1024,16x4096x4096``); ``array`` is the size of an array of the memory test, else
    larger than every cache. On a CPU ``threads`` compute, else as many as there are cores. Of each
    row at most ``seconds`` are spent.
    Raises :class:`artery.errors.ArteryError`.
    """
    check_kinds(str, device=device)
    check_kinds(str, NoneType, shapes=shapes, array=array)
    check_kinds(int, NoneType, threads=threads)
    check_declared(bench_chip, {"dtypes": dtypes, "heard": heard})
    require("auto")
    check_counts(warmup, repeats, 1.0, seconds)
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise UsageError(f"threads must be from 1 to {MOST_THREADS}, not {threads}")
    import torch

    from artery.meter import memory, products
    from artery.meter.device import device as device_of

    before = torch.get_num_threads()
    torch.set_num_threads(threads or cores())
    try:
        chip = device_of(device)
        kinds = products.types(dtypes, chip)
        asked = products.shapes(shapes or products.USUAL_SHAPES[chip.kind])
        size = memory.array_size(chip) if array is None else _size(array)
        _check_room(chip.free(), size, asked)
        turns = _Turns(warmup, repeats, seconds, heard or nobody)
        rows = tuple(_rows(chip, [(kind, shape) for shape in asked for kind in kinds], size, turns))
        used = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
    around = surroundings()
    return ChipAnswer(chip.kind, chip.name, used, around, rows, tuple(_warnings(chip.kind)))


@dataclass(frozen=True, slots=True)
class _Turns:
    """How often each row is timed, in at most how many ``seconds``; ``tell`` is told of it."""

    warmup: int
    repeats: int
    seconds: float
    tell: Heard


def _rows(
    chip: Device, products: Sequence[tuple[str, Shape]], array: int, turns: _Turns
) -> Iterator[ChipRow]:
    """Yield what each product reaches, then the memory, then what an operation costs to begin."""
    from artery.meter.dispatch import dispatch
    from artery.meter.memory import passes
    from artery.meter.products import product

    repeats, most = turns.repeats, turns.seconds
    for kind, shape in products:
        turns.tell(f"{kind} {'x'.join(map(str, shape))}")
        yield _product(product(chip, kind, shape, warmup=turns.warmup, repeats=repeats, most=most))
    turns.tell("memory")
    for one in passes(chip, array, warmup=1, repeats=repeats, most=most):
        yield ChipRow("memory", one.kind, "B/s", one.moved, one.times, {"array_bytes": one.size})
    turns.tell("dispatch")
    yield from _dispatch(dispatch(chip, warmup=turns.warmup, repeats=repeats))


def _size(array: str) -> int:
    try:
        return units.size(array)
    except InputError as error:
        raise error.at(field="array") from None


def _check_room(free: int | None, array: int, shapes: Sequence[tuple[int, int, int]]) -> None:
    """Raise :class:`artery.errors.InputError` for what the chip's free memory does not hold."""
    from artery.meter import memory, products

    if free is None:
        return
    problems = []
    if memory.ARRAYS * array > free:
        found = f"{memory.ARRAYS} arrays of {units.show_bytes(array)}"
        fix = f"use less than {units.show_bytes(free / memory.ARRAYS)}"
        problems.append(("array", found, fix))
    for shape in shapes:
        if products.room(shape) > free:
            found = f"{'x'.join(map(str, shape))} needs {units.show_bytes(products.room(shape))}"
            most = isqrt(int(free / products.room((1, 1, 1))))
            problems.append(("shapes", found, f"a square below {most:,} fits"))
    rule = f"{units.show_bytes(free)} of memory are free"
    if problems:
        raise InputError(
            [
                Problem(field=field, found=found, rule=rule, fix=fix)
                for field, found, fix in problems
            ]
        )


def _product(one: Product) -> ChipRow:
    name = f"{one.dtype} {one.m}x{one.n}x{one.k}"
    inputs = {"dtype": one.dtype, "m": one.m, "n": one.n, "k": one.k}
    return ChipRow("product", name, "FLOP/s", one.operations, one.times, inputs, one.why)


def _dispatch(found: Dispatch) -> list[ChipRow]:
    parts = {"host": found.host, "device": found.device, "trip": found.trip}
    return [
        ChipRow("dispatch", name, "s", 1.0, times, {})
        for name, times in parts.items()
        if times is not None
    ]


def _warnings(kind: str) -> list[str]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if kind == "cpu" and load > cores() + 1:
        return [f"the load average was {load:.1f} on {cores()} core(s): others computed too"]
    return []
