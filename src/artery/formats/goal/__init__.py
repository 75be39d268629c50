"""GOAL, the Group Operation Assembly Language of LogGOPSim and ATLAHS.

Hoefler, Siebert and Lumsdaine, "Group operation assembly language: a flexible way to express
collective communication", ICPP 2009; the grammar is that of LogGOPSim's ``txt2bin``. A rank is a
block of sends, receives and computation in nanoseconds, with the dependencies between them.
"""

from __future__ import annotations

from artery.formats.goal.reader import FORMAT, switches_of, task_graph
from artery.formats.goal.writer import goal

__all__ = ["FORMAT", "goal", "switches_of", "task_graph"]
