"""The same readers under a fuzzer that follows coverage: ``python -m checks.guided [--inputs N]``.

It needs ``atheris`` (Google; libFuzzer for Python), which the tests' environment has on Linux. The
fixtures are the first inputs, and every format that claims an input reads it. Further flags are
libFuzzer's (``-seed=1``). It stops at the first input that does not end in a reading or an
``InputError``, or takes more than two seconds of processor time, and writes it to ``--found`` as
``crash-...``; it returns 1 then.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

LARGEST: Final = 16 * 1024
"""Bytes of an input."""

INPUTS: Final = 100_000

HANGS: Final = 60
"""Assumed: seconds by the clock after which an input hangs, however busy the machine is."""


def main() -> int:
    """Fuzz that many inputs; return 1 if one failed, 2 where atheris is missing."""
    parser = argparse.ArgumentParser(prog="python -m checks.guided", description=__doc__)
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--found", default=".", metavar="FOLDER", help="for inputs that fail")
    parser.add_argument("--corpus", help=argparse.SUPPRESS)
    asked, flags = parser.parse_known_args()
    if asked.corpus is not None:
        _fuzz(asked.inputs, Path(asked.corpus), flags)
    if find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 2
    from checks.fuzz import seeds

    with tempfile.TemporaryDirectory(prefix="artery-guided-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds()):
            if len(seed.data) <= LARGEST:
                (corpus / str(number)).write_bytes(seed.data)
        # libFuzzer ends its process, and would leave the folder.
        again = [sys.executable, "-m", "checks.guided", f"--inputs={asked.inputs}"]
        again += [f"--corpus={corpus}", f"-artifact_prefix={asked.found}/", *flags]
        return int(subprocess.run(again, check=False).returncode != 0)


def _fuzz(inputs: int, corpus: Path, flags: Sequence[str]) -> None:
    """Fuzz from the inputs in ``corpus``; does not return."""
    atheris: Any = import_module("atheris")
    # What is loaded from here on reports which of its lines run.
    with atheris.instrument_imports(include=["artery.formats"]):
        from artery.formats.recognise import formats
        from checks.fuzz import Score, limited, lines, play

        formats()
    score = Score()
    file = corpus.parent / "input"

    def one(data: bytes) -> None:
        file.write_bytes(data)
        score.inputs += 1
        with limited():
            play(file, score)
        if score.inputs % INPUTS == 0 or score.inputs == inputs:
            print("\n".join(lines(score)), flush=True)

    fixed = [f"-runs={inputs}", f"-max_len={LARGEST}", f"-timeout={HANGS}"]
    atheris.Setup([sys.argv[0], str(corpus), *fixed, *flags], one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
