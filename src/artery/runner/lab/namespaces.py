"""Network namespaces without names: made, entered and given orders through open files."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_NEW_NETWORK: Final = 0x40000000
"""``CLONE_NEWNET`` (linux/sched.h)."""

_OWN: Final = "/proc/thread-self/ns/net"

PATIENCE: Final = 60.0
"""Seconds that one batch of ``ip`` or ``tc`` may take (assumed)."""


class RefusedError(RuntimeError):
    """The kernel or one of its tools refused; the message is theirs."""


def new() -> int:
    """Return a new network namespace as an open file; the process stays where it is."""
    with _back_home():
        _call("unshare", _NEW_NETWORK)
        return os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """Be in a namespace, so that sockets, settings and children are made there."""
    with _back_home():
        _call("setns", namespace, _NEW_NETWORK)
        yield


def ip(lines: Iterable[str]) -> None:
    """Give ``ip`` a batch of lines in the present namespace; raises :class:`RefusedError`."""
    _batch("ip", lines)


def tc(lines: Iterable[str]) -> None:
    """Give ``tc`` a batch of lines in the present namespace; raises :class:`RefusedError`."""
    _batch("tc", lines)


def settle(settings: Mapping[str, str]) -> None:
    """Write settings below ``/proc/sys`` of the present namespace."""
    for name, value in settings.items():
        try:
            Path("/proc/sys", name).write_text(value, encoding="ascii")
        except OSError as error:
            raise RefusedError(f"/proc/sys/{name} = {value}: {error.strerror}") from None


def _batch(tool: str, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if not text:
        return
    done = subprocess.run(
        [tool, "-batch", "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        raise RefusedError(f"{tool}: {_first(done.stderr, text)}")


def _first(said: str, text: str) -> str:
    """Return the tool's first complaint and, if it names a line of the batch, that line."""
    complaints = [line.strip() for line in said.splitlines() if line.strip()]
    number = said.rpartition("-:")[2].strip()
    lines = text.splitlines()
    at = (
        f' at "{lines[int(number) - 1]}"'
        if number.isdecimal() and int(number) <= len(lines)
        else ""
    )
    return (complaints[0] if complaints else "it failed without a word") + at


@contextmanager
def _back_home() -> Iterator[None]:
    """Return to the namespace that the process was in."""
    home = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        try:
            _call("setns", home, _NEW_NETWORK)
        finally:
            os.close(home)


def _call(name: str, *arguments: int) -> None:
    """Call a function of the C library; raises :class:`RefusedError`."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*map(ctypes.c_int, arguments)) != 0:
        raise RefusedError(f"{name}: {os.strerror(ctypes.get_errno())}")
