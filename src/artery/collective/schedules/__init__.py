"""Collectives as schedules: who sends which chunk to whom, step by step.

One file per algorithm builds a :class:`artery.core.schedule.Schedule` for any legal number of
ranks; the closed forms beside this room price the same algorithms by formula. A file takes part
by decorating its builder with :func:`artery.collective.schedules.registry.builds`.

Two of the usual identities keep the files short. Played backwards, an all-gather in which every
rank receives every chunk once is a reduce-scatter, and a broadcast is a reduce; a
reduce-scatter followed by an all-gather is an all-reduce.
"""

from __future__ import annotations

from artery.collective.schedules.registry import names, schedule, shapes
from artery.collective.schedules.sizes import Messages, chunk_bytes, messages

__all__ = ["Messages", "chunk_bytes", "messages", "names", "schedule", "shapes"]
