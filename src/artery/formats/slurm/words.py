"""What Slurm's tools share: durations, generic resources, trackable resources, states."""

from __future__ import annotations

import re
from typing import Final

from artery.formats.syntax.numerals import number, whole

_DURATION: Final = re.compile(
    r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,3})(?::(\d\d))?(?:\.(\d{1,6}))?"
)
_GPUS: Final = re.compile(r"(?:^|[,/])gpu(?::([A-Za-z][\w.-]{0,60}))?[:=](\d{1,6})")
_MEMORY: Final = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KMGTP]?)[cn]?")
_UNITS: Final = {"": 2**20, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}

FLAGS: Final = {
    "*": "not responding", "~": "powered off", "#": "powering up", "!": "power down pending",
    "%": "powering down", "$": "maintenance reservation", "@": "pending reboot",
    "^": "reboot issued", "-": "planned",
}  # fmt: skip
"""Suffixes of a node's state (sinfo's manual page, NODE STATE CODES)."""

LONG: Final = {
    "alloc": "allocated", "mix": "mixed", "comp": "completing", "drng": "draining",
    "drain": "drained", "resv": "reserved", "maint": "maint", "unk": "unknown",
    "inval": "inval", "boot": "reboot", "plnd": "planned", "futr": "future", "fail": "fail",
}  # fmt: skip

OUT: Final = frozenset(
    {"down", "drained", "draining", "fail", "failing", "inval", "unknown", "maint"}
)
"""States in which a node takes no new job."""


def state(word: str) -> tuple[str, tuple[str, ...]]:
    """Return a state of ``sinfo`` in long form, and what its suffixes mean.

    >>> state("down*"), state("mix")
    (('down', ('not responding',)), ('mixed', ()))
    """
    bare = word.strip().rstrip("".join(FLAGS))
    flags = tuple(FLAGS[mark] for mark in word.strip()[len(bare) :])
    return LONG.get(bare.casefold(), bare.casefold()), flags


def duration(word: str) -> float | None:
    """Return the seconds of ``2-00:00:00``, ``00:00:33`` or ``90`` (minutes); ``None``: unlimited.

    >>> duration("2-00:00:00"), duration("00:00:33"), duration("infinite")
    (172800.0, 33.0, None)
    """
    found = _DURATION.fullmatch(word.strip())
    if found is None:
        return None
    days, first, second, third = (int(part or 0) for part in found.groups()[:4])
    if found[1] is not None:  # days-hours[:minutes[:seconds]]
        hours, minutes, seconds = (first, second, third) if found[2] else (second, 0, 0)
    elif found[4] is not None:
        hours, minutes, seconds = first, second, third
    else:  # minutes:seconds, or minutes
        hours, minutes, seconds = (0, first, second) if found[2] else (0, second, 0)
    fraction = float(f"0.{found[5]}") if found[5] else 0.0
    return days * 86400.0 + hours * 3600 + minutes * 60 + seconds + fraction


def gpus(words: str) -> tuple[int, str | None]:
    """Return the number of GPUs in a list of resources and their type, if it says one.

    >>> gpus("gpu:h100:8(S:0-1)"), gpus("cpu=2,gres/gpu=1,gres/gpu:a100=1"), gpus("(null)")
    ((8, 'h100'), (1, 'a100'), (0, None))
    """
    found = _GPUS.findall(words)
    typed = [(int(count), kind) for kind, count in found if kind]
    plain = [int(count) for kind, count in found if not kind]
    kinds = sorted({kind for _, kind in typed})
    # where both forms stand, the one without a type is the total
    total = plain[0] if plain else sum(count for count, _ in typed)
    return total, kinds[0] if len(kinds) == 1 else None


def memory(word: str) -> float | None:
    """Return the bytes of ``211488K`` or ``2063000`` (MiB, Slurm's unit), or ``None``."""
    found = _MEMORY.fullmatch(word.strip())
    value = number(found[1]) if found else None
    return None if found is None or value is None else value * _UNITS[found[2]]


def exit_code(word: str) -> tuple[int, int] | None:
    """Return code and signal of ``255:0``."""
    code, _, signal = word.strip().partition(":")
    one, other = whole(code), whole(signal or "0")
    return None if one is None or other is None else (one, other)
