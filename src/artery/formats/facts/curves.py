"""Bandwidths by size out of the measurements of a facts file: what belongs to one curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

Row = Mapping[str, Any]

_SPREAD: Final = 1.2
"""Assumed: runs of one setting at one size differ by less."""


def curves(facts: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return bandwidths by size, those of one collective and one number of ranks together.

    Where they contradict each other at one size, those of one note are a curve.
    """
    found = []
    for (collective, ranks, nodes), group in _groups(facts, rows).items():
        for part in _by_note(group) if contradict(facts, group) else [group]:
            points = [_point(facts, row) for row in part]
            points.sort(key=lambda point: point["size_bytes"])
            found.append(
                {"collective": collective, "ranks": ranks, "nodes": nodes, "points": points}
            )
    return found


def told_apart(facts: Mapping[str, Any], rows: Sequence[Row]) -> bool:
    """Whether some measurements that differ in their notes alone contradict each other."""
    return any(contradict(facts, group) for group in _groups(facts, rows).values())


def contradict(facts: Mapping[str, Any], group: Sequence[Row]) -> bool:
    """Whether two measurements of one size and different notes differ by more than runs do."""
    return any(
        one.get("note") != other.get("note")
        and _size(facts, one) == _size(facts, other)
        and max(one["busbw"], other["busbw"]) > _SPREAD * min(one["busbw"], other["busbw"])
        for one, other in combinations(group[:200], 2)
    )


def ranks_of(row: Row, facts: Mapping[str, Any]) -> float | None:
    """Return how many GPUs took part in a measurement: as it says, else all of its nodes."""
    nodes = row.get("nodes")
    if "ranks" in row or nodes is None or nodes == facts.get("nodes"):
        found = row.get("ranks", facts.get("ranks"))
        return found if isinstance(found, float) else None
    each = facts.get("ranks_per_node", facts.get("gpus_per_node"))
    return nodes * each if isinstance(each, float) and isinstance(nodes, float) else None


def _groups(
    facts: Mapping[str, Any], rows: Sequence[Row]
) -> dict[tuple[str | None, int | None, int | None], list[Row]]:
    """Return the bandwidths with a size, by collective, ranks and nodes."""
    found: dict[tuple[str | None, int | None, int | None], list[Row]] = {}
    for row in rows:
        if not isinstance(row.get("busbw"), float) or not isinstance(_size(facts, row), float):
            continue
        which = row.get("collective", facts.get("collective"))
        key = (
            str(which) if which else None,
            _whole(ranks_of(row, facts)),
            _whole(row.get("nodes", facts.get("nodes"))),
        )
        found.setdefault(key, []).append(row)
    return found


def _by_note(group: Sequence[Row]) -> Iterator[list[Row]]:
    notes = dict.fromkeys(row.get("note") for row in group)
    yield from ([row for row in group if row.get("note") == note] for note in notes)


def _point(facts: Mapping[str, Any], row: Row) -> dict[str, float]:
    return {"size_bytes": _size(facts, row), "busbw_bytes_per_s": row["busbw"]}


def _size(facts: Mapping[str, Any], row: Row) -> Any:  # noqa: ANN401 (checked by who asks)
    return row.get("size", facts.get("size"))


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, float) and value.is_integer() else None
