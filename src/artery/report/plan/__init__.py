"""The answer of ``plan`` on the terminal.

Headline first (how long, how good, does it fit, what does it cost), then where the time goes,
what limits it, what would help, the alternatives, and what to ask next.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.plan.result import Lever, PlanAnswer, PlanResult
from artery.core.plan import Plan
from artery.report.contention import contention_lines
from artery.report.drawing.bars import GROUPS, Bar, bars
from artery.report.drawing.terminal import commands, indented, labelled
from artery.report.plan.payload import by_part
from artery.report.said import warned
from artery.report.words import Language, Words, phrase
from artery.report.words import words as table_of
from artery.step import PARTS
from artery.units import (
    show_bytes,
    show_count,
    show_energy,
    show_money,
    show_percent,
    show_time,
)

_LEVERS_SHOWN = 8
_LEVERS_FROM = 0.004
"""Share of the step below which a lever is not worth a line."""
_ONLY_WAY = ("SendRecv", "Grouped", "Torus")
"""Algorithms beside which a library has none for its collective."""
_FITS_STYLE = {"yes": "green", "at_limit": "yellow", "no": "bold red"}


def plan_drawing(answer: PlanAnswer, language: Language, asked: str) -> RenderableType:
    """Return the whole answer; ``asked`` is ``MODEL --on SYSTEM`` as it was typed."""
    words = table_of(language)
    best = answer.plans[0]
    parts: list[RenderableType] = [_title(answer, words), Text()]
    if answer.fitting == 0:
        parts += [_nothing_fits(answer, words), Text()]
    parts += [indented(_headline(best, words)), indented(_layout(answer, words)), Text()]
    parts += [indented(_breakdown(best, words)), Text(), indented(_reasons(best, language))]
    if best.network is not None:
        parts += [Text(), indented(contention_lines(best.network, language))]
    if len(answer.plans) > 1:
        parts += [Text(), indented(_alternatives(answer.plans, words))]
    notes = tuple(phrase(note, language) for note in best.notes)
    remarks = labelled_lines(
        words["note"], notes, words["warning"], warned(answer.warnings, language)
    )
    if remarks is not None:
        parts += [Text(), indented(remarks)]
    parts += [Text(), indented(commands(words["next"], _next(best, asked)))]
    return Group(*parts)


def labelled_lines(
    note: str, notes: tuple[str, ...], warning: str, warnings: tuple[str, ...]
) -> RenderableType | None:
    """Return notes and warnings under their labels, or nothing if there are none."""
    tables = []
    if notes:
        tables.append(labelled(note, [Text(line) for line in notes]))
    if warnings:
        tables.append(labelled(warning, [Text(line, style="yellow") for line in warnings]))
    return Group(*tables) if tables else None


def layout(plan: Plan, words: Words) -> Iterator[str]:
    """Yield a plan's choices in words: ``tp 8``, ``pp 16``, ``dp 128``, ``micro-batch 1``, ..."""
    yield f"tp {plan.tp}"
    yield f"pp {plan.pp}" + (f" x {plan.vpp}" if plan.vpp > 1 else "")
    for name, degree in (("cp", plan.cp), ("ep", plan.ep), ("etp", plan.etp)):
        if degree > 1:
            yield f"{name} {degree}"
    yield f"dp {plan.dp}" + (f" ({plan.dp_replicate} copies)" if plan.dp_replicate > 1 else "")
    yield f"zero {plan.zero}"
    yield f"{words['micro_batch']} {plan.micro_batch}"
    yield f"{words['global_batch']} {plan.global_batch:,}"
    if plan.sequence > 1:
        yield f"{words['sequence']} {plan.sequence:,}"
    yield f"{words['recompute']} {words[f'recompute_{plan.recompute}']}"
    if plan.sequence_parallel:
        yield words["sequence_parallel"]
    yield plan.dtype
    if plan.sequence > 1:
        yield plan.attention


