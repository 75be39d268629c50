"""What is asked of ``diagnose`` beside its files: checked before anything else, used or not.

A verdict that comes early (refused, healthy, unknown) must not hide that a name on the command line
means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from artery.answers.diagnose.case import impossible_degrees
from artery.answers.diagnose.fabric import CABLINGS
from artery.answers.diagnose.job import DEGREES
from artery.answers.diagnose.system import Asked, node_for, server_of
from artery.answers.diagnose.told import Files
from artery.answers.models import workload
from artery.answers.saved import RUN_FORMATS
from artery.answers.systems import file_and_chips, is_foreign, node_of, system_of
from artery.catalog.chips import chip as chip_of
from artery.catalog.overrides import ORIGIN
from artery.core.chip import Chip
from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.diagnoser.case import Case, Refusal
from artery.errors import InputError, Problem, Problems, UsageError
from artery.step.legality import problems as broken_rules
from artery.units import show_flops


def file_named(on: str | None, paths: Sequence[str]) -> str | None:
    """Return the file that ``--on`` names, if it is one and none of the ``paths`` to read."""
    if on is None:
        return None
    file = file_and_chips(on)[0]
    return file if is_foreign(file) and file not in paths else None


def on_of(on: str | None, overrides: Sequence[str], readings: Files) -> str | None:
    """Return the system that was named; with ``node=`` alone, the network among the files.

    Raises ``UsageError`` where there is none.
    """
    if on is not None or node_of(overrides)[0] is None:
        return on
    cables = [path for path, one in readings if one.format in CABLINGS and path != "-"]
    if not cables:
        raise UsageError(
            "--node says what the hosts of a network file are: add --on FILE, or the file itself"
        )
    return cables[0]


def own_plan(readings: Files, on: str | None, model: str | None) -> str | None:
    """Return what launched the run, if one file says it and its log is beside it.

    ``None`` where the file alone does not say enough to price it.
    """
    runs = [(path, one) for path, one in readings if one.format in RUN_FORMATS and path != "-"]
    logs = [path for path, one in readings if one.format == "megatron-log"]
    if on is None or len(runs) != 1 or not logs:
        return None
    path, run = runs[0]
    told = run.workload is not None or run.fields.get("missing_facts") or model is not None
    return path if told else None


def check_asked(
    asked: Asked, case: Case, model: str | None, degrees: Mapping[str, int], *, planned: bool
) -> None:
    """Raise for a model, degrees, a system or overrides that cannot be.

    ``planned``: model and degrees are of a training run's own plan. Raises ``InputError`` with all
    problems, ``UsageError`` for degrees that split nothing.
    """
    if degrees and model is None and not planned and "model" not in case.facts:
        names = ", ".join(f"--{name}" for name in degrees)
        raise UsageError(f"{names} split a job: add --model MODEL")
    with Problems() as problems:
        if model is not None:
            try:
                _splits(workload(model), degrees, problems)
            except InputError as error:
                problems.absorb(error.at(field="model"))
        if not planned:
            _degrees(case, degrees, problems)
        try:
            _system(asked, case)
        except InputError as error:
            problems.absorb(error)


def _splits(job: Workload, degrees: Mapping[str, int], problems: Problems) -> None:
    """Note degrees by which this model cannot be split, whatever the ranks."""
    given = {name: degrees.get(name, 1) for name in DEGREES}
    dp = max(given["dp"], given["ep"])
    split = Plan(tp=given["tp"], pp=given["pp"], cp=given["cp"], ep=given["ep"], dp=dp,
                 global_batch=dp, sequence=2**20)  # fmt: skip
    for one in broken_rules(job, split):
        if one.field in degrees:
            problems.add(replace(one, field=f"--{one.field}"))


def _degrees(case: Case, degrees: Mapping[str, int], problems: Problems) -> None:
    """Note degrees that do not multiply to the ranks that were measured."""
    facts = {**case.facts, **{name: float(count) for name, count in degrees.items()}}
    for one in impossible_degrees(facts) if degrees else ():
        field = ", ".join(f"--{name}" for name in degrees)
        problems.add(Problem(field=field, found=one.text, rule="tp·pp·cp·dp is the number of ranks",
                             fix=one.fix))  # fmt: skip


def _system(asked: Asked, case: Case) -> None:
    """Build what was named, or what the overrides are laid over."""
    if asked.on is not None:
        node = node_for(case, asked.overrides) if asked.cabled is not None else None
        system_of(node or asked.on, node_of(asked.overrides)[1] if node else asked.overrides)
        return
    rest = list(asked.overrides)
    if not rest or (case.curves and not case.refusals):
        return  # laid over the system that is made of the facts
    named = server_of(case)
    if named is None:
        texts = ", ".join(rest)
        rule = "changes a system, and none is named or follows from the files"
        raise InputError(Problem(file=ORIGIN, found=f'"{texts}"', rule=rule, fix="add --on SYSTEM"))
    system_of(named, rest)


def doubted(case: Case, asked: Asked) -> Case:
    """Return the case with what files say that the named system contradicts.

    Chips of one name in other sizes of memory are told, and nothing more: they have the same links.
    """
    said, origin = case.facts.get("chip"), case.origins.get("chip", "")
    if asked.on is None or not isinstance(said, str) or origin == file_and_chips(asked.on)[0]:
        return case
    node = node_for(case, asked.overrides) if asked.cabled is not None else None
    try:
        named, known = system_of(node or asked.on).chip, chip_of(said)
    except InputError:
        return case
    if named.name == known.name:
        return case
    text = f"{origin} names {known.name}, and {node or asked.on} is made of {named.name}"
    if _alike(named, known):
        return replace(case, notes=(*case.notes, "other_memory"))
    return replace(case, doubts=(*case.doubts, f"{text}: one of both is not what was measured"))


def above_peak(case: Case, asked: Asked, readings: Files) -> Case:
    """Return the case, refused where a training log reports more than its chips can compute.

    The peak is the highest dense one of a number format that trains, of the named system's chip.
    """
    if asked.on is None:
        return case
    logs = [
        (path, float(one.fields["flop_per_s"]))
        for path, one in readings
        if one.format == "megatron-log" and one.fields.get("flop_per_s")
    ]
    if not logs:
        return case
    chip = system_of(asked.on, node_of(asked.overrides)[1]).chip
    peak = max((rate for name, rate in chip.peaks.items() if name in _TRAINS), default=None)
    if peak is None:
        return case
    found = tuple(
        Refusal(
            "above_the_peak",
            f"{path}: {show_flops(rate)} per GPU is {rate / peak:.3g} times the peak of "
            f"{chip.name}, {show_flops(peak)}",
            _PEAK_FIX,
        )
        for path, rate in logs
        if rate > peak
    )
    return replace(case, refusals=(*case.refusals, *found))


_TRAINS: Final = frozenset({"tf32", "bf16", "fp16", "fp8", "fp4"})
_PEAK_FIX: Final = (
    "look whether the rate is of one GPU or of several, and whether the system (--on) is the one "
    "that trained"
)


def _alike(one: Chip, other: Chip) -> bool:
    """Whether two chips compute and talk to their neighbours at the same rates."""
    return one.ports == other.ports and one.peaks.get("bf16") == other.peaks.get("bf16")
