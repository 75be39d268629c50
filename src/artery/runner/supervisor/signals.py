"""Signals that tell a run to save and go: caught once, and given back."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Told:
    """The signals that have come; its file becomes readable when one does."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._wake, self._notice = socket.socketpair()
        self._wake.setblocking(False)
        self._notice.setblocking(False)

    def fileno(self) -> int:
        """Return the file number, for a selector."""
        return self._wake.fileno()

    def hear(self, number: int, _: object = None) -> None:
        """Note a signal; the second Ctrl-C ends everything at once."""
        if number == signal.SIGINT and number in self.numbers:
            raise KeyboardInterrupt
        self.numbers.append(number)
        with suppress(OSError):
            self._notice.send(b"!")

    def quiet(self) -> None:
        """Empty the file."""
        with suppress(OSError):
            self._wake.recv(4096)

    def close(self) -> None:
        """Close the file."""
        self._wake.close()
        self._notice.close()

    @contextmanager
    def listening(self, names: tuple[str, ...]) -> Iterator[None]:
        """Catch these signals inside; only the main thread can, any other hears none."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.Signals[name] for name in names]
        old = {number: signal.signal(number, self.hear) for number in numbers}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
