"""Files cut, shuffled and spoiled: an answer or an InputError, never anything else."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artery.answers.diagnose import diagnose
from artery.errors import InputError
from artery.report.diagnose.payload import diagnose_payload
from artery.report.writing.json import document

CASES = Path(__file__).parent.parent / "fixtures" / "diagnose"
LINES = {
    path.name: path.read_text(encoding="utf-8").splitlines() for path in sorted(CASES.iterdir())
}


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    lines = list(LINES[draw(st.sampled_from(sorted(LINES)))])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["cut", "twice", "huge", "zero", "swap", "noise"]))
        if kind == "cut":
            lines = lines[: at + 1]
        elif kind == "twice":
            lines.insert(at, lines[at])
        elif kind == "huge":
            lines[at] = lines[at].replace("8", "8" * draw(st.integers(2, 40)))
        elif kind == "zero":
            lines[at] = "".join("0" if letter.isdigit() else letter for letter in lines[at])
        elif kind == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] += draw(st.text(max_size=20))
    return "\n".join(lines)


@pytest.mark.parametrize("on", [None, "dgx-h100"])
@given(text=spoiled())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_spoiled_file_gives_an_answer_or_an_input_error(
    text: str, on: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "case.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    with contextlib.suppress(InputError):
        document("diagnose", diagnose_payload(diagnose(str(path), on=on)))
