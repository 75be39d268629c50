"""Damaged files against every recogniser and reader: ``python -m checks.fuzz [--inputs N]``.

Seeds are the test fixtures; each input is one of them, damaged a few times
(:mod:`checks.mutate`). Every recogniser is asked about it, and every format that claims it, as well
as the seed's own, reads it. Allowed is a reading whose fields are finite JSON, or an
``InputError``; anything else, or more than two seconds, is a failure. Inputs are numbered: on the
same fixtures ``--seed`` and number give the same bytes: ``--first N --inputs 1`` plays one again.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from artery.answers.diagnose.facts import curves_of, facts_of
from artery.errors import InputError
from artery.formats.reading import Format, Reading
from artery.formats.recognise import SURE_ENOUGH, formats
from artery.formats.text import Text, read_text
from checks.mutate import damaged

FIXTURES: Final = Path(__file__).parents[1] / "tests" / "fixtures"
LARGEST: Final = 64 * 1024
"""Bytes of a seed; larger ones take long and say no more."""

LIMIT: Final = 2.0
"""Seconds of processor time that one input may take."""

INPUTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Seed:
    """A fixture: its path, its bytes, and the name of its format (``None``: of none)."""

    path: Path
    data: bytes
    format: str | None


@dataclass(slots=True)
class Score:
    """What came of the inputs; ``failures`` are inputs by what went wrong and where."""

    inputs: int = 0
    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    slowest: tuple[float, str] = (0.0, "")
    failures: dict[str, list[str]] = field(default_factory=dict)


class TooSlowError(BaseException):
    """Raised in whatever runs when its time is over; nothing that reads files catches it."""


def seeds() -> list[Seed]:
    """Return the fixtures of every format, and those of none, smallest first."""
    known = {one.name for one in formats()}
    files = sorted(path for path in FIXTURES.rglob("*") if path.is_file())
    found = [
        Seed(path, path.read_bytes(), name if (name := path.parent.name) in known else None)
        for path in files
        if path.stat().st_size <= LARGEST
    ]
    return sorted(found, key=lambda one: (len(one.data), str(one.path)))


def fuzz(inputs: Sequence[int], seed: int = 0) -> Score:
    """Return the score of the inputs with these numbers."""
    score = Score()
    sources = seeds()
    with tempfile.TemporaryDirectory(prefix="artery-fuzz-") as folder:
        for number in inputs:
            _one(number, seed, sources, Path(folder) / "input", score)
    return score


def made(number: int, seed: int, sources: Sequence[Seed]) -> tuple[Seed, bytes]:
    """Return the seed and the bytes of input ``number``."""
    draw = random.Random(f"{seed}:{number}")  # noqa: S311 - not for secrets
    source = sources[number % len(sources)]
    other = draw.choice(sources).data
    return source, damaged(source.data, other, draw)


@contextmanager
def limited() -> Iterator[None]:
    """Raise :class:`TooSlowError` in what runs inside after ``LIMIT`` s of processor time."""
    usual = signal.signal(signal.SIGPROF, _ring)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def _one(number: int, seed: int, sources: Sequence[Seed], file: Path, score: Score) -> None:
    source, data = made(number, seed, sources)
    file.write_bytes(data)
    score.inputs += 1
    start = time.process_time()
    try:
        with limited():
            play(file, score, source.format)
    except TooSlowError:
        score.failures.setdefault(f"over {LIMIT:g} s", []).append(f"{number} ({source.path.name})")
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = [
            one for one in traceback.extract_tb(error.__traceback__) if "artery" in one.filename
        ]
        place = ours[-1] if ours else last
        what = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}: {error}"
        score.failures.setdefault(what[:160], []).append(f"{number} ({source.path.name})")
    seconds = time.process_time() - start
    if seconds > score.slowest[0]:
        score.slowest = (seconds, f"{number}: {source.path.parent.name}/{source.path.name}")


def play(file: Path, score: Score, own: str | None = None) -> None:
    """Ask every recogniser, and read as the format called ``own`` and as all that claim the file.

    What comes of it goes into ``score``; anything but a reading or an ``InputError`` is raised.
    """
    try:
        text = read_text(str(file))
    except InputError:
        score.refused["(no text)"] += 1
        text = Text(str(file), "")
    claimed = 0
    for format_ in formats():
        sure = format_.recognise(text) >= SURE_ENOUGH
        claimed += sure
        if sure or format_.name == own:
            _read(format_, text, score)
    score.unknown += not claimed


def _read(format_: Format, text: Text, score: Score) -> None:
    try:
        if format_.stream is not None:
            checked(format_.stream(text.path, None))
        checked(format_.read(text))
        score.read[format_.name] += 1
    except InputError:
        score.refused[format_.name] += 1


def checked(reading: Reading) -> None:
    """Raise if what was read is no finite JSON, or cannot be taken as facts and curves."""
    json.dumps(reading.fields, allow_nan=False)
    if not all(isinstance(line, str) for line in (*reading.summary, *reading.warnings)):
        raise TypeError("a summary or warning that is no text")
    facts_of(reading)
    curves_of(reading, "fuzz")
    if reading.table is not None:
        chip = reading.fields.get("chip")
        with suppress(InputError):
            reading.table(chip if isinstance(chip, str) else None)


def lines(score: Score) -> Iterator[str]:
    """Yield the score as text."""
    yield f"fuzz: {score.inputs:,} inputs, {score.unknown:,} claimed by no format"
    for name in sorted({*score.read, *score.refused}):
        yield f"  {name:20} read {score.read[name]:8,}   refused {score.refused[name]:8,}"
    if score.slowest[1]:
        yield f"slowest {score.slowest[0]:.2f} s ({score.slowest[1]})"
    yield f"failures: {sum(map(len, score.failures.values()))}"
    for what, where in list(score.failures.items())[:40]:
        yield f"  {what}\n    {len(where)} inputs: {', '.join(where[:4])}"


def main() -> int:
    """Play the inputs, print the score, return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m checks.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    start = time.process_time()
    score = fuzz(range(asked.first, asked.first + asked.inputs), asked.seed)
    print("\n".join(lines(score)))
    print(f"{time.process_time() - start:.0f} s of processor time")
    return int(bool(score.failures))


if __name__ == "__main__":
    sys.exit(main())
