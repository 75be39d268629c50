"""What to type for a system that was asked for once."""

from __future__ import annotations

from shlex import quote

from artery.core.system import System


def asked_on(system: System) -> str:
    """Return ``--on`` with the system and its chips, and the values that were laid over it."""
    name = system.name if system.path is None else f"{system.path}:{system.chips}"
    spec = name if ":" in name else f"{name}:{system.chips}"
    words = [f"--on {quote(spec)}"]
    for text in system.overrides:
        path, _, value = text.partition("=")
        words.append(f"--node {quote(value)}" if path == "node" else f"--set {quote(text)}")
    return " ".join(words)
