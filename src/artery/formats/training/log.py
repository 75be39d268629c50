"""Training logs: seconds per step, TFLOP/s per GPU, tokens per second, MFU.

Megatron-LM (``iteration 10/ 100 | elapsed time per iteration (ms): ...``), torchtitan (``step: 10
loss: ... tps: ... tflops: ... mfu: ...``), nanoGPT (``iter 10: loss ..., time 250.1ms, mfu
38.2%``) and DeepSpeed (``RunningAvgSamplesPerSec=...``) are understood. The first steps, which
compile and warm up, are left out of the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, quantiles
from typing import Any, Final

from artery.core.term import Measurement, Term
from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number, whole
from artery.formats.text import Text
from artery.formats.training.megatron_args import DEGREES
from artery.formats.training.run_spans import Report, program_spans
from artery.formats.wording import counted
from artery.units import show_flops, show_percent, show_time

Cells = dict[str, tuple[re.Pattern[str], float]]

_N: Final = r"([0-9][0-9.,eE+-]{0,24})"
_MEGATRON: Final = re.compile(rf"\biteration\s+{_N}\s*/\s*{_N}\s*\|")
_TITAN: Final = re.compile(r"\bstep:\s*(\d{1,12})\s+loss:\s*(\S{1,20})")
_NANO: Final = re.compile(rf"\biter (\d{{1,12}}): loss (\S{{1,20}}), time {_N}ms(?:, mfu {_N}%)?")
_DEEPSPEED: Final = re.compile(
    rf"micro_step=(\d{{1,12}})/global_step=(\d{{1,12}}), RunningAvgSamplesPerSec={_N}, "
    rf"CurrSamplesPerSec={_N}"
)
_CELLS: Final[Cells] = {
    "step_s": (re.compile(rf"elapsed time per iteration \(ms\):\s*{_N}"), 1e-3),
    "flop_per_s": (re.compile(rf"TFLOP(?:/s/GPU\)|s?):\s*{_N}"), 1e12),
    "global_batch": (re.compile(rf"global batch size:\s*{_N}"), 1.0),
    "loss": (re.compile(rf"lm loss:\s*{_N}"), 1.0),
    "tokens_per_s": (
        re.compile(rf"tokens[ _-]per[ _-](?:second|sec)(?:\s*\(tokens/s\))?:\s*{_N}"),
        1.0,
    ),
    "samples_per_s": (re.compile(rf"samples(?: per second|/s(?:ec)?):\s*{_N}"), 1.0),
    "skipped": (re.compile(rf"number of skipped iterations:\s*{_N}"), 1.0),
    "nan": (re.compile(rf"number of nan iterations:\s*{_N}"), 1.0),
}
"""Cells of Megatron's line, and the factor to SI."""

_TITAN_CELLS: Final[Cells] = {
    "tokens_per_s": (re.compile(rf"\btps:\s*{_N}"), 1.0),
    "flop_per_s": (re.compile(rf"\btflops:\s*{_N}"), 1e12),
    "mfu": (re.compile(rf"\bmfu:\s*{_N}%"), 0.01),
    "memory_bytes": (re.compile(rf"\bmemory:\s*{_N}GiB"), 2.0**30),
    "step_s": (re.compile(rf"\btime/end_to_end\(s\):\s*{_N}"), 1.0),
}
_TPS: Final = re.compile(r"\btps:\s*[\d,]")
_WORD: Final = {
    "megatron": "iteration",
    "torchtitan": "step:",
    "nanogpt": "iter ",
    "deepspeed": "global_step=",
}
"""What stands in every report of a dialect."""

_LOSS: Final = re.compile(r"\bloss[:=]\s*([0-9.]{1,20}(?:[eE][+-]?\d{1,3})?)")
WARM_UP: Final = 3
"""Assumed: steps that compile, allocate and connect, left out where there are enough others."""


@dataclass(slots=True)
class Step:
    """One reported step: number, line, and what the line says, in SI."""

    number: int
    line: int
    values: dict[str, float] = field(default_factory=dict)


def _recognise(text: Text) -> float:
    dialect = _dialect(text)
    return {"megatron": 0.85, "torchtitan": 0.8, "nanogpt": 0.8, "deepspeed": 0.8}.get(
        dialect or "", 0
    )


