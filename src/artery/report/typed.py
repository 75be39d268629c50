"""What to type for a system that was asked for once."""

from __future__ import annotations

from shlex import quote

from artery.answers.systems import system_of, without_size
from artery.core.system import System
from artery.errors import InputError


def asked_on(system: System) -> str:
    """Return ``--on`` with the system as it was asked, and the values that were laid over it.

    A torus of so many chips may have another shape than the one that was named.
    """
    words = [f"--on {quote(system.asked or f'{system.name}:{system.chips}')}"]
    for text in system.overrides:
        path, _, value = text.partition("=")
        words.append(f"--node {quote(value)}" if path == "node" else f"--set {quote(text)}")
    return " ".join(words)


def with_more(system: System) -> System | None:
    """Return the system with eight chips; ``None`` where it has no more than one."""
    name = without_size(system.asked or system.name)
    try:
        return system_of(f"{name}:8", system.overrides)
    except InputError:
        return None
