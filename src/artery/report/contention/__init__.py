"""A simulated network on the terminal: where the closed form was off, and who fights for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from artery.answers.plan.contention import NOTABLE, Exchange, Network, Spread
from artery.report.contention.words import CONTENTION_WORDS
from artery.report.drawing.terminal import labelled
from artery.report.words import Language
from artery.units import show_bytes, show_percent, show_time

_SHOWN = 4
"""Collectives that are told, the ones that matter most."""

_MEMBERS = 4
"""Ranks of the slowest group that are named."""


def contention_lines(network: Network, language: Language) -> RenderableType:
    """Return what playing all groups of a step showed, as lines under one label."""
    words = CONTENTION_WORDS[language]
    return labelled(words["label"], [Text(line) for line in _lines(network, language)])


def _lines(network: Network, language: Language) -> Iterator[str]:
    words = CONTENTION_WORDS[language]
    yield words["played"].format(
        routing=words[network.routing].format(ways=network.queue_pairs),
        step=show_time(network.step),
        closed=show_time(network.closed),
        off=_signed(network.step / network.closed - 1.0),
    )
    if network.spread is not None:
        yield _seeds(network.spread, words)
    if network.beside:
        kinds = words["and"].join(words[kind] for kind in network.beside)
        yield words["beside"].format(kinds=kinds)
    notable = network.notable
    played = [each for each in network.exchanges if each.played]
    if not notable and played:
        yield words["close"].format(share=show_percent(max(abs(each.off) for each in played)))
    for exchange in notable[:_SHOWN]:
        yield from _exchange(exchange, language)
    refused = {(one.kind, one.collective): one.refused for one in network.exchanges if one.refused}
    for (kind, collective), why in refused.items():
        yield words["unplayed"].format(kind=words[kind], collective=collective, why=why)


def _seeds(spread: Spread, words: Mapping[str, str]) -> str:
    """What the seeds say; that they all say one thing, where it is so."""
    if spread.seeds == 1:
        return words["undrawn"]
    return words["seeds_whole" if spread.whole else "seeds"].format(
        seeds=spread.seeds,
        low=show_time(spread.step[0]),
        high=show_time(spread.step[2]),
        least=show_time(spread.communication[0]),
        most=show_time(spread.communication[2]),
    )


def _exchange(exchange: Exchange, language: Language) -> Iterator[str]:
    words = CONTENTION_WORDS[language]
    yield words["off"].format(
        kind=words[exchange.kind],
        collective=exchange.collective,
        size=show_bytes(exchange.size),
        groups=words["one_group" if exchange.groups == 1 else "groups"].format(
            groups=f"{exchange.groups:,}", ranks=f"{exchange.ranks:,}"
        ),
        seconds=show_time(exchange.seconds),
        closed=show_time(exchange.closed),
        off=_signed(exchange.off),
    )
    if exchange.seconds > exchange.alone * (1.0 + NOTABLE):
        yield "  " + words["alone"].format(seconds=show_time(exchange.alone))
    if exchange.uneven:
        yield "  " + words["slowest"].format(
            group=exchange.group,
            members=_members(exchange, language),
            median=show_time(exchange.median),
        )
    if exchange.link is not None and exchange.off > NOTABLE:
        yield "  " + words["link"].format(
            link=exchange.link.name,
            load=show_percent(exchange.link.load),
            crossing=words["and"].join(
                words["crossing_one" if count == 1 else "crossing"].format(
                    count=f"{count:,}", kind=words[kind]
                )
                for kind, count in exchange.link.groups
            ),
        )


def _members(exchange: Exchange, language: Language) -> str:
    words = CONTENTION_WORDS[language]
    first = words["and"].join(str(rank) for rank in exchange.slowest[:_MEMBERS])
    if len(exchange.slowest) <= _MEMBERS:
        return first
    return words["more"].format(first=first, count=f"{len(exchange.slowest):,}")


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"
