"""``python -m artery``, and ``artery``, are the command line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which would be imported before Ctrl-C is heard

if TYPE_CHECKING:
    from types import FrameType
    from typing import Final

_INTERRUPTED: Final = 130
_MOMENT: Final = 0.01
"""Seconds until a Ctrl-C that got lost is heard again (assumed)."""


class Interrupts:
    """Ctrl-C from the first line of artery to the last; called as the handler of SIGINT.

    An exception that is raised inside an import may come out as another one, or be swallowed where
    Python ignores all exceptions. So ``came`` is kept, whatever becomes of the exception. Until
    there is a command line (``begun``) nothing has to be cleaned up, and the process ends at once.
    """

    def __init__(self) -> None:
        self.came = self.begun = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        """Hear a signal."""
        self.came = True
        if not self.begun:
            _say()
            os._exit(_INTERRUPTED)
        raise KeyboardInterrupt

    def ignored(self, said: sys.UnraisableHookArgs) -> None:
        """Raise a swallowed interrupt again a moment later; as ``sys.unraisablehook``."""
        if not (said.exc_type and issubclass(said.exc_type, KeyboardInterrupt)):
            sys.__unraisablehook__(said)
            return
        import signal
        import threading

        again = threading.Timer(_MOMENT, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()

    def ended(self, code: int) -> int:
        """Return the exit code; a signal that comes from now on just ends the process."""
        import signal

        if signal.getsignal(signal.SIGINT) in (self, signal.default_int_handler):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        return _INTERRUPTED if self.came else code


def run() -> int:
    """Run the command line and return its exit code: 130 after Ctrl-C, whenever that comes."""
    interrupts = Interrupts()
    try:
        return interrupts.ended(_run(interrupts))
    except KeyboardInterrupt:
        _say()
        exec("")  # noqa: S102 - see artery.cli.endings
        return interrupts.ended(_INTERRUPTED)


def _run(interrupts: Interrupts) -> int:
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, interrupts)
        sys.unraisablehook = interrupts.ignored
    from artery.cli import main

    interrupts.begun = True
    return main(interrupted=lambda: interrupts.came)


def _say() -> None:
    try:
        os.write(2, b"interrupted\n")
    except OSError:  # nobody listens
        return


if __name__ == "__main__":
    sys.exit(run())
