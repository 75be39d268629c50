"""What to type for a system that was asked for once."""

from __future__ import annotations

from shlex import quote

from artery.answers.systems import system_of
from artery.core.system import System
from artery.errors import InputError


def asked_on(system: System) -> str:
    """Return ``--on`` with the system and its chips, and the values that were laid over it."""
    name = system.name if system.path is None else f"{system.path}:{system.chips}"
    spec = name if ":" in name else f"{name}:{system.chips}"
    words = [f"--on {quote(spec)}"]
    for text in system.overrides:
        path, _, value = text.partition("=")
        words.append(f"--node {quote(value)}" if path == "node" else f"--set {quote(text)}")
    return " ".join(words)


def with_more(system: System) -> System | None:
    """Return the system with eight chips; ``None`` where it has no more than one."""
    name = system.path or system.name.rpartition(":")[0] or system.name
    try:
        return system_of(f"{name}:8", system.overrides)
    except InputError:
        return None
