"""The tree of errors: exit codes, places, names that are nearly right."""

from __future__ import annotations

import copy
import pickle

import pytest

from artery import errors
from artery.errors import InputError, Problem, Problems, UnknownNameError, did_you_mean, nearest

BAD_RATE = Problem(found='"fast"', rule="must be a rate", fix='for example "400 Gb/s"')


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("ArteryError", 1),
        ("UsageError", 2),
        ("InputError", 3),
        ("UnknownNameError", 3),
        ("RunError", 1),
        ("InfeasibleError", 4),
        ("ThresholdError", 5),
    ],
)
def test_each_error_has_its_exit_code(kind: str, code: int) -> None:
    error = getattr(errors, kind)
    assert error.exit_code == code
    assert issubclass(error, errors.ArteryError)


def test_a_problem_reads_place_field_found_rule_fix() -> None:
    problem = Problem(
        file="a.yaml", line=14, column=5, field="nodes", found='"8x"', rule="no number", fix="8"
    )
    assert str(problem) == 'a.yaml:14:5  nodes  "8x", no number, 8'


def test_a_problem_without_a_place_has_no_gaps() -> None:
    assert str(BAD_RATE) == '"fast", must be a rate, for example "400 Gb/s"'


def test_all_problems_are_raised_at_once() -> None:
    problems = Problems()
    problems.add(BAD_RATE)
    problems.absorb(UnknownNameError("chip", "h10", ["h100"]))
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert len(caught.value.problems) == 2
    assert str(caught.value).count("\n") == 1


def test_no_problem_raises_nothing() -> None:
    with Problems() as problems:
        assert not problems


def test_another_error_is_not_hidden_by_the_problems() -> None:
    problems = Problems()
    problems.add(BAD_RATE)
    with pytest.raises(ZeroDivisionError), problems:
        raise ZeroDivisionError


def test_leaving_the_block_raises_what_was_found() -> None:
    problems = Problems()
    with pytest.raises(InputError, match="must be a rate"), problems:
        problems.add(BAD_RATE)


def test_at_fills_the_place_in_and_overrides_nothing() -> None:
    inner = InputError(BAD_RATE).at(field="bandwidth", line=3)
    outer = inner.at(file="link.toml", line=99, field="link")
    assert str(outer).startswith("link.toml:3  bandwidth  ")
    assert inner.problems[0].file is None


def test_an_unknown_name_suggests_the_nearest() -> None:
    error = UnknownNameError("chip", "H10-sxm", ["h100-sxm", "h100-pcie", "gtx580"])
    assert error.near[0] == "h100-sxm"
    assert 'did you mean "h100-sxm"' in str(error)


def test_an_unknown_name_unlike_any_lists_what_is_known() -> None:
    error = UnknownNameError("chip", "zzz", [f"chip{number}" for number in range(20)])
    assert error.near == ()
    assert "known: chip0, chip1" in str(error)
    assert "(20 in all)" in str(error)


def test_the_names_that_begin_alike_come_first() -> None:
    assert nearest("h100", ["a100", "h100-sxm", "h100-pcie"])[:2] == ("h100-sxm", "h100-pcie")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        (("a",), 'did you mean "a"?'),
        (("a", "b"), 'did you mean "a" or "b"?'),
        (("a", "b", "c"), 'did you mean "a", "b" or "c"?'),
    ],
)
def test_did_you_mean(names: tuple[str, ...], text: str) -> None:
    assert did_you_mean(names) == text


@pytest.mark.parametrize(
    "error",
    [InputError(BAD_RATE), UnknownNameError("chip", "h10", ["h100"])],
    ids=["input", "name"],
)
def test_errors_survive_copying_and_pickling(error: InputError) -> None:
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 (our own bytes)
        assert type(twin) is type(error)
        assert twin.problems == error.problems


def test_an_error_of_several_problems_can_be_placed_and_copied() -> None:
    both = InputError([Problem(found="a", rule="", fix=""), Problem(found="b", rule="", fix="")])
    assert [one.file for one in both.at(file="f").problems] == ["f", "f"]
    assert pickle.loads(pickle.dumps(both)).problems == both.problems  # noqa: S301 (our own bytes)
