"""``diagnose``: measured against expected, causes ranked by the numbers, the missing fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from types import NoneType

from artery.answers.anonymise import devices_of, masked
from artery.answers.arguments import (
    check_counts,
    check_declared,
    check_kinds,
    check_texts,
    paths_of,
)
from artery.answers.diagnose.asked import (
    above_peak,
    check_asked,
    doubted,
    file_named,
    on_of,
    own_plan,
)
from artery.answers.diagnose.case import case_of, with_cards
from artery.answers.diagnose.fabric import Fabric, fabric_of
from artery.answers.diagnose.held import Held, collective_of, held_of, impossible, worst
from artery.answers.diagnose.job import Job, job_of
from artery.answers.diagnose.missing import lacking
from artery.answers.diagnose.mpi import with_mpi
from artery.answers.diagnose.notes import notes_on
from artery.answers.diagnose.proof import Proof
from artery.answers.diagnose.run import RunHeld, by_run, run_held
from artery.answers.diagnose.stage import Stage
from artery.answers.diagnose.system import Asked, Stand, vendor_of
from artery.answers.diagnose.told import Files
from artery.answers.diagnose.trace import TraceHeld, trace_of, without_trace
from artery.answers.diagnose.worlds import repricer
from artery.answers.numbers import own_numbers
from artery.answers.systems import file_and_chips
from artery.diagnoser.case import Case, Curve, Fact
from artery.diagnoser.vendors import in_words_of
from artery.diagnoser.verdict import Diagnosis, judge
from artery.errors import InputError, Problems, ThresholdError
from artery.formats.reading import Progress, Reading
from artery.formats.recognise import read_mixed


@dataclass(frozen=True, slots=True)
class DiagnoseAnswer:
    """The diagnosis, and what it is about.

    ``system`` is what the curve was held against, ``assumed`` what nobody stated about it;
    ``facts`` with their ``origins`` are all that was understood; ``files`` are (path, format);
    ``notes`` are conventions that apply (``average``, ``two_nodes``, ``above_link``,
    ``old_columns``, ``other_curves``, ``one_node``, ``model_by_name``, ``chips_in_words``,
    ``same_peak``, ``share_said``, ``other_memory``, ``column_busbw``, ``column_algbw``,
    ``column_unit``, ``column_rows``, ``mpi``); ``wire`` is what one chip put on the network,
    B/s.
    ``proof`` is the likeliest cause played on the network, ``job`` what it costs the job that was
    named; ``run`` a training run beside its own plan; ``None`` where there is none. ``ranks`` are
    those that were priced. ``trace`` is where the time of a traced rank went.
    """

    diagnosis: Diagnosis
    system: str | None
    assumed: tuple[str, ...]
    facts: Mapping[str, Fact]
    origins: Mapping[str, str]
    files: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    wire: float | None
    proof: Proof | None = None
    job: Job | None = None
    run: RunHeld | None = None
    ranks: int | None = None
    trace: TraceHeld | None = None
    nodes: int | None = None


@own_numbers
def diagnose(
    *paths: str | PathLike[str],
    on: str | None = None,
    overrides: Sequence[str] = (),
    model: str | None = None,
    degrees: Mapping[str, int] | None = None,
    prove: bool = True,
    anonymise: bool = False,
    progress: Progress | None = None,
    plan_from: str | None = None,
) -> DiagnoseAnswer:
    """Return what holds back the runs in the files at ``paths``, taken together.

    ``on`` is the system that was measured, as everywhere; without it one is made of the facts in
    the files. ``model`` is the job that runs there, split by ``degrees`` (``tp``, ``pp``, ``cp``,
    ``ep``, ``dp``) where they are given. ``prove`` plays the likeliest cause on the network;
    ``anonymise`` masks hosts, users, addresses and GUIDs. ``plan_from`` is what launched a training
    run (a script, a configuration, a saved plan), which its log is held against. Raises
    :class:`artery.errors.InputError` for files that cannot be read.
    """
    check_kinds(str, NoneType, on=on, model=model, plan_from=plan_from)
    check_texts("overrides", overrides)
    check_counts("degrees", degrees)
    flags = {"prove": prove, "anonymise": anonymise, "progress": progress}
    check_declared(diagnose, flags)
    paths = paths_of(paths, "there must be a file to diagnose")
    readings = _readings(paths, progress)
    on = on_of(on, overrides, readings)
    named = file_named(on, paths)
    if named is not None:
        readings += _readings([named], progress)
    fabric = fabric_of(readings)
    asked = _asked(on, overrides, readings, fabric)
    plan_from = plan_from or own_plan(readings, on, model)
    split = dict(degrees or {})
    case = doubted(with_mpi(case_of(readings, fabric), readings, on), asked)
    check_asked(asked, case, model, split, planned=plan_from is not None)
    case = above_peak(case, asked, readings)
    if plan_from is not None:
        case = replace(case, facts=without_trace(case.facts))
    weighed = _weighed(case, asked, readings, fabric, prove=prove)
    case, found, stand = weighed.case, weighed.found, weighed.shortest.stand
    job = _cost(found, stand, case, model, split)
    run = None
    if plan_from is not None:
        run = run_held(readings, plan_from, on, overrides, {"model": model, **split})
        found = by_run(found, run)
        if found.verdict == "refused":
            run = None  # a run that cannot be is held against nothing
    answer = replace(
        _answer(replace(weighed, found=found), readings, on),
        job=job,
        run=run,
        trace=trace_of(readings, on, overrides),
    )
    if not anonymise:
        return answer
    told = [told for _, one in readings for told in (devices_of(one), one.fields)]
    return masked(answer, told, [*paths, file_and_chips(on or "")[0], plan_from or ""])


def _asked(
    on: str | None, overrides: Sequence[str], readings: Files, fabric: Fabric | None
) -> Asked:
    """Return the system that is asked for, the file of its node and that of its cables."""
    cabled = fabric.source if fabric is not None else None
    node = next((path for path, one in readings if one.system is not None and path != "-"), None)
    named = on is not None and cabled == file_and_chips(on)[0]
    return Asked(on, tuple(overrides), node, cabled if named else None)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The ``case`` with what weighing it showed; ``found`` by the curve that falls ``shortest``."""

    case: Case
    found: Diagnosis
    shortest: Held
    proof: Proof | None


