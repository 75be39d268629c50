"""Renders what ``simulate`` found on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.simulate.result import SimulateAnswer
from artery.report.drawing.terminal import commands, indented
from artery.report.said import refused, warned
from artery.report.simulate.down import down_lines
from artery.report.simulate.next import next_commands
from artery.report.simulate.words import simulate_words
from artery.report.words import Language

_WORTH_SAYING = 0.02
"""Assumed: less than 2 % is within what the engines err."""

_MANY_STEPS = 1000
"""Assumed: so many steps are what the library's part of the time is made of."""

TABLE_WIDTH = 116
"""Cells that the table of links takes; it is never cut."""

Words = Mapping[str, str]


def simulate_drawing(answer: SimulateAnswer, language: Language) -> RenderableType:
    """Return the time, the closed form beside it, the links, and what would help."""
    word = simulate_words(language)
    title = word["title"].format(
        collective=answer.collective,
        size=units.show_bytes(answer.size),
        system=answer.system.name,
        ranks=f"{answer.ranks:,}",
        algorithm=answer.algorithm,
        routing=answer.request["routing"],
    )
    parts: list[RenderableType] = [Text(title, style="bold"), Text("")]
    parts.append(_facts(answer, language))
    if answer.links:
        parts += [Text(""), Text(word["links"], style="bold"), indented(_links(answer, word))]
    parts += [Text("")]
    parts += [Text(f"# {_note(answer, word[note])}")
              for note in answer.notes]  # fmt: skip
    parts += [Text(f"# {warning}", style="yellow") for warning in warned(answer.warnings, language)]
    parts.append(commands(word["next"], next_commands(answer)))
    return Group(*parts)


def _note(answer: SimulateAnswer, words: str) -> str:
    return words.format(
        error=units.show_percent(answer.error),
        played=units.show_time(answer.simulation.jobs[0]),
        transport=answer.request["transport"],
        library=answer.library,
    )


