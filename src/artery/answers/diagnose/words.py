"""What is taken from words: memory that ran out, the size of a model in its name, names of chips.

Numbers are taken in two places only, where the field writes them in one way: the parameters in a
model's name ("7B") and the size of an allocation that failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from artery.catalog.models import model as model_of
from artery.errors import InputError
from artery.formats.gpus.variants import variants
from artery.units import parse

_FULL: Final = re.compile(
    r"(?<!\bno )(?<!without )(?:\bOOM\b|out[- ]of[- ](?:\w+ )?memory|OutOfMemory)"
    r"|\bmemory (?:ran|runs|was|is) (?:out|full|exhausted)|(?:ran|runs|running) out of memory"
    r"|显存不足|显存溢出|爆显存|内存不足",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"(?:\ballocat\w*|\brequest\w*|分配)[^\d\n]{0,40}?(\d{1,6}(?:\.\d{1,6})?) ?([KMGT]i?B)\b",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"\bfail|\btried|\btrying|\bcould not|\bcannot|\bcan't|\bunable|失败|无法", re.IGNORECASE
)
_SIZE: Final = re.compile(r"(?<![\d.a-z])(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z\d])")
_CHIP: Final = re.compile(
    r"\b(?:G[BH]\d{3}|[AHBVP]\d{2,3}|T4|L40S?|L4|RTX ?\d{4}|MI\d{3}X?)"
    r"(?:[ -](?:SXM\d?|PCIe|NVL))?(?:[ -]?\d{2,3} ?G(?:i?B)?)?\b",
    re.IGNORECASE,
)

_SCALE: Final = {"b": 1e9, "m": 1e6}


def out_of_memory(texts: Iterable[str]) -> bool:
    """Whether one of the ``texts`` says that memory ran out, or that an allocation failed."""
    return any(_FULL.search(text) or list(failed_allocations([text])) for text in texts)


def failed_allocations(texts: Iterable[str]) -> Iterator[float]:
    """Yield the bytes of requests for memory that are said to have failed.

    >>> list(failed_allocations(["Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity"]))
    [2147483648.0]
    """
    for text in texts:
        head = text[:2000]
        if not (_FAILED.search(head) or _FULL.search(head)):
            continue
        for amount, unit in _ASKED.findall(head):
            yield parse(f"{amount} {unit[0].upper()}{unit[1:-1].lower()}B", "B")


def parameters_of(model: str) -> float | None:
    """Return the parameters of a model of the catalog, else those that its name says.

    >>> parameters_of("Some-MoE-30B-A3B"), parameters_of("base-350m"), parameters_of("vision")
    (30000000000.0, 350000000.0, None)
    """
    try:
        return float(model_of(model).parameters)
    except InputError:
        found = _SIZE.search(model.casefold()[:200])
    return None if found is None else float(found[1]) * _SCALE[found[2]]


def active_share_of(model: str) -> float | None:
    """Return the share of its parameters that a token meets.

    ``None`` of all but mixtures of experts of the catalog.
    """
    try:
        found = model_of(model)
    except InputError:
        return None
    share = found.active_parameters / found.parameters
    return share if share < 1 else None


def chips_in(text: str) -> tuple[str, ...]:
    """Return the chips of the catalog that ``text`` names, in its order, each as usually meant.

    >>> chips_in("two hosts with 8x A100 40GB, or B200")
    ('a100-40g', 'b200')
    """
    found = (variants(match[0]) for match in _CHIP.finditer(text[:2000]))
    return tuple(dict.fromkeys(able[0] for able in found if able))
