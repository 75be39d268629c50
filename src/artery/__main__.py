"""``python -m artery``, and ``artery``, are the command line."""

from __future__ import annotations

import os
import sys


def run() -> int:
    """Run the command line; Ctrl-C while it is still being imported ends with 130 as well."""
    try:
        from artery.cli import main

        return main()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        exec("")  # noqa: S102 - see artery.cli.endings
        return 130


if __name__ == "__main__":
    sys.exit(run())
