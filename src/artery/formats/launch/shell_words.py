"""The options in a shell script: variables put in, continued lines and arrays joined.

No shell is run. ``NAME=value``, ``${NAME}``, ``${NAME:-default}`` and ``$(( a * b ))`` of whole
numbers are understood; whatever else a variable may hold stays as it is written.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from artery.formats.reading import Ignored
from artery.formats.syntax.numerals import whole
from artery.formats.text import Text

_ASSIGNED: Final = re.compile(
    r"""(?m)^[ \t]*(?:export\s+|local\s+|readonly\s+)?"""
    r"""([A-Za-z_]\w{0,60})=("[^"\n]{0,4000}"|'[^'\n]{0,4000}'"""
    r"""|\$\(\([^()\n]{0,80}\)\)|\$\([^\n]{0,400}?\)[^\s;)]{0,80}(?=[\s;]|$)|`[^`\n]{0,400}`"""
    r"""|[^\s;#(]{0,4000})"""
)
_VARIABLE: Final = re.compile(r"\$\{(\w{1,60})(?::?[-=]([^{}$]{0,200}))?\}|\$(\w{1,60})")
_PRODUCT: Final = re.compile(r"\$\(\(\s*([\w\s*/+-]{1,80})\)\)")
_COMMENT: Final = re.compile(r"(?m)(?:^|(?<=\s))#(?!SBATCH)[^\n]*")
_CONTINUED: Final = re.compile(r"\\[ \t]*\n")
_QUOTED: Final = r"""(?:"[^"\n]{0,400}"|'[^'\n]{0,400}')"""
_TOKEN: Final = re.compile(
    rf"""--?[A-Za-z][\w.-]{{0,80}}(?:=(?:{_QUOTED}|[^\s;)]{{0,400}}))?"""
    rf"""|{_QUOTED}|[^\s()"';|&]{{1,400}}"""
)
ROUNDS: Final = 5
"""How often variables that hold variables are put in."""

LARGEST: Final = 512 * 1024
"""Characters of a script that are looked at."""


def cut_off(text: Text) -> tuple[Ignored, ...]:
    """Return the lines of a script that are beyond what is looked at."""
    if len(text.content) <= LARGEST:
        return ()
    first = text.content.count("\n", 0, LARGEST) + 1
    why = f"beyond the {LARGEST:,} characters that are looked at"
    return (Ignored(first, len(text.lines) - first + 1, why),)


def variables(script: str) -> dict[str, str]:
    """Return what the script assigns to each variable, the last time."""
    known: dict[str, str] = {}
    for found in _ASSIGNED.finditer(script[:LARGEST]):
        # NAME=${NAME:-8} means 8 unless the caller says otherwise
        known[found[1]] = _VARIABLE.sub(partial(_value, known), found[2].strip("\"'"))
    return known


def options(script: str) -> dict[str, str]:
    r"""Return options by name without dashes, ``-`` as ``_``; a flag without a value is ``""``.

    >>> options("TP=8\ntorchrun x.py --tensor-model-parallel-size ${TP} --bf16")
    {'tensor_model_parallel_size': '8', 'bf16': ''}
    """
    text = _COMMENT.sub("", _CONTINUED.sub(" ", script[:LARGEST]))
    known = variables(text)
    text = substituted(text, known)
    found: dict[str, str] = {}
    name = ""
    for token in _TOKEN.findall(text):
        if token.startswith("--") and len(token) > 2:
            name, equals, value = token[2:].partition("=")
            name = name.replace("-", "_")
            found[name] = value.strip("\"'") if equals else ""
            name = "" if equals else name
        elif name:
            found[name] = token.strip("\"'")
            name = ""
    return found


def substituted(text: str, known: dict[str, str]) -> str:
    """Return ``text`` with variables and simple arithmetic put in."""
    value, product = partial(_value, known), partial(_worked_out, known)
    for _ in range(ROUNDS):
        before = text
        text = _PRODUCT.sub(product, _VARIABLE.sub(value, text))
        if text == before or len(text) > 4 * LARGEST:
            break
    return text


def _value(known: dict[str, str], found: re.Match[str]) -> str:
    """Return what a variable holds, else its default, else its name as it is written."""
    otherwise = found[2] if found[2] is not None else found[0]
    return known.get(found[1] or found[3], otherwise)[:4000]


def _worked_out(known: dict[str, str], found: re.Match[str]) -> str:
    """Return the value of a product or quotient of whole numbers, or the text as it is."""
    parts = re.split(r"\s*([*/+-])\s*", found[1].strip())
    parts = [known.get(part, part) for part in parts]
    result = whole(parts[0])
    for sign, part in zip(parts[1::2], parts[2::2], strict=False):
        other = whole(part)
        if result is None or other is None or (sign == "/" and other == 0):
            return found[0]
        result = {"*": result * other, "+": result + other, "-": result - other}.get(
            sign, result // (other or 1)
        )
        result = whole(result)
    return found[0] if result is None else str(result)