def _dialect(text: Text) -> str | None:
    """Return whose log it is; ``None`` if nobody's."""
    said = text.content
    if "elapsed time per iteration" in said and _MEGATRON.search(said):
        return "megatron"
    if "step:" in said and "tps:" in said and _TITAN.search(said) and _TPS.search(said):
        return "torchtitan"
    if "iter " in said and "ms" in said and _NANO.search(said):
        return "nanogpt"
    return "deepspeed" if _DEEPSPEED.search(said) else None


def _steps(text: Text, dialect: str) -> Iterator[Step]:
    for count in text.lines_with(_WORD[dialect]):
        line = text.lines[count - 1]
        if len(line) > 20_000:
            continue
        step = _step(line, dialect)
        if step is not None:
            step.line = count
            yield step


def _step(line: str, dialect: str) -> Step | None:
    if dialect == "megatron" and (found := _MEGATRON.search(line)):
        return Step(whole(found[1]) or 0, 0, _cells(line, _CELLS))
    if dialect == "torchtitan" and (found := _TITAN.search(line)):
        return Step(int(found[1]), 0, _cells(line, _TITAN_CELLS))
    if dialect == "nanogpt" and (found := _NANO.search(line)):
        time, mfu = number(found[3]), number(found[4])
        values = {"step_s": time / 1000} if time is not None else {}
        return Step(int(found[1]), 0, values | ({"mfu": mfu / 100} if mfu is not None else {}))
    if dialect == "deepspeed" and (found := _DEEPSPEED.search(line)):
        rate = number(found[4])
        return Step(int(found[2]), 0, {"samples_per_s": rate} if rate is not None else {})
    return None


def _cells(line: str, names: Cells) -> dict[str, float]:
    values = {}
    for name, (pattern, factor) in names.items():
        found = pattern.search(line)
        value = number(found[1]) if found else None
        if value is not None:
            values[name] = value * factor
    if "loss" not in values:
        loss = _LOSS.search(line)
        if loss is not None and (value := number(loss[1])) is not None:
            values["loss"] = value
    return values


def _read(text: Text) -> Reading:
    dialect = _dialect(text) or "megatron"
    steps = list(_steps(text, dialect))
    if not any(step.values for step in steps):
        rule = "a training log says the time of each step"
        fix = "set --log-interval (and --log-throughput), and send those lines"
        raise InputError(Problem(file=text.path, found="no step", rule=rule, fix=fix))
    counted_ = steps[WARM_UP:] if len(steps) > 2 * WARM_UP else steps[1:] or steps
    fields = _fields(text, dialect, steps, counted_)
    used = {step.line for step in steps}
    measurement = _measurement(text.path, fields)
    leaps: list[str] = []
    spans = program_spans(text.lines, [_report(step) for step in steps], leaps)
    return Reading(
        "megatron-log", "measurement", tuple(_summary(fields)), fields,
        (*_warnings(steps, fields), *leaps), passed_over(text, used, None, "no report of a step"),
        measurements=(measurement,) if measurement else (),
        spans=spans,
    )  # fmt: skip


def _report(step: Step) -> Report:
    return Report(step.line, step.number, step.values.get("step_s"))


def reports(text: Text) -> list[Report]:
    """Return the reports of steps in any log: none, if it is nobody's."""
    dialect = _dialect(text)
    return [_report(step) for step in _steps(text, dialect)] if dialect else []


def _fields(text: Text, dialect: str, steps: list[Step], used: Sequence[Step]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "dialect": dialect,
        "steps": len(steps),
        "first_step": steps[0].number,
        "last_step": steps[-1].number,
        "steps_used": len(used),
    }
    for name in ("step_s", "flop_per_s", "tokens_per_s", "samples_per_s", "mfu", "memory_bytes"):
        values = [step.values[name] for step in used if name in step.values]
        fields[name] = median(values) if values else None
        if name == "step_s":
            fields["step_s_low"], fields["step_s_high"] = _interval(values)
    fields["global_batch"] = _last(steps, "global_batch")
    fields["loss"] = _last(steps, "loss")
    fields["skipped"] = int(_sum(steps, "skipped"))
    fields["nan"] = int(_sum(steps, "nan"))
    fields["per_gpu"] = dialect == "torchtitan"
    fields |= _derived(text, fields)
    return fields


