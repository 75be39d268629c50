"""Finds what stands twice: ``python -m checks.duplicates FOLDER...``.

The comparison is pylint's, by its settings in pyproject.toml; only the reading of the files is
ours. Pylint works out the type of every dataclass and array before it compares lines, which takes
most of a minute here and changes no line.
"""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import astroid  # type: ignore[import-untyped]
from pylint.checkers.symilar import Symilar

SETTINGS: Final = Path(__file__).parent.parent / "pyproject.toml"


class Duplicates(Symilar):
    """Files to compare, and how many passages were found in more than one place."""

    found = 0

    def add(self, path: Path) -> None:
        """Have a file compared with those added before and after it."""
        text = path.read_text(encoding="utf-8")
        tree = astroid.parse(text, apply_transforms=False)
        self.append_stream(str(path), io.StringIO(text), tree=tree)

    def _display_sims(self, similarities: list[tuple[int, set[Any]]]) -> None:
        self.found = len(similarities)
        super()._display_sims(similarities)


def settings() -> dict[str, Any]:
    """Return pylint's settings of the comparison, in the words of its class."""
    asked = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["tool"]["pylint"]["similarities"]
    least = asked.pop("min-similarity-lines")
    return {"min_lines": least, **{name.replace("-", "_"): value for name, value in asked.items()}}


def main(folders: list[str]) -> int:
    """Print what stands twice under the folders; return 1 if anything does."""
    duplicates = Duplicates(**settings())
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            duplicates.add(path)
    duplicates.run()
    return int(duplicates.found > 0)


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("which folders? for example: python -m checks.duplicates src checks")
    sys.exit(main(sys.argv[1:]))