def _weighed(
    case: Case, asked: Asked, readings: Files, fabric: Fabric | None, *, prove: bool
) -> _Weighed:
    """Hold the curves against what is expected, and weigh what may hold the worst of them back."""
    curves = held_of(case, asked)
    refusals = impossible(curves)
    if refusals:
        case = replace(case, refusals=refusals)
    shortest = worst(curves)
    judged, stand = shortest.judged, shortest.stand
    reprice = None
    if judged is not None and stand is not None and stand.setting is not None:
        reprice = repricer(stand.setting, collective_of(judged.curve), judged.curve)
        case = with_cards(case, stand.setting.system)
    stage = Stage(stand, fabric) if prove and judged and judged.curve in case.curves else None
    play = None if stage is None or judged is None else stage.player(judged.curve)
    missing = lacking(case, readings) if stand is None else stand.missing
    found = judge(case, judged, reprice, missing, play)
    found = in_words_of(found, vendor_of(case, stand))
    return _Weighed(case, found, shortest, None if stage is None else stage.proof(found))


def _answer(weighed: _Weighed, readings: Files, on: str | None) -> DiagnoseAnswer:
    """Return what the curves alone say."""
    case, found, stand = weighed.case, weighed.found, weighed.shortest.stand
    setting = None if stand is None else stand.setting
    return DiagnoseAnswer(
        diagnosis=found,
        system=stand.name if stand else on,
        assumed=stand.assumed if stand else (),
        facts=case.facts,
        origins=case.origins,
        files=tuple((path, one.format) for path, one in readings),
        notes=tuple(notes_on(case, found, readings, weighed.shortest)),
        wire=_wire(found.curve),
        proof=weighed.proof,
        ranks=None if setting is None else setting.ranks,
        nodes=None if setting is None else setting.system.nodes,
    )


def _cost(
    found: Diagnosis,
    stand: Stand | None,
    case: Case,
    wanted: str | None,
    degrees: Mapping[str, int],
) -> Job | None:
    """Return what the likeliest cause costs the job that was named."""
    best = found.findings[0] if found.findings else None
    if best is None or best.explanation.world is None or not best.explanation.fits:
        return None
    said = case.facts.get("model")
    model = wanted or (said if isinstance(said, str) else None)
    if model is None or stand is None:
        return None
    facts = {**case.facts, **{name: float(n) for name, n in degrees.items()}}
    try:
        return job_of(model, facts, stand, best.explanation.world)
    except InputError:
        if wanted is not None:
            raise
        return None  # what a facts file calls the model need be no name that we know


def check_threshold(answer: DiagnoseAnswer, least: float) -> None:
    """Raise :class:`artery.errors.ThresholdError` if measured over expected is below ``least``.

    What could not be compared has not passed.
    """
    judged = answer.diagnosis.judged
    if judged is None:
        raise ThresholdError(f"{answer.diagnosis.verdict}: nothing could be compared")
    if judged.least < least:
        raise ThresholdError(f"measured is {judged.least:.0%} of expected, below {least:.0%}")


def _readings(paths: Sequence[str], progress: Progress | None) -> list[tuple[str, Reading]]:
    found: list[tuple[str, Reading]] = []
    with Problems() as problems:
        for path in paths:
            try:
                found += [(path, one) for one in read_mixed(path, progress)]
            except InputError as error:
                problems.absorb(error.at(file=path))
    return found


def _wire(curve: Curve | None) -> float | None:
    """Return busbw·(k-1)/(n-1): what a chip of k nodes puts on the network in a tree (B/s)."""
    if curve is None or not curve.ranks or not curve.nodes or curve.nodes < 2:
        return None
    if curve.collective not in (None, "all_reduce"):
        return None
    return curve.last.busbw * (curve.nodes - 1) / (curve.ranks - 1)