def _facts(answer: SimulateAnswer, language: Language) -> Table:
    """Return labels with their lines, all labels in one column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, lines in _lines(answer, language):
        for number, line in enumerate(lines):
            table.add_row(label if number == 0 else "", line)
    return table


def _lines(answer: SimulateAnswer, language: Language) -> Iterable[tuple[str, list[str]]]:
    """Yield labels with their lines."""
    word = simulate_words(language)
    time = units.show_time(answer.seconds)
    made = "network" if answer.protocol else "network_only"
    if answer.protocol and answer.steps >= _MANY_STEPS:
        made = "network_steps"
    network = word[made].format(
        network=units.show_time(answer.network),
        startup=units.show_time(answer.startup),
        library=answer.library,
        version=answer.version,
        protocol=answer.protocol,
        steps=f"{answer.steps:,}",
    )
    yield word["time"], [f"{time}   {word['busbw']} {answer.busbw / 1e9:.1f} GB/s", network]
    yield "", [_range(answer, word)]
    yield word["closed"], [_against_closed(answer, word)]
    if answer.down is not None:
        yield word["down"], list(down_lines(answer.down, word))
    flows = word["sampled_flows" if answer.engine == "sampled" else "flows"]
    engine = f"{word['engine_' + answer.engine]}: {word['why_' + answer.why]}"
    yield (
        word["engine"],
        [
            engine,
            flows.format(flows=f"{answer.flows:,}", events=f"{answer.events:,}"),
        ],
    )
    if answer.control != "none":
        yield word["buffers"], list(_held(answer, word))
    if answer.adding is not None:
        yield word["adding"], list(_adding(answer, word))
    if answer.finish:
        last = max(range(len(answer.finish)), key=answer.finish.__getitem__)
        yield "", [word["finish"].format(
            first=units.show_time(min(answer.finish)),
            last=units.show_time(answer.finish[last]), rank=last)]  # fmt: skip
    if answer.reliefs:
        yield word["relief"], _reliefs(answer, word)
    if answer.others:
        yield word["others"], [f"{one.name}: {units.show_time(one.seconds)}"
                               for one in answer.others]  # fmt: skip
    if answer.tried:
        yield word["tried"], [
            f"{one.algorithm}: " + (
                word["cannot"].format(reason=refused(one.reason, language))
                if one.seconds is None else units.show_time(one.seconds)
            )
            for one in answer.tried
        ]  # fmt: skip


def _held(answer: SimulateAnswer, word: Words) -> Iterable[str]:
    """Yield how full buffers stop senders, and whom they held up longest."""
    yield word["control_" + answer.control]
    if not answer.held:
        yield word["nobody_held"]
    for one in answer.held:
        share = units.show_percent(one.share)
        yield word["held"].format(name=one.name, time=units.show_time(one.seconds), share=share)


def _adding(answer: SimulateAnswer, word: Words) -> Iterable[str]:
    """Yield who adds at which rate, for how much of the run, and what a card does besides."""
    adding, card = answer.adding, answer.offload.card
    if adding is None:
        return
    share = adding.seconds / answer.network if answer.network else 0.0
    yield word["adds_card" if adding.card else "adds_chip"].format(
        name=answer.offload.name, rate=units.show_rate(adding.rate),
        time=units.show_time(adding.seconds), share=units.show_percent(share))  # fmt: skip
    if card is not None and card.step is not None:
        yield word["drives"].format(name=answer.offload.name, step=units.show_time(card.step))


def _range(answer: SimulateAnswer, word: Words) -> str:
    if answer.seeds > 1:
        return word["seeds_whole" if answer.whole else "seeds"].format(
            seeds=answer.seeds,
            low=units.show_time(answer.low),
            median=units.show_time(answer.median),
            high=units.show_time(answer.high),
        )
    if answer.engine == "sampled":
        low, high = units.show_time(answer.low), units.show_time(answer.high)
        band = "rounds_band" if "rounds" in answer.notes else "sampled_band"
        return word[band].format(low=low, high=high)
    waiting = {"slices", "slices_failing"} & {*answer.notes}
    band = "waiting_band" if waiting else "band"
    return word[band].format(error=units.show_percent(answer.error))


def _against_closed(answer: SimulateAnswer, word: Words) -> str:
    if answer.closed is None or not answer.closed.seconds:
        return word["no_closed"].format(algorithm=answer.algorithm)
    seconds = units.show_time(answer.closed.seconds)
    if answer.request["matrix"]:
        seconds = word["even"].format(seconds=seconds, size=units.show_bytes(answer.size))
    ratio = answer.seconds / answer.closed.seconds
    if abs(ratio - 1) < _WORTH_SAYING:
        return word["gap_same"].format(seconds=seconds)
    which, factor = ("slower", ratio) if ratio > 1 else ("faster", 1 / ratio)
    return word["gap"].format(seconds=seconds, gap=word[which].format(factor=f"{factor:.2f}"))


def _reliefs(answer: SimulateAnswer, word: Words) -> list[str]:
    helping = [one for one in answer.reliefs if one.gain > 1 + _WORTH_SAYING]
    if not helping:
        return [word["nothing_helps"]]
    return [word["relief_line"].format(kind=one.kind, gain=f"{one.gain:.2f}") for one in helping]


def _links(answer: SimulateAnswer, word: Words) -> Table:
    """Return the hottest links."""
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right", "right", "right", "left", "right"):
        table.add_column(justify=justify, no_wrap=True)
    names = ("link", "class", "load", "carried", "pairs", "crossed", "doubled")
    table.add_row(*(word[name] for name in names), style="dim")
    for link in answer.links:
        table.add_row(
            link.name,
            link.kind,
            units.show_percent(link.load),
            units.show_bytes(link.carried),
            str(link.crossers or ""),
            ", ".join(f"{one}->{other}" for one, other in link.pairs[:2]),
            "" if link.gain is None else f"{link.gain:.2f}x",
        )
    return table
