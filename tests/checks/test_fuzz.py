"""A slice of ``make fuzz``: damaged fixtures end in a reading or an ``InputError``, quickly."""

from __future__ import annotations

import pytest

from artery.formats.reading import Format, Reading
from artery.formats.recognise import formats
from artery.formats.text import Text
from checks import fuzz

SLICE = 3_000


def test_three_thousand_damaged_files() -> None:
    score = fuzz.fuzz(range(SLICE))
    assert score.inputs == SLICE
    assert not score.failures, "\n".join(fuzz.lines(score))
    assert sum(score.read.values()) > SLICE / 4, "most are not damaged beyond knowing"
    assert len(score.read) > 35, "most formats read some of theirs"


def test_the_same_number_gives_the_same_bytes() -> None:
    sources = fuzz.seeds()
    assert fuzz.made(7, 0, sources) == fuzz.made(7, 0, sources)
    assert fuzz.made(7, 0, sources) != fuzz.made(7, 1, sources)


@pytest.mark.parametrize("how", ["raises", "hangs", "infinite"])
def test_what_goes_wrong_is_seen(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: Text) -> Reading:
        if how == "raises":
            raise ZeroDivisionError
        while how == "hangs":
            pass
        return Reading("broken", "log", ("a line",), {"value": float("inf")})

    broken = Format("broken", "log", lambda _: 1.0, read)
    monkeypatch.setattr(fuzz, "formats", lambda: (*formats(), broken))
    monkeypatch.setattr(fuzz, "LIMIT", 0.5)
    score = fuzz.fuzz(range(1))
    (said,) = score.failures
    assert {"raises": "ZeroDivisionError", "hangs": "over", "infinite": "JSON"}[how] in said