def _derived(text: Text, fields: dict[str, Any]) -> dict[str, Any]:
    """Return tokens per second of the job, where the printed arguments say the sequence."""
    sequence = _argument(text, "seq_length")
    degrees = {
        key: value for key, name in DEGREES.items() if (value := _argument(text, name)) is not None
    }
    rate = fields["tokens_per_s"]
    if rate is None and sequence and fields["global_batch"] and fields["step_s"]:
        rate = sequence * fields["global_batch"] / fields["step_s"]
    return {"sequence": sequence, "degrees": degrees, "tokens_per_s": rate}


def _argument(text: Text, name: str) -> int | None:
    """Return a whole number of the arguments that Megatron prints, ``name ..... value``."""
    pattern = re.compile(rf"\b{name} \.{{2,}} (\d{{1,9}})\b")
    for count in text.lines_with(f"{name} .."):
        if found := pattern.search(text.lines[count - 1]):
            return int(found[1])
    return None


def _interval(values: list[float]) -> tuple[float | None, float | None]:
    """Return the tenth and the ninetieth percentile."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (None, None)
    tenths = quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def _last(steps: list[Step], name: str) -> float | None:
    return next((step.values[name] for step in reversed(steps) if name in step.values), None)


def _sum(steps: list[Step], name: str) -> float:
    return sum(step.values.get(name, 0.0) for step in steps)


def _measurement(path: str, fields: dict[str, Any]) -> Measurement | None:
    step = fields["step_s"]
    if step is None:
        return None
    low, high = fields["step_s_low"], fields["step_s_high"]
    children = tuple(
        Term(name, unit, fields[key], fields[key], fields[key], source=path)
        for name, key, unit in _TERMS
        if fields[key] is not None
    )
    root = Term("step", "s", step, low, high, source=path, children=children)
    return Measurement(
        root, path, {"steps": str(fields["steps_used"]), "dialect": fields["dialect"]}
    )


_TERMS: Final = (
    ("flop_per_s_per_chip", "flop_per_s", "FLOP/s"),
    ("tokens_per_s", "tokens_per_s", "1/s"),
    ("mfu", "mfu", "1"),
)


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    first, last = fields["first_step"], fields["last_step"]
    yield f"{counted(fields['steps'], 'report')} of steps {first} to {last}"
    if fields["step_s"] is not None:
        low, high = show_time(fields["step_s_low"]), show_time(fields["step_s_high"])
        yield f"{show_time(fields['step_s'])} per step (80 % from {low} to {high})"
    if fields["flop_per_s"] is not None:
        yield f"{show_flops(fields['flop_per_s'])} per GPU"
    if fields["tokens_per_s"] is not None:
        yield f"{fields['tokens_per_s']:,.0f} tokens/s" + (" per GPU" if fields["per_gpu"] else "")
    if fields["mfu"] is not None:
        yield f"MFU {show_percent(fields['mfu'])}, as the log counts it"


def _warnings(steps: list[Step], fields: dict[str, Any]) -> Iterator[str]:
    if fields["steps_used"] < 5:
        yield f"only {counted(fields['steps_used'], 'report')} to judge by"
    low, high = fields["step_s_low"], fields["step_s_high"]
    if low and high > 1.3 * low:
        yield "steps vary by more than 30 %: stragglers, input, or checkpoints among them"
    if fields["nan"] or fields["skipped"]:
        yield f"{fields['nan']} steps with NaN, {fields['skipped']} skipped"
    again = sum(later.number <= earlier.number for earlier, later in pairwise(steps))
    if again:
        yield f"the step number goes back {again} times: the job was restarted from a checkpoint"
    flops = fields["flop_per_s"]
    if flops is not None and flops > 2.5e15:
        yield "more TFLOP/s than any GPU has in 16 bits: the formula or the unit is off"
    if fields["mfu"] is not None and fields["mfu"] > 1:
        yield "an MFU above 100 %: the peak it divides by is too small"


_UNTESTED: Final = "written from the programs' own print statements; no log was at hand"

FORMAT: Final = Format(
    "megatron-log", "measurement", _recognise, _read, tested=False, notes=(_UNTESTED,)
)
