"""Keeps files and functions small: ``python -m checks.sizes``.

A file over 400 lines is pointed out, one over 600 fails; a function over 80 lines fails.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOTS: Final = ("src", "tests", "checks", "docs_build", "accuracy", "benchmarks")
SOFT_FILE: Final = 400
HARD_FILE: Final = 600
HARD_FUNCTION: Final = 80


def too_long(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield what is too long in one file, and whether it fails the check."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > SOFT_FILE:
        yield f"{path}: {lines} lines (soft limit {SOFT_FILE}, hard {HARD_FILE})", lines > HARD_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > HARD_FUNCTION:
                place = f"{path}:{node.lineno}: {node.name}"
                yield f"{place}: {length} lines (limit {HARD_FUNCTION})", True


def main() -> int:
    """Print what is too long; return 1 if anything is over a hard limit."""
    folders = [Path(root) for root in ROOTS if Path(root).is_dir()]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    found = [finding for file in files for finding in too_long(file)]
    for text, fails in found:
        print("error  " if fails else "note   ", text)
    print(f"sizes: {len(files)} files looked at")
    return int(any(fails for _, fails in found))


if __name__ == "__main__":
    sys.exit(main())
