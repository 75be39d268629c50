"""What somebody tells and does not count: models by name, chips in words, shares, one node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from artery.answers.diagnose.words import active_share_of, chips_in, parameters_of
from artery.core.pricing import named
from artery.diagnoser.case import Curve, Fact, Share
from artery.errors import InputError
from artery.formats.facts.curves import ranks_of
from artery.formats.reading import Reading

Files = Sequence[tuple[str, Reading]]


def named_facts(facts: Mapping[str, Fact], readings: Files) -> Iterator[tuple[str, Fact, str]]:
    """Yield fact, value and the note that says how it was found: what names in words stand for.

    ``parameters`` by the name of the model; ``chip`` or, if there are several, ``chips``, by the
    words about the hardware.
    """
    model = facts.get("model")
    if "parameters" not in facts and isinstance(model, str) and (size := parameters_of(model)):
        yield "parameters", size, "model_by_name"
    if isinstance(model, str) and (share := active_share_of(model)) is not None:
        yield "active_share", share, "model_by_name"
    if {"chip", "chips", "system"} & set(facts):
        return
    words = [one.fields["words"].get("hardware", "") for _, one in readings if _told(one)]
    found = chips_in(" ".join(words))
    if found:
        yield "chip" if len(found) == 1 else "chips", ", ".join(found), "chips_in_words"


def shares_of(readings: Files) -> tuple[Share, ...]:
    """Return bandwidths of which somebody only says what share of the expected they are."""
    return tuple(share for path, one in readings if _told(one) for share in _shares(one, path))


def _shares(reading: Reading, path: str) -> Iterator[Share]:
    facts: Mapping[str, Any] = reading.fields["facts"]
    for row in reading.fields["measured"]:
        part = row.get("of_expected")
        name = row.get("collective", facts.get("collective"))
        if not part or part < 0 or "busbw" in row or not name:
            continue
        ranks, nodes = _count(ranks_of(row, facts)), _count(row.get("nodes", facts.get("nodes")))
        try:
            size = row.get("size", facts.get("size"))
            yield Share(named(str(name)), ranks, nodes, _count(size), float(part), path)
        except InputError:
            continue


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, float) and 1 <= value < 1e15 else None


def _told(reading: Reading) -> bool:
    return reading.format == "facts"


def as_one_node(curves: tuple[Curve, ...], facts: Mapping[str, Fact]) -> tuple[Curve, ...]:
    """Return ``curves`` as of one whole node, where nobody counts nodes or names a network.

    Returned as they are if somebody does, or if nobody says how many GPUs a node has.
    """
    each = _count(facts.get("gpus_per_node"))
    counted = {"nodes", "ranks", "ranks_per_node", "fabric", "nic_rate"} & set(facts)
    if counted or each is None or any(one.nodes or one.ranks for one in curves):
        return curves
    return tuple(replace(one, ranks=each, nodes=1) for one in curves)
