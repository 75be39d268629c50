"""``diagnose``: measured against expected, causes ranked by the numbers, the missing fact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from artery.answers.anonymise import devices_of, masked
from artery.answers.arguments import check_kinds
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
from artery.answers.diagnose.facts import PLATEAU, columns_in
from artery.answers.diagnose.job import Job, job_of
from artery.answers.diagnose.mpi import MPI, with_mpi
from artery.answers.diagnose.proof import Proof, proof_of
from artery.answers.diagnose.run import RunHeld, run_held
from artery.answers.diagnose.system import Asked, Stand, stand_for, vendor_of
from artery.answers.diagnose.trace import TraceHeld, trace_of, without_trace
from artery.answers.diagnose.worlds import band, has_two_ways, repricer
from artery.answers.expect_pricing import Setting
from artery.answers.systems import file_and_chips
from artery.core.pricing import Collective, named
from artery.diagnoser.case import Case, Curve, Fact, Point, Refusal
from artery.diagnoser.played import Play, Player
from artery.diagnoser.rules import Cause
from artery.diagnoser.shape import shape_of
from artery.diagnoser.vendors import in_words_of
from artery.diagnoser.verdict import HEALTHY, Diagnosis, Judged, Missing, judge
from artery.diagnoser.weigh import Explanation
from artery.errors import InputError, Problem, Problems, ThresholdError
from artery.formats.reading import Progress, Reading
from artery.formats.recognise import read_mixed

_IMPOSSIBLE: Final = 4.0
"""Assumed: no system gives so many times what it should; bits for bytes are eight times."""


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


def diagnose(
    *paths: str,
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
    check_kinds(str, type(None), on=on, model=model)
    if not paths:
        rule = "there must be a file to diagnose"
        raise InputError(Problem(found="no file", rule=rule, fix="- is standard input"))
    readings = _readings(paths, progress)
    on = on_of(on, overrides, readings)
    named = file_named(on, paths)
    if named is not None:
        readings += _readings([named], progress)
    fabric = fabric_of(readings)
    split = dict(degrees or {})
    cabled = (
        fabric.source
        if fabric is not None and on and fabric.source == file_and_chips(on)[0]
        else None
    )
    node = next((path for path, one in readings if one.system is not None and path != "-"), None)
    asked = Asked(on, tuple(overrides), node, cabled)
    plan_from = plan_from or own_plan(readings, on, model)
    case = doubted(with_mpi(case_of(readings, fabric), readings, on), asked)
    check_asked(asked, case, model, split, planned=plan_from is not None)
    case = above_peak(case, asked, readings)
    if plan_from is not None:
        case = replace(case, facts=without_trace(case.facts))
    held = _held(case, asked)
    impossible = [each for each in held if each.judged and each.judged.ratio > _IMPOSSIBLE]
    if impossible:
        refusals = tuple(_impossible(each.judged) for each in impossible if each.judged)
        case = replace(case, refusals=refusals)
    worst = _worst(held)
    judged, stand = worst.judged, worst.stand
    reprice = None
    if judged is not None and stand is not None and stand.setting is not None:
        reprice = repricer(stand.setting, _collective(judged.curve), judged.curve)
        case = with_cards(case, stand.setting.system)
    stage = _Stage(stand, fabric) if prove and judged and judged.curve in case.curves else None
    play = None if stage is None or judged is None else stage.player(judged.curve)
    found = judge(case, judged, reprice, _missing(case, stand, readings), play)
    found = in_words_of(found, vendor_of(case, stand))
    proof = None if stage is None else stage.proof(found)
    job = _cost(found, stand, case, model, split)
    run = None
    if plan_from is not None:
        run = run_held(readings, plan_from, on, overrides, {"model": model, **split})
        found = _by_run(found, run)
        if found.verdict == "refused":
            run = None  # a run that cannot be is held against nothing
    answer = DiagnoseAnswer(
        found, stand.name if stand else on, stand.assumed if stand else (), case.facts,
        case.origins, tuple((path, one.format) for path, one in readings),
        tuple(_notes(case, found, readings, worst)), _wire(found.curve), proof, job, run,
        stand.setting.ranks if stand is not None and stand.setting is not None else None,
        trace_of(readings, on, overrides),
        nodes=None if stand is None or stand.setting is None else stand.setting.system.nodes,
    )  # fmt: skip
    if not anonymise:
        return answer
    told = [told for _, one in readings for told in (devices_of(one), one.fields)]
    return masked(answer, told, [*paths, file_and_chips(on or "")[0], plan_from or ""])


def _by_run(found: Diagnosis, run: RunHeld) -> Diagnosis:
    """Return the diagnosis with the verdict on the run, where nothing else was measured."""
    if found.verdict != "unknown" or found.curve is not None:
        return found
    if run.verdict == "contradicts":
        return replace(found, missing=(CONTRADICTS,))
    if run.verdict == "faster":
        return replace(found, missing=(FASTER,))
    if run.verdict == "slower":
        return replace(found, verdict="degraded", missing=())
    return replace(found, verdict="healthy", missing=())


@dataclass(frozen=True, slots=True)
class _Held:
    """A curve held against its system, as far as that is known."""

    stand: Stand | None = None
    judged: Judged | None = None

    @property
    def above_link(self) -> bool:
        """Whether busbw inside one node is above the rate of a chip's links: NVSwitches add."""
        if self.stand is None or self.stand.setting is None or self.judged is None:
            return False
        system, curve = self.stand.setting.system, self.judged.curve
        inner = system.tiers[0] if system.tiers else None
        adds = inner is not None and inner.reduction is not None
        one = system.nodes == 1 or curve.nodes == 1
        return bool(adds and one and inner and curve.last.busbw > inner.burst)


