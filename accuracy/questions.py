"""``python -m accuracy.questions``: what people asked in public, put to ``diagnose`` as facts.

A facts file of ``FOLDER`` (``tests/fixtures/questions``) holds what a thread says of hardware,
software, workload and measurement, written down by somebody who has not seen the rules.
``data/questions.toml`` says what the accepted explanation was, and the numbers that have to come
out. An outcome counts if the right cause is among the first two, or the right verdict is given.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.answers.expect import expect
from artery.catalog.links import link
from artery.errors import InputError
from artery.units import parse

KEY = Path(__file__).parent / "data" / "questions.toml"
FOLDER = Path(__file__).parent.parent / "tests" / "fixtures" / "questions"

FIRST = 2
"""The right cause must be among so many."""

LEAST_RIGHT, OF_RIGHT = 25, 28
LEAST_CHECKS, OF_CHECKS = 9, 10
"""What is asked of questions whose explanation is a maintainer's or the asker's, and of numbers."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One question: whether an accepted outcome came, which outcomes came, numbers by what.

    ``numbers`` are (what, value or ``None``, whether it is in its range).
    """

    id: str
    explained: str
    right: tuple[str, ...]
    came: tuple[str, ...]
    held: bool
    numbers: tuple[tuple[str, float | None, bool], ...]

    @property
    def accepted(self) -> bool:
        """Whether the explanation is a maintainer's or the asker's."""
        return self.explained in {"maintainer", "asker"}


def key() -> Mapping[str, Mapping[str, Any]]:
    """Return what is right, by question."""
    found: dict[str, Mapping[str, Any]] = tomllib.loads(KEY.read_text(encoding="utf-8"))
    return found


def score(folder: Path = FOLDER) -> list[Scored]:
    """Return every question of which there is a facts file in ``folder``, by name."""
    found = []
    for name, entry in key().items():
        paths = [folder / f"{name}{suffix}" for suffix in (".yaml", ".yml")]
        path = next((one for one in paths if one.is_file()), None)
        if path is not None:
            found.append(scored(name, entry, str(path)))
    return found


def scored(name: str, entry: Mapping[str, Any], path: str) -> Scored:
    """Return one question put to ``diagnose``."""
    try:
        answer: DiagnoseAnswer | None = diagnose(path, prove=False)
    except InputError:
        answer = None
    came = () if answer is None else tuple(outcomes(answer))
    right = tuple(entry["right"])
    numbers = tuple(_number(check, answer) for check in entry.get("checks", ()))
    return Scored(name, entry["explained"], right, came, bool(set(right) & set(came)), numbers)


def outcomes(answer: DiagnoseAnswer) -> Iterable[str]:
    """Yield what came out: verdict, reasons, the first causes, conventions, facts asked for."""
    found = answer.diagnosis
    yield found.verdict
    yield from (one.reason for one in found.refusals)
    likely = [one for one in found.findings if one.explanation.fits is not False]
    yield from (one.cause.key for one in likely[:FIRST])
    yield from (f"note:{note}" for note in answer.notes)
    yield from (f"missing:{one.fact}" for one in found.missing)


def _number(
    check: Mapping[str, str], answer: DiagnoseAnswer | None
) -> tuple[str, float | None, bool]:
    unit = "B/s" if check["low"].endswith("B/s") else "B" if check["low"].endswith("B") else "1"
    low, high = (parse(check[end], unit) for end in ("low", "high"))
    value = _value(check, answer)
    return check["what"], value, value is not None and low <= value <= high


def _value(check: Mapping[str, str], answer: DiagnoseAnswer | None) -> float | None:
    """Return the number that a check is about."""
    if "on" in check:
        return expect("all_reduce", check["on"], sizes=check["size"]).rows[0].speed.busbw
    kind, _, name = check["from"].partition(":")
    if kind == "link":
        return link(name).efficiency
    if answer is None:
        return None
    if kind == "fact":
        value = answer.facts.get(name)
        return float(value) if isinstance(value, float) else None
    if kind == "network":
        value = answer.facts.get("network_plateau")
        return float(value) if isinstance(value, float) else None
    judged = answer.diagnosis.judged
    return None if judged is None else judged.expected[-1]


def summary(rows: Sequence[Scored]) -> tuple[int, int, int, int]:
    """Return accepted questions right, how many there are, numbers met, how many there are."""
    accepted = [one for one in rows if one.accepted]
    checked = [one for one in rows if one.numbers]
    met = sum(all(held for _, _, held in one.numbers) for one in checked)
    return sum(one.held for one in accepted), len(accepted), met, len(checked)


def table(rows: Sequence[Scored]) -> str:
    """Return the score as Markdown."""
    lines = ["| question | explained by | right | came | held | numbers |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for one in rows:
        numbers = "; ".join(
            f"{what}: {'-' if value is None else f'{value:.4g}'} {'ok' if held else 'no'}"
            for what, value, held in one.numbers
        )
        cells = (one.id, one.explained, ", ".join(one.right), ", ".join(one.came) or "nothing",
                 "yes" if one.held else "no", numbers)  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    right, count, met, checked = summary(rows)
    others = [one for one in rows if not one.accepted]
    held = sum(one.held for one in others)
    said = f"{right} of {count} with a maintainer's or the asker's explanation"
    lines += ["", f"{said}; {met} of {checked} with numbers; {held} of {len(others)} others."]
    return "\n".join(lines)


def main() -> int:
    """Print the table of the folder named, or of the project's own.

    Returns 1 if it falls short, 3 if the folder holds no facts file of a question.
    """
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    rows = score(folder)
    if not rows:
        print(f"{folder}: no facts file called as a question of {KEY.name} is", file=sys.stderr)
        return 3
    print(table(rows))
    right, _, met, _ = summary(rows)
    return 0 if right >= LEAST_RIGHT and met >= LEAST_CHECKS else 1


if __name__ == "__main__":
    sys.exit(main())
