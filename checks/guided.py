"""The same readers under a fuzzer that follows coverage: ``python -m checks.guided [-runs=N]``.

It needs ``pip install atheris`` (Google; libFuzzer for Python), which is no dependency of the
project. Flags are libFuzzer's. The fixtures are the first inputs; what is found is written to the
folder as ``crash-...``.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from artery.errors import InputError

LARGEST: Final = 16 * 1024
"""Bytes of an input."""


def main() -> int:
    """Fuzz until the flags say to stop; return 2 where atheris is missing."""
    try:
        atheris: Any = import_module("atheris")
    except ImportError:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["artery.formats"]):
        from artery.formats.recognise import SURE_ENOUGH, formats
        from artery.formats.text import Text, clean, decoded
        from checks.fuzz import checked, seeds

        every = formats()

    def one(data: bytes) -> None:
        with suppress(InputError):
            text = Text("guided", clean(decoded("guided", data)))
            for format_ in every:
                if format_.recognise(text) >= SURE_ENOUGH and format_.stream is None:
                    with suppress(InputError):
                        checked(format_.read(text))

    with tempfile.TemporaryDirectory(prefix="artery-guided-") as folder:
        for number, seed in enumerate(seeds()):
            if len(seed.data) <= LARGEST:
                (Path(folder) / str(number)).write_bytes(seed.data)
        atheris.Setup(
            [sys.argv[0], folder, f"-max_len={LARGEST}", "-timeout=2", *sys.argv[1:]], one
        )
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
