"""Agents and their supervisor: they start workers, notice what goes wrong, and act on it.

``channel``: JSON lines between processes. ``agent``: one host's processes. ``hosts``: the agents as
the supervisor has them. ``control``: the supervisor, which drives the recovery machine.
Nothing here imports torch but an agent that keeps workers warm.
"""
