"""What switches can add: operations and types, checked before a schedule is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from artery.errors import Problem, Problems, did_you_mean, listed, nearest

_SPELLED: Final = {"avg": "sum"}
"""An average is a sum divided by the number of ranks at its ends."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Operations by type that one kind of switch can do, and in words what else holds."""

    name: str
    operations: dict[str, frozenset[str]]
    notes: tuple[str, ...]

    def hold(self, operation: str, dtype: str) -> None:
        """Raise :class:`artery.errors.InputError` unless the switches can do ``operation``."""
        with Problems() as problems:
            if dtype not in self.operations:
                problems.add(self._problem("dtype", dtype, tuple(self.operations)))
                return
            able = self.operations[dtype]
            if _SPELLED.get(operation, operation) not in able:
                problems.add(self._problem("operation", operation, tuple(sorted(able))))

    def _problem(self, field: str, found: str, known: tuple[str, ...]) -> Problem:
        fix = did_you_mean(nearest(found, known)) or listed(known)
        rule = f"{self.name} switches do not add that; rings and trees do"
        return Problem(found=found, rule=rule, fix=fix, field=field)

    @property
    def words(self) -> tuple[str, ...]:
        """Everything that holds, in words."""
        by_able: dict[frozenset[str], list[str]] = {}
        for dtype, able in self.operations.items():
            by_able.setdefault(able, []).append(dtype)
        kinds = [f"{', '.join(sorted(able))} of {', '.join(t)}" for able, t in by_able.items()]
        return (*kinds, *self.notes)


_ORDERED: Final = frozenset({"sum", "min", "max"})
_BITWISE: Final = _ORDERED | {"and", "or", "xor"}

NVLS: Final = Limits(
    "NVLS",
    {
        **dict.fromkeys(("int32", "uint32", "int64", "uint64", "fp16", "bf16"), _ORDERED),
        **dict.fromkeys(("fp32", "fp64"), frozenset({"sum"})),
    },
    ("NVSwitch of the third generation (Hopper) or later",),
)
"""NCCL, ``ncclNvlsSupported`` in ``src/include/device.h``; all-gather only copies."""

SHARP: Final = Limits(
    "SHARP",
    {
        **dict.fromkeys(("int16", "uint16", "int32", "uint32", "int64", "uint64"), _BITWISE),
        **dict.fromkeys(("fp16", "bf16", "fp32", "fp64"), _ORDERED),
    },
    (
        "long messages need streaming aggregation (SHARP v2, HDR switches, or later)",
        "one streaming job at a time on a port",
    ),
)
"""Graham et al., COMHPC 2016 and ISC 2020; NVIDIA SHARP manual (recalled): bf16 since v3."""
