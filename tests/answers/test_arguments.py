"""Wrong kinds of arguments are said by name, never met as an AttributeError."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import artery
from artery.answers.arguments import check_kinds
from artery.answers.bench.request import Request as BenchRequest
from artery.answers.calibrate import calibrate
from artery.answers.goodput.request import Circumstances
from artery.answers.lint import lint
from artery.answers.models import workload
from artery.answers.numbers import own
from artery.answers.plan.request import DEGREES
from artery.answers.plan.request import Request as PlanRequest
from artery.answers.schedule.request import Request as ScheduleRequest
from artery.answers.simulate.request import Request as SimulateRequest
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


PLAN = {
    *(one.name for one in fields(PlanRequest)),
    *(name for name, one in inspect.signature(artery.plan).parameters.items()
      if one.kind is one.KEYWORD_ONLY),
    *DEGREES,
    "seq",
    "task",
}  # fmt: skip
FUNCTIONS: dict[Callable[..., Any], tuple[tuple[Any, ...], set[str]]] = {
    artery.plan: (("gpt2", ON), PLAN),
    artery.explain: (("gpt2", ON), PLAN),
    artery.goodput: (
        ("gpt2", ON),
        PLAN - {"top", "explained"} | {one.name for one in fields(Circumstances)},
    ),
    artery.scale: (("gpt2", "dgx-h100", [8]), PLAN - {"top", "explained"}),
    artery.expect: (("all_reduce", ON), set()),
    artery.simulate: (("all_reduce", ON), {one.name for one in fields(SimulateRequest)}),
    artery.schedule: (("synthetic:llm", ON), {one.name for one in fields(ScheduleRequest)}),
    artery.read: (("a.txt",), set()),
    artery.diagnose: (("a.txt",), set()),
    lint: (("a.txt",), set()),
    calibrate: (("a.txt",), {"on"}),
    artery.bench_collectives: ((), {one.name for one in fields(BenchRequest)}),
    artery.bench_links: ((), set()),
    artery.bench_chip: ((), set()),
}
"""Every function with what it needs, and the names that it takes as ``**options``.

