"""Shapes of schedules checked at the door of a builder."""

from __future__ import annotations

from artery.errors import InputError, Problem, Problems


def positive(**values: int) -> None:
    """Raise :class:`artery.errors.InputError` for every value that is below one."""
    with Problems() as problems:
        for name, value in values.items():
            if value < 1:
                rule = f"{name} is a whole number from 1 on"
                problems.add(Problem(found=str(value), rule=rule, fix="use 1", field=name))


def rooted(root: int, ranks: int) -> None:
    """Raise :class:`artery.errors.InputError` unless ``root`` is one of the ranks."""
    if not 0 <= root < ranks:
        rule = f"the root is one of the ranks 0 to {ranks - 1}"
        raise InputError(Problem(found=str(root), rule=rule, fix="use 0", field="root"))


def divides(part: int, ranks: int, field: str) -> int:
    """Return ``ranks`` over ``part``.

    Raises:
        InputError: it does not divide.
    """
    if part < 1 or ranks % part:
        near = max(size for size in range(1, max(part, 1) + 1) if ranks % size == 0)
        raise InputError(
            Problem(
                found=f"{part}",
                rule=f"{field} must divide the number of ranks, {ranks}",
                fix=f"{near} does",
                field=field,
            )
        )
    return ranks // part
