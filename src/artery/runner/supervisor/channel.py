"""JSON objects, one a line, over a socket between two processes of a run."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

_PIECE = 2**16


class Channel:
    """One end. Sending waits no longer than ``patience`` seconds; reading never waits.

    ``open`` turns false when the other end is gone.
    """

    def __init__(self, end: socket.socket, patience: float = 5.0) -> None:
        self._end = end
        self._end.settimeout(patience)
        self._rest = b""
        self._lock = threading.Lock()
        self.open = True
        self.quiet = False

    def fileno(self) -> int:
        """Return the file number, for a selector; -1 once closed."""
        return self._end.fileno()

    def here(self) -> str:
        """Return the address of this end, empty if it has none."""
        try:
            name = self._end.getsockname()
        except OSError:
            return ""
        return str(name[0]) if isinstance(name, tuple) else ""

    def send(self, kind: str, **fields: object) -> bool:
        """Send one object; false if the other end is gone or takes nothing."""
        line = (json.dumps({"kind": kind, **fields}) + "\n").encode()
        with self._lock:
            try:
                self._end.sendall(line)
            except OSError:
                self.open = False
        return self.open

    def receive(self) -> Iterator[dict[str, Any]]:
        """Yield what has come; call it when the socket is readable."""
        try:
            piece = self._end.recv(_PIECE)
        except (TimeoutError, BlockingIOError):
            self.quiet = True
            return
        except OSError:
            piece = b""
        if not piece:
            self.open = False
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            message: dict[str, Any] = json.loads(line)
            yield message

    def rest(self) -> Iterator[dict[str, Any]]:
        """Yield all that has come so far, waiting for nothing; the last use of a channel."""
        self._end.settimeout(0.0)
        self.quiet = False
        while self.open and not self.quiet:
            yield from self.receive()

    def close(self) -> None:
        """Close this end."""
        self.open = False
        self._end.close()