``goodput`` and ``scale`` take one plan, without levers, whatever ``top`` and ``explained`` are."""

OPTIONS = [
    (function, name)
    for function, (needed, further) in FUNCTIONS.items()
    for name in sorted(
        further
        | {name for name, one in inspect.signature(function).parameters.items()
           if one.kind is one.KEYWORD_ONLY}
    )
    if name not in list(inspect.signature(function).parameters)[: len(needed)]
]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [b"x", object(), 1j, Fraction(1, 2), {1}, [object()], np.complex64(1j), [b"x"]],
    ids=lambda value: repr(value)[:12],
)
@pytest.mark.parametrize(("function", "name"), OPTIONS)
def test_no_option_of_a_wrong_kind_reaches_the_work(
    function: Callable[..., Any], name: str, value: object
) -> None:
    given = {name: value} if function is not calibrate else {"on": ON, name: value}
    with pytest.raises(artery.ArteryError, match=name.removesuffix("s")) as caught:
        function(*FUNCTIONS[function][0], **given)
    assert caught.value.exit_code in {2, 3}


WRONG_HERE: list[tuple[Callable[..., Any], str, tuple[object, ...]]] = [
    (artery.plan, "sequence_parallel", ("x", float("nan"), [], 7)),
    (artery.plan, "load_factor", ("1:1.1:1.5", (1, 2), (1, 2, "3"))),
    (artery.plan, "overlap", ("dp,tp", 1, ("dp", 1))),
    *((artery.plan, name, (1,)) for name in ("system", "workload", "degrees")),
    (artery.goodput, "checkpoint", (1, "shared", ["shared", 1])),
    (artery.goodput, "blocking_save", ("no",)),
    (artery.schedule, "policies", (1, "fifo", ["fifo", 1])),
    (artery.schedule, "window", (1, {}, "0d:10d", (1,), (1, "2"))),
    (artery.schedule, "maintenance", (1, "2d:4h:0-3")),
    *((artery.schedule, name, ("1h",)) for name in ("interval", "max_wait", "save_time")),
    *((artery.schedule, name, (1,)) for name in ("size_for", "network", "placing", "rate")),
    *((artery.schedule, name, (1,)) for name in ("spot", "serve", "progress", "recorded")),
    (artery.bench_links, "ranks", (np.float64(8),)),
    (artery.bench_chip, "dtypes", (None,)),
]


@pytest.mark.parametrize(
    ("function", "given"),
    [(function, {name: value}) for function, name, values in WRONG_HERE for value in values],
)
def test_an_option_says_what_it_should_be(
    function: Callable[..., Any], given: dict[str, Any]
) -> None:
    (name,) = given
    with pytest.raises(UsageError, match=rf"{name} must be|no option .{name}"):
        function(*FUNCTIONS[function][0], **given)


SMALL = "synthetic:llm,jobs=20,days=1"
NUMBERS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (artery.plan, ("gpt2", ON), {"tp": 2, "seq": 512, "top": 2, "tokens": 2.0**40}),
    (artery.plan, ("gpt2", ON), {"load_factor": (1, 1.25, 1.5), "explained": False}),
    (artery.explain, ("gpt2", ON), {"dp": 8, "global_batch": 64}),
    (artery.scale, ("gpt2", "dgx-h100", [8, 16]), {"parallel_fraction": 0.5}),
    (artery.expect, ("all_reduce", ON), {"sizes": [1024, 4096], "chips_per_node": 2}),
    (artery.simulate, ("all_reduce", ON), {"size": 65536, "seed": 3, "store_and_forward": True}),
    (artery.schedule, (SMALL, "dgx-h100:64"), {"jobs": 9, "elastic": 0.5, "window": (0, 43200)}),
    (artery.goodput, ("gpt2", ON), {"node_failures_per_1000_days": 6.5, "tp": 1}),
]


def _numpys(value: object) -> object:
    """The value as numpy has it: numbers in numpy's narrow kinds, lists of whole ones as arrays."""
    if isinstance(value, list):
        return np.array(value)
    if isinstance(value, tuple):
        return tuple(map(_numpys, value))
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value)
    return np.float32(value) if isinstance(value, float) else value


@pytest.mark.parametrize(("function", "needed", "options"), NUMBERS)
def test_numbers_of_numpy_do_as_pythons_do(
    function: Callable[..., Any], needed: tuple[Any, ...], options: dict[str, Any]
) -> None:
    asked = {name: _numpys(value) for name, value in options.items()}
    told = [function(*needed, **options), function(*map(_numpys, needed), **asked)]
    first, second = (re.sub(" at 0x[0-9a-f]+", "", repr(one)) for one in told)
    assert first == second
    assert "np." not in repr(getattr(told[1], "request", None))


def test_a_number_of_numpy_that_cannot_be_is_told_as_pythons() -> None:
    with pytest.raises(UsageError, match=r"degrees\['tp'\] .*, not 2.5"):
        artery.diagnose("a.txt", degrees={"tp": np.float64(2.5)})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match=r"not array\(\[\[8\]\]"):
        artery.plan("gpt2", ON, tp=np.array([[8]]))


def test_lists_of_options_do_as_tuples_do() -> None:
    listed: dict[str, Any] = {"overlap": ["dp"], "load_factor": [1, 1.1, 1.5]}
    tuples: dict[str, Any] = {name: tuple(one) for name, one in listed.items()}
    answer = artery.plan("gpt2", ON, explained=False, **listed)
    assert answer.plans == artery.plan("gpt2", ON, explained=False, **tuples).plans


def test_an_array_of_texts_is_a_list_of_them() -> None:
    assert own(np.array(["fifo", "backfill"])) == ["fifo", "backfill"]


@pytest.mark.parametrize("share", [float("nan"), float("inf"), -0.5])
def test_a_share_that_is_none_breaks_one_rule(share: float) -> None:
    with pytest.raises(InputError) as caught:
        artery.schedule("jobs.csv", ON, elastic=share)
    assert [one.rule for one in caught.value.problems] == ["a share from 0 to 1"]
