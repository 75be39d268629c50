"""``python -m accuracy``: score every row and write ``docs/accuracy.md`` in both languages."""

from __future__ import annotations

import sys
from pathlib import Path

from accuracy.gates import gates
from accuracy.page import page
from accuracy.report import build
from accuracy.words import WORDS

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> int:
    """Write both pages, print the thresholds; 1 if one is broken."""
    report = build()
    (DOCS / "accuracy.md").write_text(page(report, "en"), "utf-8")
    (DOCS / "accuracy.zh.md").write_text(page(report, "zh"), "utf-8")
    verdicts = gates(report)
    for gate in verdicts:
        mark = "ok  " if gate.held else "FAIL"
        print(f"{mark} {WORDS['en'][gate.name]}: {gate.found} ({gate.threshold})")
    return 0 if all(gate.held for gate in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
