"""Whatever a script or a manifest holds, lint ends with an answer or an input error."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from artery.diagnoser.lint.rule import rules
from artery.errors import InputError
from artery.formats.launch.files import launch_of
from artery.formats.text import Text

SEEDS = [
    (Path(__file__).parent.parent / "fixtures" / "lint" / name).read_text(encoding="utf-8")
    for name in ("train.sbatch", "jobset.yaml")
] + [rule.fails for rule in rules()]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.text(max_size=6) | st.sampled_from(
            ["\\\n", "'", '"', "#SBATCH ", "--", "=", "$(", "{", "- ", ": ", "\t", "&& "]
        )) + text[end:]  # fmt: skip
    return text


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_a_mutated_file_gives_findings_or_an_input_error(text: str) -> None:
    try:
        file = launch_of(Text("mutated", text))
    except InputError:
        return
    lines = text.count("\n") + 1
    for rule in rules():
        for found in rule.broken(file):
            assert 1 <= found.line <= lines
            assert found.text
