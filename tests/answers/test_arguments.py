"""Wrong kinds of arguments are said by name, never met as an AttributeError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import artery
from artery.answers.arguments import check_kinds
from artery.answers.calibrate import calibrate
from artery.answers.lint import lint
from artery.answers.models import workload
from artery.errors import InputError, UsageError

ON = "dgx-h100:16"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: artery.expect(None, ON), "collective must be text, not None"),  # type: ignore[arg-type]
        (lambda: artery.expect("all_reduce", 8), "on must be text, not 8"),  # type: ignore[arg-type]
        (lambda: artery.expect("all_reduce", ON, nccl=2.27), "nccl must be text or None"),  # type: ignore[arg-type]
        (lambda: artery.expect("all_reduce", ON, sizes=3), "sizes must be text or a list"),  # type: ignore[arg-type]
        (
            lambda: artery.expect("all_reduce", ON, chips_per_node=2.5),  # type: ignore[arg-type]
            "chips_per_node must be a whole number or None, not 2.5",
        ),
        (lambda: artery.scale("gpt2", "dgx-h100", "8"), "chips must be a list"),  # type: ignore[arg-type]
        (lambda: artery.scale("gpt2", "dgx-h100", 8), "chips must be a list"),  # type: ignore[arg-type]
        (lambda: artery.scale("gpt2", "dgx-h100", [True]), "chips must be a whole number"),
        (lambda: artery.scale("gpt2", "dgx-h100", []), "counts from 1 up"),
        (
            lambda: artery.scale("gpt2", "dgx-h100", [8], parallel_fraction="x"),  # type: ignore[arg-type]
            "parallel_fraction must be a number or None, not 'x'",
        ),
        (lambda: artery.explain("gpt2", ON, 3), "path must be text, not 3"),  # type: ignore[arg-type]
        (lambda: artery.tour(3), "stop must be text, not 3"),  # type: ignore[arg-type]
        (lambda: workload(None), "model must be text, not None"),  # type: ignore[arg-type]
        (lambda: workload(" "), "model must not be empty"),
    ],
)
def test_a_wrong_kind_is_a_usage_error_with_the_name(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()


def test_every_argument_that_is_wrong_is_said() -> None:
    with pytest.raises(UsageError, match=r"a must be a number, not '1'; b must be a number, not T"):
        check_kinds(float, a="1", b=True, c=2, d=0.5)


WRONG = [["a.txt", "b.txt"], 3.5, 7, None, {"a": 1}, object(), b"x", True]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "call",
    [
        artery.read,
        artery.diagnose,
        lint,
        lambda value: calibrate(value, on=ON),
        lambda value: calibrate("a.txt", on=ON, wanted=(value,)),
        lambda value: artery.read("a.txt", format_name=[value]),  # type: ignore[arg-type]
        lambda value: artery.diagnose("a.txt", plan_from=[value]),  # type: ignore[arg-type]
        lambda value: artery.diagnose("a.txt", overrides=[value]),
        lambda value: artery.plan("gpt2", ON, overrides=[value]),
        lambda value: artery.expect("all_reduce", ON, overrides=[value]),
        lambda value: artery.simulate("all_reduce", ON, overrides=[value]),
        lambda value: artery.schedule("synthetic:llm", ON, overrides=[value]),
    ],
)
def test_no_wrong_kind_reaches_the_work(call: Callable[[Any], Any], value: object) -> None:
    with pytest.raises(UsageError, match="must"):
        call(value)


@pytest.mark.parametrize("degrees", [7, ["tp"], {"tp": 2.5}, {"tp": "8"}, {"tp": True}])
def test_degrees_map_names_to_whole_numbers(degrees: Any) -> None:
    with pytest.raises(UsageError, match="degrees"):
        artery.diagnose("a.txt", degrees=degrees)


def test_a_list_of_files_is_told_how_it_goes_in() -> None:
    with pytest.raises(UsageError, match=r"path0 must be text, not \['a'\]; .* \*paths"):
        artery.read(["a"])  # type: ignore[arg-type]


def test_a_path_of_pathlib_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "facts.toml"
    file.write_text('[facts]\nnccl = "2.21"\n', encoding="utf-8")
    for call in (artery.read, artery.diagnose, lint):
        with pytest.raises(InputError) as caught:
            call(file / "gone")
        assert caught.value.problems[0].file == str(file / "gone")


def test_sizes_and_stops_that_are_wrong_say_where() -> None:
    with pytest.raises(InputError, match=r'^sizes  "nan"'):
        artery.expect("all_reduce", ON, sizes="nan")
    with pytest.raises(InputError) as caught:
        artery.tour("amdal", "memry")
    assert [problem.found for problem in caught.value.problems] == ['stop "amdal"', 'stop "memry"']


def test_a_placement_file_of_words_is_said(tmp_path: Path) -> None:
    file = tmp_path / "ranks.txt"
    file.write_text("0\none\n", encoding="utf-8")
    with pytest.raises(InputError, match="placement  something that is no number, one whole"):
        artery.plan("gpt2", "dgx-h100:2", placement=str(file))
