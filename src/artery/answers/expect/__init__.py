"""``expect``: what a collective should give on a system, by size, in nccl-tests' columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import NoneType
from typing import Final

from artery import units
from artery.answers.arguments import check_kinds
from artery.answers.expect.result import DTYPES, ExpectAnswer
from artery.answers.numbers import own_numbers
from artery.core.pricing import named
from artery.errors import InputError, Problem, UnknownNameError, UsageError

_DTYPE_ALIASES: Final = {
    "fp16": "half", "float16": "half", "bf16": "bfloat16", "fp32": "float", "float32": "float",
    "fp64": "double", "float64": "double", "fp8": "fp8_e4m3",
}  # fmt: skip

_NOT_ADDED_BY_SWITCHES: Final = frozenset({"int8", "uint8", "fp8_e4m3", "fp8_e5m2"})
"""Types without a multicast reduction in PTX ``multimem.ld_reduce`` (fp8 came after NCCL 2.27)."""

MOST_ROWS: Final = 4096
"""Assumed: more sizes than anyone reads; a slip of the pen above."""


@own_numbers
def expect(
    collective: str,
    on: str,
    *,
    sizes: str | Sequence[int] = "8:16G:x2",
    algorithm: str = "auto",
    chips_per_node: int | None = None,
    nccl: str | None = None,
    dtype: str = "float",
    overrides: Sequence[str] = (),
) -> ExpectAnswer:
    """Return what ``collective`` should give on system ``on``.

    ``sizes`` are bytes, or nccl-tests' range as text (``8:16G:x2``, ``1M:4M:+1M``, ``64M``).
    ``algorithm`` is ``auto`` (what the library would choose), ``best`` (the fastest known) or a
    name; ``chips_per_node`` uses only so many chips of every node; ``nccl`` is a version.
    Raises :class:`artery.errors.InputError` and :class:`artery.errors.UsageError`.
    """
    from artery.answers.expect.pricing import Setting, least_size, measure

    check_kinds(str, collective=collective, on=on, algorithm=algorithm, dtype=dtype)
    check_kinds(str, NoneType, nccl=nccl)
    check_kinds(int, NoneType, chips_per_node=chips_per_node)
    asked = named(collective)
    element = type_named(dtype)
    try:
        listed = parse_sizes(sizes) if isinstance(sizes, str) else _checked(sizes)
    except InputError as error:
        raise error.at(field="sizes") from None
    setting = Setting.make(
        on,
        overrides=overrides,
        chips_per_node=chips_per_node,
        nccl=nccl,
        addable=element not in _NOT_ADDED_BY_SWITCHES,
    )
    _check_elements(listed, asked, element, least_size(asked, setting.ranks, element))
    answer = measure(asked, setting, listed, algorithm, element)
    return replace(answer, chips_per_node=chips_per_node, nccl=nccl)


def _check_elements(sizes: Sequence[int], collective: str, dtype: str, least: int) -> None:
    """Raise ``InputError`` if no size holds an element: nothing would be sent."""
    if max(sizes) >= least:
        return
    rule = f"{collective} of {dtype} moves {least:,} B or more here, one element"
    raise InputError(
        Problem(
            field="sizes",
            found=f"{max(sizes)} B",
            rule=rule if least == DTYPES[dtype] else f"{rule} for every rank",
            fix=f"--size {least}",
        )
    )


def type_named(text: str) -> str:
    """Return nccl-tests' name of a data type; raises ``UnknownNameError`` with the nearest."""
    folded = text.strip().casefold()
    folded = _DTYPE_ALIASES.get(folded, folded)
    if folded not in DTYPES:
        raise UnknownNameError("data type", text, (*DTYPES, *_DTYPE_ALIASES))
    return folded


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of ``BEGIN:END:xFACTOR``, ``BEGIN:END:+STEP``, or a list with commas.

    K, M and G are binary, as in nccl-tests (``-b 8 -e 16G -f 2``). Raises
    :class:`artery.errors.InputError` for anything else, and for more than ``MOST_ROWS`` sizes.
    """
    parts = text.split(":")
    if len(parts) == 1:
        return _checked(units.size(part) for part in text.split(","))
    if len(parts) not in {2, 3}:
        raise _bad_range(text, "a range is BEGIN:END:xFACTOR or BEGIN:END:+STEP")
    begin, end = units.size(parts[0]), units.size(parts[1])
    if end < begin:
        raise _bad_range(text, "it ends before it begins")
    return _checked(_stepped(text, begin, end, parts[2].strip() if len(parts) == 3 else "x2"))


def _stepped(text: str, begin: int, end: int, step: str) -> Iterable[int]:
    """Yield the sizes of a range."""
    sign, amount = step[:1], step[1:]
    if sign == "+":
        length = units.size(amount)
        yield from range(begin, end + 1, length)
        return
    factor = int(amount) if amount.isascii() and amount.isdigit() and len(amount) < 10 else 0
    if sign != "x" or factor < 2:
        raise _bad_range(text, f'"{step}" is no step: x and a whole number from 2, or + and a size')
    while begin <= end:
        yield begin
        begin *= factor


def _checked(sizes: Iterable[int]) -> tuple[int, ...]:
    """Return the sizes as a tuple, if there are neither none nor too many and all are positive."""
    given: object = sizes
    if not isinstance(given, Iterable) or isinstance(given, bytes | set | frozenset):
        raise UsageError(f"sizes must be text or a list of whole numbers, not {sizes!r:.60}")
    found: list[int] = []
    for size in sizes:
        found.append(units.size(size))
        if len(found) > MOST_ROWS:
            raise _bad_range(f"over {MOST_ROWS:,} sizes", "that is more than a table can show")
    if not found:
        raise UsageError("no sizes were given; for example 8:16G:x2")
    return tuple(found)


def _bad_range(found: str, rule: str) -> InputError:
    return InputError(
        Problem(field="sizes", found=f'"{found}"', rule=rule, fix='for example "8:16G:x2"')
    )
