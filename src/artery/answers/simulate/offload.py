"""Who adds and drives a collective: its chips, switches, or network cards (``--offload``).

A card that adds takes two things off the chips, both between nodes only (inside them chips, or
their switches, are nearer): what comes from another node is added on the card, at the rate of its
memory, and the next message of the collective is sent by the card itself, without the library's
thread on the host. What the library takes to launch stays. What a card takes for either is in the
catalog and assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from artery.catalog import names, nic
from artery.collective import Library
from artery.collective.algorithms import ALGORITHMS
from artery.core.parts import Nic
from artery.errors import UnknownNameError, UsageError

KNOWN: Final = ("auto", "none", "switch")


@dataclass(frozen=True, slots=True)
class Offload:
    """``auto``: whoever the algorithm says; ``none``: chips; ``switch``; or a ``card`` by name."""

    name: str = "auto"
    card: Nic | None = None

    def allows(self, algorithm: str) -> bool:
        """Whether the algorithm adds where it is asked to."""
        found = ALGORITHMS.get(algorithm)
        in_switch = found is not None and found.by_switches
        return self.name == "auto" or in_switch == (self.name == "switch")

    def driven(self, library: Library) -> Library:
        """Return the library with steps between nodes that the card takes."""
        if self.card is None or self.card.step is None:
            return library
        step = self.card.step
        return replace(
            library,
            networks={
                name: replace(one, hop=dict.fromkeys(one.hop, step))
                for name, one in library.networks.items()
            },
        )

    def refuse(self, algorithm: str) -> None:
        """Raise ``UsageError`` for an algorithm that does not add where it is asked to."""
        if self.allows(algorithm):
            return
        where = "by switches" if self.name == "switch" else "by chips or cards"
        raise UsageError(
            f"--offload {self.name} has sums made {where}, and {algorithm} is none such; "
            "leave --algorithm or --offload out"
        )


def offload_of(text: str) -> Offload:
    """Return what ``text`` says: ``auto``, ``none``, ``switch``, or a network card that adds.

    Raises ``UnknownNameError``, and ``UsageError`` for a card that does not add.
    """
    if text in KNOWN:
        return Offload(text)
    cards = {name: nic(name) for name in names("nics")}
    able = [name for name, card in cards.items() if card.adding is not None]
    if text not in cards:
        raise UnknownNameError("offload", text, (*KNOWN, *able))
    if text not in able:
        raise UsageError(
            f"{text} adds nothing of what it receives; cards that do: {', '.join(able)}"
        )
    return Offload(text, cards[text])
