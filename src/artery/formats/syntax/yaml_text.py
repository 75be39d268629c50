"""YAML from strangers: several documents, limits on size, depth and what aliases unfold to."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from artery.errors import InputError, Problem
from artery.formats.text import Text

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

LARGEST: Final = 2 * 2**20
"""Assumed: characters of YAML; files written by hand have some kilobytes."""

MOST_VALUES: Final = 500_000
"""Assumed: values after aliases are unfolded; an alias bomb has billions."""

DEEPEST: Final = 40

_BRACKET: Final = re.compile(r"[\[\]{}]")


def yaml_documents(text: Text) -> list[Any]:
    """Return every document of ``text``, dates as strings.

    Raises ``InputError`` with the line for what is no YAML, too large or too deep.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text.content) > LARGEST:
        raise _refused(text, None, "a larger file", f"at most {LARGEST // 2**20} MiB of YAML")
    if _brackets(text.content) > DEEPEST:
        raise _refused(text, None, "brackets too deep", f"at most {DEEPEST} levels")
    try:
        loaded = list(YAML(typ="safe", pure=True).load_all(text.content))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else None
        raise _refused(text, line, str(error.problem), "must be YAML") from None
    except (YAMLError, ValueError, RecursionError, TypeError, AttributeError, KeyError,
            IndexError, AssertionError, NotImplementedError) as error:  # fmt: skip
        # ruamel.yaml raises these too on damaged tags, numbers and directives
        found = f"damaged YAML ({type(error).__name__})"
        raise _refused(text, None, found, "must be YAML") from None
    left = [MOST_VALUES]
    return [_plain(one, text, left, 0) for one in loaded if one is not None]


class Lines:
    """Where values stand in YAML that :func:`yaml_documents` has read."""

    def __init__(self, text: Text) -> None:
        self._text = text

    @cached_property
    def _first(self) -> Node | None:
        """The first table, with marks."""
        from ruamel.yaml import YAML
        from ruamel.yaml.nodes import MappingNode

        documents = YAML(typ="safe", pure=True).compose_all(self._text.content)
        return next((one for one in documents if isinstance(one, MappingNode)), None)

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line, from 1, on which the value at ``path`` begins, as far as it is there.

        ``path`` are keys, and places in lists, from the first table down.
        """
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        node, line = self._first, None
        for part in path:
            found = []
            if isinstance(node, MappingNode):
                found = [pair for pair in node.value if pair[0].value == part]
            elif isinstance(node, SequenceNode) and isinstance(part, int):
                found = [(one, one) for one in node.value[part : part + 1]]
            if not found:
                break
            line, node = found[-1][0].start_mark.line + 1, found[-1][1]
        return line


def _brackets(content: str) -> int:
    """Return how deep brackets stand inside each other, those in strings counted too."""
    depth = deepest = 0
    for mark in _BRACKET.findall(content):
        depth = depth + 1 if mark in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _plain(value: object, text: Text, left: list[int], depth: int) -> Any:  # noqa: ANN401
    """Return ``value`` with string keys and JSON values only."""
    left[0] -= 1
    if left[0] < 0 or depth > DEEPEST:
        found = "endless nesting" if depth > DEEPEST else "aliases that unfold to too much"
        raise _refused(text, None, found, f"at most {DEEPEST} levels, {MOST_VALUES:,} values")
    if isinstance(value, dict):
        return {str(key): _plain(one, text, left, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(one, text, left, depth + 1) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)


def _refused(text: Text, line: int | None, found: str, rule: str) -> InputError:
    fix = "send the file as it is used"
    return InputError(Problem(file=text.path, line=line, found=found, rule=rule, fix=fix))
