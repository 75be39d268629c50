"""What types and units alone do not catch: values of a table that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, get_args

from artery.catalog.part_schema import NicTable, OpticTable, SwitchTable
from artery.catalog.schema import ChipTable, LinkTable, MemoryTable
from artery.catalog.sourced import Path, leaves
from artery.chip.roofline import WIDTH
from artery.core.plan import AttentionKind
from artery.errors import did_you_mean, nearest
from artery.units import show_rate

MEMORY_TOLERANCE = 0.05
"""How far stacks·bits·rate may lie from the stated bandwidth before one of them is a slip.

Datasheets round (8 stacks at 8 Gb/s are 8.2 TB/s, printed as 8); 5 % is assumed.
"""

YEARS = range(1990, 2051)
"""Assumed: chips that anybody would put in a file."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A contradiction found at ``path``, as in :class:`artery.errors.Problem`."""

    path: Path
    found: str
    rule: str
    fix: str


LONGEST_LABEL = 200
"""Characters. Assumed: longer than any name or title that anybody would read."""


def of_any(table: object, values: Mapping[str, Any]) -> Iterator[Complaint]:
    """Yield what may be wrong with any table that was filled from ``values``.

    Names and titles are printed as they are, so that they must be text that can be; and pydantic
    takes ``true`` for the number 1.
    """
    labels: dict[str, Path] = {getattr(table, key, "-"): (key,) for key in ("title", "name")}
    for text, path in labels.items():  # a title that is missing is the name: said once
        yield from label(text, path)
    for path, value in leaves(values):
        if isinstance(value, bool) and not isinstance(_at(table, path), bool):
            rule = "expected a whole number"
            yield Complaint(path, str(value).lower(), rule, "write the number")


def label(text: str, path: Path) -> Iterator[Complaint]:
    """Yield a complaint if ``text`` is nothing that can be printed on a line."""
    if not text.strip() or not text.isprintable() or len(text) > LONGEST_LABEL:
        found = f"{text!r}" if len(text) <= LONGEST_LABEL else f"{len(text):,} characters"
        rule = f"must be 1 to {LONGEST_LABEL} characters that can be printed"
        yield Complaint(path, found, rule, "give it a short name")


def _at(table: Any, path: Path) -> Any:  # noqa: ANN401 - whatever stands there
    """Return the value at ``path`` of a filled table."""
    for part in path:
        table = getattr(table, str(part)) if hasattr(table, str(part)) else table[part]
    return table


@singledispatch
def complaints(table: object) -> Iterator[Complaint]:
    """Yield every contradiction in a table of the schema; register one function per table."""
    del table
    return iter(())


@complaints.register
def _(table: ChipTable) -> Iterator[Complaint]:
    yield from counts({"cores": table.cores})
    for kind, port in table.ports.items():
        yield from counts({"count": port.count}, ("ports", kind))
    if table.year not in YEARS:
        rule = f"must lie between {YEARS.start} and {YEARS.stop - 1}"
        yield Complaint(("year",), str(table.year), rule, "write the year of introduction")
    if not table.peaks:
        yield Complaint(("peaks",), "no peak", "at least one dtype is required", _PEAK)
    for dtype in table.peaks:
        yield from _known(dtype, tuple(WIDTH), ("peaks", dtype))
    efficiency = table.efficiency
    for dtype, value in efficiency.matmul.items():
        path: Path = ("efficiency", "matmul", dtype)
        yield from fraction(value, path)
        if dtype not in table.peaks:
            rule = "the chip has no peak for that dtype"
            fix = f"its dtypes are {', '.join(table.peaks)}"
            yield Complaint(path, f'"{dtype}"', rule, fix)
    for name in ("wave_quantisation", "memory", "sustained"):
        value = getattr(efficiency, name)
        if value is not None:
            allow_zero = name == "wave_quantisation"
            yield from fraction(value, ("efficiency", name), allow_zero=allow_zero)
    for kernel, curve in (efficiency.attention or {}).items():
        path = ("efficiency", "attention", kernel)
        yield from _known(kernel, get_args(AttentionKind)[1:], path)
        yield from fraction(curve.peak_fraction, (*path, "peak_fraction"))
    yield from _memory(table.memory)


@complaints.register
def _(table: LinkTable) -> Iterator[Complaint]:
    yield from fraction(table.efficiency, ("efficiency",))


@complaints.register
def _(table: SwitchTable) -> Iterator[Complaint]:
    yield from counts({"ports": table.ports})
    yield from _spans(table, ("power", "latency", "price"))
    together = table.ports * table.port
    if together > table.capacity * (1 + MEMORY_TOLERANCE):
        rule = f"{table.ports} ports of {show_rate(table.port)} are {show_rate(together)}"
        fix = "correct ports and port, or the capacity (one way, not both)"
        yield Complaint(("capacity",), show_rate(table.capacity), rule, fix)


@complaints.register
def _(table: NicTable) -> Iterator[Complaint]:
    if table.ports is not None:
        yield from counts({"ports": table.ports})
    yield from _spans(table, ("power", "latency", "price"))


@complaints.register
def _(table: OpticTable) -> Iterator[Complaint]:
    yield from _spans(table, ("reach", "power", "price", "mtbf"))


def _spans(table: object, names: tuple[str, ...]) -> Iterator[Complaint]:
    """Yield a complaint for every range that ends before it begins."""
    for name in names:
        span = getattr(table, name)
        if span is not None and span.low > span.high:
            rule = f"low must not be above high ({span.high:g})"
            yield Complaint((name, "low"), f"{span.low:g}", rule, "swap the two")


_PEAK = 'for example bf16 = "989.4 TFLOP/s" (dense, not with sparsity)'


def counts(counts: dict[str, int], root: Path = ()) -> Iterator[Complaint]:
    """Yield a complaint for every count below 1, by the name of its field under ``root``."""
    for name, count in counts.items():
        if count < 1:
            rule = "must be at least 1"
            yield Complaint((*root, name), str(count), rule, "leave out what is not there")


def fraction(value: float, path: Path, *, allow_zero: bool = False) -> Iterator[Complaint]:
    """Yield a complaint if ``value`` is no fraction: above 1, or zero where that is not meant."""
    if value > 1 or (value == 0 and not allow_zero):
        rule = "must be a fraction, more than 0 and at most 1"
        yield Complaint(path, f"{value:g}", rule, "divide by the peak or the line rate")


def _known(name: str, known: tuple[str, ...], path: Path) -> Iterator[Complaint]:
    """Yield a complaint if ``name`` is none of the ``known`` ones."""
    if name not in known:
        rule = f"must be one of {', '.join(known)}"
        yield Complaint(path, f'"{name}"', rule, did_you_mean(nearest(name, known)))


def _memory(memory: MemoryTable) -> Iterator[Complaint]:
    """Check that the bandwidth is stated, or follows from the pins, and that the two agree."""
    path = ("memory", "bandwidth")
    product = memory.product
    if memory.bandwidth is None and product is None:
        rule = "required, unless stacks, bits_per_stack and rate are all given"
        yield Complaint(path, "nothing", rule, 'for example "3.35 TB/s"')
    if memory.bandwidth is None or product is None:
        return
    if abs(product / memory.bandwidth - 1) > MEMORY_TOLERANCE:
        rule = f"{memory.stacks} stacks x {memory.bits_per_stack} bits give {show_rate(product)}"
        fix = "correct the bandwidth, or stacks, bits_per_stack and rate"
        yield Complaint(path, show_rate(memory.bandwidth), rule, fix)
