"""What a rank's share of a batch must and can be, checked before anything is started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from artery.runner.settings import Settings
from artery.units import show_bytes

_NAMED: Final = ("synthetic", "synthetic-text", "digits")
_IMAGES: Final = 32, 64
"""Pixels per side where none are given: of the data that have a name, and of a folder."""

_ONE_PIXEL: Final = 32
"""Pixels per side up to which a ResNet's last maps, halved five times, are one pixel."""

_CHANNELS, _FLOAT, _INDEX, _TOKENS = 3, 4, 8, 64

Wrong = tuple[str, str, str, str]
"""A field, what was found, the rule and what would fix it."""


def of_shares(settings: Settings, ranks: int, most: int) -> Iterator[Wrong]:
    """Yield what is wrong with the share of a rank: field, what was found, the rule, what helps.

    ``ranks`` begin, ``most`` may come to be.
    """
    if min(settings.global_batch, settings.accumulate, ranks) < 1:
        return
    share = max(1, settings.global_batch // ranks)
    if settings.accumulate > share and not settings.consistent:
        rule = f"each pass needs a sample, and a rank has {share:,} a step"
        yield "accumulate", f"{settings.accumulate:,}", rule, f"ask for {share:,} or fewer"
    yield from _too_small(settings, most)
    yield from _too_large(settings, share)


def _too_small(settings: Settings, most: int) -> Iterator[Wrong]:
    """Batch norm over one pixel of one sample has nothing to take a spread of."""
    if settings.model not in ("resnet18", "resnet50") or _side(settings) > _ONE_PIXEL:
        return
    parts = settings.consistent or most * settings.accumulate
    if parts <= settings.global_batch < 2 * parts:
        rule = (
            f"the batch norm of a {settings.model} over {_side(settings)} pixels needs 2 samples "
            f"in each of {parts:,} passes of a step"
        )
        yield "global_batch", f"{settings.global_batch:,}", rule, f"ask for {2 * parts:,}"


def _too_large(settings: Settings, share: int) -> Iterator[Wrong]:
    """The order of the samples and the inputs of one pass alone must fit in memory."""
    least = _INDEX * settings.global_batch
    if settings.consistent:
        least += settings.global_batch // settings.consistent * _sample(settings)
    else:
        least += share // settings.accumulate * _sample(settings)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if least > there:
        rule = (
            f"a rank holds at least {show_bytes(least)} of samples, and this machine has "
            f"{show_bytes(there)} of memory"
        )
        yield "global_batch", f"{settings.global_batch:,}", rule, "ask for fewer"


def _side(settings: Settings) -> int:
    return settings.size or _IMAGES[settings.data not in _NAMED]


def _sample(settings: Settings) -> int:
    """Return the bytes of one sample's input."""
    text = settings.data == "synthetic-text"
    if text or (settings.data == "synthetic" and settings.model == "transformer"):
        return _INDEX * (settings.size or _TOKENS)
    return _FLOAT * _CHANNELS * _side(settings) ** 2