@dataclass(slots=True)
class _Stage:
    """Where causes are played: the system, its cabling, and every proof by its explanation."""

    stand: Stand | None
    fabric: Fabric | None
    proofs: dict[str, Proof | None] = field(default_factory=dict)

    def player(self, curve: Curve) -> Player:
        """Return the function that plays a cause that was priced against ``curve``."""

        def play(cause: Cause, explained: Explanation) -> Play | None:
            proof = None
            if self.stand is not None:
                pair = (curve, _collective(curve))
                proof = proof_of(cause.key, explained, pair, self.stand, self.fabric)
            self.proofs[cause.key] = proof
            return None if proof is None else proof.play

        return play

    def proof(self, found: Diagnosis) -> Proof | None:
        """Return the proof of the likeliest cause."""
        best = found.findings[0] if found.findings else None
        return None if best is None else self.proofs.get(best.cause.key)


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


def _impossible(judged: Judged) -> Refusal:
    last = judged.curve.last
    return Refusal(
        "above_the_links",
        f"{judged.curve.source}: {last.busbw / 1e9:.4g} GB/s is "
        f"{judged.ratio:.3g} times what the system can give",
        "look whether Gb/s were written as GB/s, and whether the system (--on) is the one measured",
    )


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


def _held(case: Case, asked: Asked) -> tuple[_Held, ...]:
    """Return every curve held against what it should be."""
    found = []
    for curve in () if case.refusals else case.curves:
        stand = stand_for(case, curve, asked)
        judged = None if stand.setting is None else _against(curve, stand.setting)
        found.append(_Held(stand, judged))
    for share in () if case.refusals else case.shares:
        probe = Curve(share.collective, share.ranks, share.nodes,
                      (Point(share.size or PLATEAU, 1.0),), share.source,
                      sized=share.size is not None)  # fmt: skip
        stand = stand_for(case, probe, asked)
        if stand.setting is not None:
            found.append(_Held(stand, _at_share(probe, stand.setting, share.part)))
    return tuple(found)


def _at_share(probe: Curve, setting: Setting, part: float) -> Judged:
    """Return the one size of ``probe`` at a ``part`` of what it should be.

    Over two nodes that is a ring's bandwidth: people expect what the cards carry.
    """
    collective, size = _collective(probe), probe.last.size
    way = ("ring",) if has_two_ways(probe, collective) else ()
    should = band(setting, collective, [size], *way)
    curve = replace(probe, points=(Point(size, part * should[0][0]),))
    return Judged(curve, shape_of(curve), *should)


def _worst(held: Sequence[_Held]) -> _Held:
    """Return the curve that falls shortest of what it should be; any, if none was compared."""
    compared = [each for each in held if each.judged is not None]
    if compared:
        return min(compared, key=lambda each: each.judged.least if each.judged else 0.0)
    return held[0] if held else _Held()


