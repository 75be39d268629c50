"""The objects in a Kubernetes file: JSON or YAML, lists unfolded, several documents."""

from __future__ import annotations

import re
from typing import Any, Final

from artery.formats.syntax.json_text import inside, json_of, looks_like_json, tables
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text

Object = dict[str, Any]

_KIND: Final = re.compile(
    r'''(?m)^[\s-]{0,40}kind\s*:\s*["']?(\w{1,60})|"kind"\s*:\s*"(\w{1,60})"'''
)


def kinds_in(text: Text) -> set[str]:
    """Return the kinds that the first part of the text names, without parsing it."""
    return {found[1] or found[2] for found in _KIND.finditer(text.head)}


def objects_in(text: Text) -> list[Object]:
    """Return every object; the items of a list one by one. Raises ``InputError``."""
    found = [json_of(text)] if looks_like_json(text) else yaml_documents(text)
    objects: list[Object] = []
    for document in found:
        for one in tables(document):
            items = one.get("items")
            objects += tables(items) if isinstance(items, list) else [one]
    return objects


def words(value: object) -> dict[str, str]:
    """Return a table of labels as strings; an empty one for anything else."""
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, dict) else {}


def name_of(one: Object) -> str:
    """Return an object's name."""
    return str(inside(one, "metadata", "name") or "unnamed")
