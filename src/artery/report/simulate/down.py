"""Renders what is down in a simulated network, whatever is played on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from artery.answers.simulate.down import Down

_NAMED: Final = 3
"""Links and switches that are named on the terminal; the document has all."""

Words = Mapping[str, str]


def down_payload(down: Down | None) -> Mapping[str, object] | None:
    """Return the key ``down`` of ``artery.simulate/1``."""
    if down is None:
        return None
    return {
        "links": down.links,
        "of": down.of,
        "drawn_from": down.drawn_from,
        "link_names": down.names,
        "switches": down.switches,
        "switches_are_leaves": down.leaves,
    }


def down_lines(down: Down, word: Words) -> Iterable[str]:
    """Yield how many links and which switches are down, the first of them by name."""
    if down.links:
        key = {"between switches": "down_between", "all links": "down_all", "by name": "down_named"}
        yield word[key[down.drawn_from]].format(
            count=f"{down.links:,}", of=f"{down.of:,}", names=_few(down.names, word)
        )
    if down.switches:
        names = _few(down.switches, word)
        yield word["down_leaves" if down.leaves else "down_switches"].format(names=names)


def _few(names: Sequence[str], word: Words) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:_NAMED])
    more = len(names[_NAMED:])
    return f"{shown}, {word['down_more'].format(count=f'{more:,}')}" if more else shown