def _against(curve: Curve, setting: Setting) -> Judged:
    """Return ``curve`` beside what it should be.

    Over two nodes that is a tree's bandwidth or, if the run comes up to it, a ring's: both put
    on the network what the cards carry.
    """
    sizes = [point.size for point in curve.points]
    collective = _collective(curve)
    judged = Judged(curve, shape_of(curve), *band(setting, collective, sizes))
    if judged.least >= HEALTHY or not has_two_ways(curve, collective):
        return judged
    ring = Judged(curve, judged.shape, *band(setting, collective, sizes, "ring"))
    return ring if ring.least >= HEALTHY else judged


def _collective(curve: Curve) -> Collective:
    """Return what was measured; an unnamed table is all-reduce, which notes say."""
    return named(curve.collective) if curve.collective is not None else "all_reduce"


CONTRADICTS: Final = Missing(
    "step",
    "the log contradicts itself: its rates do not follow from its time of a step",
    "the raw log; whether time, TFLOP/s and batch are of the same run, model and number of GPUs",
)
FASTER: Final = Missing(
    "model",
    "a step is faster than its plan can be: the script, the model or the system is another",
    "the script of this very run, and nvidia-smi -L where it ran",
)
PEAK: Final = Missing(
    "measured",
    "an average over all sizes is far below the plateau of a healthy run, for small messages pull "
    "it down: it is compared with nothing",
    "busbw of the largest messages: all_reduce_perf -b 8 -e 16G -f 2, its last rows",
)
MEASURED_ON: Final = Missing(
    "system",
    "sizes and times are measured, and nobody says on what, by how many ranks",
    "--on SYSTEM with the number of its chips that took part, such as --on dgx-a100:4",
)
PLAN: Final = Missing(
    "plan",
    "a step is slow or fast beside what its plan should take",
    "--from the script, configuration or saved plan that launched it, and --on SYSTEM",
)


def _missing(
    case: Case, stand: Stand | None, readings: Sequence[tuple[str, Reading]]
) -> tuple[Missing, ...]:
    if stand is not None:
        return stand.missing
    if any(one.format == "megatron-log" for _, one in readings):
        return (PLAN,)
    if not case.curves and not case.refusals and _averages(readings):
        return (PEAK,)
    if not case.curves and not case.refusals and any(one.format in MPI for _, one in readings):
        return (MEASURED_ON,)
    if not case.curves and not case.refusals:
        return (Missing("measured", "without a measured bandwidth nothing can be compared",
                        "the output of all_reduce_perf -b 8 -e 16G -f 2"),)  # fmt: skip
    return ()


def _averages(readings: Sequence[tuple[str, Reading]]) -> bool:
    """Whether somebody tells an average over all sizes."""
    told = [one.fields["measured"] for _, one in readings if one.format == "facts"]
    return any(row.get("average") for rows in told for row in rows)


def _notes(
    case: Case, found: Diagnosis, readings: Sequence[tuple[str, Reading]], worst: _Held
) -> list[str]:
    notes = [*case.notes, *_table_notes(readings)]
    curve = found.curve
    if curve is not None:
        if curve.nodes == 2 and curve.collective in (None, "all_reduce"):
            notes.append("two_nodes")
        if not curve.sized:
            notes.append("size_unknown")
        if curve.collective is None:
            notes.append("collective_unknown")
        if found.judged is not None and curve not in case.curves:
            notes.append("share_said")
    if len(case.curves) > 1:
        notes.append("other_curves")
    if worst.above_link:
        notes.append("above_link")
    return list(dict.fromkeys(notes))


def _table_notes(readings: Sequence[tuple[str, Reading]]) -> Iterator[str]:
    for _, reading in readings:
        if reading.format != "nccl-tests":
            continue
        average = reading.fields.get("average_busbw_bytes_per_s")
        peak = reading.fields.get("peak_busbw_bytes_per_s")
        if average and peak and average < 0.9 * peak:
            yield "average"
        if reading.fields.get("old_columns"):
            yield "old_columns"
        for table in reading.fields.get("tables", ()):
            found = columns_in(table)
            if found is not None and found.lies not in ("none", "unknown"):
                yield f"column_{found.lies}"


def _wire(curve: Curve | None) -> float | None:
    """Return busbw·(k-1)/(n-1): what a chip of k nodes puts on the network in a tree (B/s)."""
    if curve is None or not curve.ranks or not curve.nodes or curve.nodes < 2:
        return None
    if curve.collective not in (None, "all_reduce"):
        return None
    return curve.last.busbw * (curve.nodes - 1) / (curve.ranks - 1)
