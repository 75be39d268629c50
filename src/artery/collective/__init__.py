"""Collectives in closed form: what a group of chips pays to exchange data.

One file per family of algorithms says how many steps it takes and how many bytes it puts on
the wires; ``placement`` says which chips of a group share a node, ``groups`` how fast the
links are that the group really uses, ``library`` what a communication library adds (start-up,
cost of a step, share of the link it reaches) and ``menu`` which algorithms it would choose
from. :class:`ClosedForm` puts them together and is a :class:`artery.core.pricing.Pricer`.
"""

from __future__ import annotations

from artery.collective.bandwidth import bus_factor, wire_factor
from artery.collective.closed_form import ClosedForm, Quote
from artery.collective.library import Library

__all__ = ["ClosedForm", "Library", "Quote", "bus_factor", "wire_factor"]
