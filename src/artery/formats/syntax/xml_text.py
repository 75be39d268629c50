"""XML from strangers: no entities, no documents from elsewhere, limits on size and depth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from artery.errors import InputError, Problem
from artery.formats.text import Text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST: Final = 16 * 2**20
DEEPEST: Final = 64
"""Assumed: characters and nesting of an XML file; a topology has some 50 kB and ten levels."""

_DECLARATION: Final = re.compile(r"<\?xml[^>]{0,200}\?>")


def root_of(text: Text) -> Element:
    """Return the root element; raises ``InputError`` for broken, too large or hostile XML."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if len(text.content) > LARGEST:
        raise _refused(text, None, "a larger file", f"at most {LARGEST // 2**20} MiB of XML")
    # The declaration may name an encoding, which a string no longer has.
    content = _DECLARATION.sub("", text.content, count=1).strip()
    try:
        root: Element = fromstring(content)
    except ParseError as error:
        # lines that were stripped off in front count too
        before = text.content.find(content[:40])
        line = error.position[0] + text.content.count("\n", 0, max(before, 0))
        raise _refused(text, line, str(error), "must be well-formed XML") from None
    except DefusedXmlException as error:
        found = type(error).__name__
        raise _refused(text, None, found, "entities and external documents are not read") from None
    except (ValueError, RecursionError) as error:
        raise _refused(text, None, str(error), "must be XML") from None
    _check_depth(text, root)
    return root


def _check_depth(text: Text, root: Element) -> None:
    level = [root]
    for _ in range(DEEPEST):
        level = [child for one in level for child in one]
        if not level:
            return
    raise _refused(text, None, "endless nesting", f"at most {DEEPEST} elements inside each other")


def _refused(text: Text, line: int | None, found: str, rule: str) -> InputError:
    fix = "send the file as the library wrote it"
    return InputError(Problem(file=text.path, line=line, found=found, rule=rule, fix=fix))