def _title(answer: PlanAnswer, words: Words) -> Text:
    system, plan = answer.system, answer.plans[0].plan
    nodes = -(-plan.chips // system.chips_per_node)
    title = Text(answer.workload.name, style="bold")
    title.append(f"  {system.name}  ", style="not bold")
    where = words["one_node" if nodes == 1 else "nodes"].format(nodes=f"{nodes:,}")
    title.append(f"{plan.chips:,} x {system.chip.name}, {where}", "not bold")
    title.append(f"  {answer.profile.name} ({answer.profile.as_of})", style="dim not bold")
    return title


def _nothing_fits(answer: PlanAnswer, words: Words) -> Text:
    best = answer.plans[0]
    over = show_bytes(max(0.0, best.memory.root.value - best.capacity))
    key = "given_does_not_fit" if answer.given else "nothing_fits"
    text = words[key].format(searched=f"{answer.searched:,}", over=over)
    return Text(text, style="bold red")


def _headline(result: PlanResult, words: Words) -> RenderableType:
    step = result.time.root
    first = Text(f"{words['step']} ")
    first.append(show_time(step.value), style="bold")
    first.append(f" ({show_time(step.low)} – {show_time(step.high)}, {words['interval']})")
    first.append(f"   MFU {show_percent(result.mfu)}   {_throughput(result, words)}")
    second = Text(f"{words['memory']} {show_bytes(result.memory.root.value)} ")
    second.append(f"{words['of']} {show_bytes(result.capacity)}: ")
    second.append(words[result.fits], style=_FITS_STYLE[result.fits])
    second.append("   " + "   ".join(_consumption(result, words)))
    lines = [first, second]
    if result.run is not None:
        lines.append(_run(result, words))
    return Group(*lines)


def _throughput(result: PlanResult, words: Words) -> str:
    if result.tokens_per_s is None:
        return f"{show_count(_whole(result.samples_per_s))} {words['samples_per_s']}"
    return f"{show_count(_whole(result.tokens_per_s))} {words['tokens_per_s']}"


def _whole(rate: float) -> float:
    """Return a rate without its meaningless decimals."""
    return round(rate) if rate >= 100 else rate


def _consumption(result: PlanResult, words: Words) -> Iterator[str]:
    if result.energy_per_step is None:
        yield words["energy_unknown"]
    else:
        yield f"{words['energy_per_step']} {show_energy(result.energy_per_step)}"
    if result.cost_per_hour is None:
        yield words["price_unknown"]
    else:
        yield f"{show_money(result.cost_per_hour)}{words['per_hour']}"


def _run(result: PlanResult, words: Words) -> Text:
    run, step = result.run, result.time.root
    if run is None:
        return Text()
    low, high = (run.steps * bound for bound in (step.low, step.high))
    text = Text(f"{words['run']} {_tokens(run.tokens)} tokens: ")
    text.append(show_time(run.seconds), style="bold")
    text.append(f" ({show_time(low)} – {show_time(high)})")
    text.append(f", {show_count(round(run.steps))} {words['steps']}")
    text.append(f", {words['price_unknown'] if run.cost is None else show_money(run.cost)}")
    text.append(f", {words['energy_unknown'] if run.energy is None else show_energy(run.energy)}")
    return text


def _tokens(number: float) -> str:
    """Return a count of tokens as it is spoken of: billions are B, not G."""
    return show_count(number).replace(" ", "").replace("G", "B")


def _layout(answer: PlanAnswer, words: Words) -> RenderableType:
    counts = {"searched": f"{answer.searched:,}", "fitting": f"{answer.fitting:,}"}
    effort = words["given"] if answer.given else words["searched"].format(**counts)
    choices = " · ".join(layout(answer.plans[0].plan, words))
    line = Text(f"{words['plan']} {choices}")
    line.append(f" ({effort})", style="dim")
    return line


def _breakdown(result: PlanResult, words: Words) -> RenderableType:
    step = result.time.root
    lines = [
        Bar(words[part], seconds / step.value, show_time(seconds), GROUPS[part])
        for part, seconds in by_part(step, PARTS).items()
        if seconds > 0
    ]
    return bars(sorted(lines, key=lambda line: -line.share))


def _reasons(result: PlanResult, language: Language) -> RenderableType:
    words = table_of(language)
    limits = [Text(phrase(line, language)) for line in result.limited_by]
    tables = [labelled(words["limited_by"], limits)]
    if chosen := " · ".join(_chosen(result, words)):
        tables.insert(0, labelled(words["collectives"], [Text(chosen)]))
    helpful = [lever for lever in result.levers if lever.effect <= -_LEVERS_FROM]
    if helpful:
        lines = [_lever(lever, language) for lever in helpful[:_LEVERS_SHOWN]]
        tables.append(labelled(words["would_help"], lines))
    return Group(*tables)


def _chosen(result: PlanResult, words: Words) -> Iterator[str]:
    """Yield a part of the step and its algorithms, where the library has several to choose from."""
    found: dict[str, dict[str, str]] = {}
    for one in result.collectives:
        if one.algorithm not in _ONLY_WAY:
            by = words.get(f"in_{one.adder}".replace(" ", "_"))
            known = found.setdefault(one.kind, {})
            known[one.algorithm] = f" ({by})" if by else known.get(one.algorithm, "")
    for part, algorithms in found.items():
        yield f"{words[part]} {', '.join(name + by for name, by in algorithms.items())}"


def _lever(lever: Lever, language: Language) -> Text:
    words = table_of(language)
    line = Text(f"{100 * lever.effect:+6.1f} %  {phrase(lever.name, language)} {lever.change}")
    if lever.fits != "yes":
        remark = words["would_not_fit" if lever.fits == "no" else "would_be_at_limit"]
        line.append(f" ({remark})", style=_FITS_STYLE[lever.fits])
    return line


def _alternatives(plans: tuple[PlanResult, ...], words: Words) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column(words["step"], justify="right", no_wrap=True)
    table.add_column("MFU", justify="right", no_wrap=True)
    table.add_column(words["memory"], justify="right", no_wrap=True)
    table.add_column(words["differs"], overflow="fold")
    choices = [list(layout(result.plan, words)) for result in plans]
    shared = set(choices[0]).intersection(*choices[1:])
    for number, (result, chosen) in enumerate(zip(plans, choices, strict=True), 1):
        table.add_row(
            str(number),
            show_time(result.time.root.value),
            show_percent(result.mfu),
            Text(show_bytes(result.memory.root.value), style=_FITS_STYLE[result.fits]),
            " · ".join(choice for choice in chosen if choice not in shared),
        )
    return Group(Text(words["alternatives"], style="bold"), table)


def _next(result: PlanResult, asked: str) -> list[str]:
    parts = by_part(result.time.root, PARTS)
    largest = max((part for part in parts if part != "compute"), key=parts.__getitem__)
    scale = [] if asked.startswith("--from ") else [f"artery scale {asked}"]
    return [
        f"artery explain {asked} step.{largest}",
        *scale,  # it prices other counts of chips, so that it takes no saved plan
        f"artery plan {asked} --json",
    ]
