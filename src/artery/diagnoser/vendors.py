"""Causes in the words and with the tools of who makes the chips, read from ``vendors.toml``.

The rule base is written for NVIDIA's chips. Where its names or next steps are theirs, a table says
the same for AMD's chips, and one in neutral words for all others::

    [lost_links.amd]                          # or .other
    en = "xGMI links lost"                    # each key optional, as in the rule base
    zh = "..."
    next = "..."
    reference = "..."
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Final

from artery.diagnoser.rules import Cause
from artery.diagnoser.verdict import TOPOLOGY, Diagnosis, Missing

_TOPOLOGY: Final = {
    "amd": "rocm-smi --showtopo and the log with NCCL_DEBUG=INFO of one run",
    "other": "the vendor's table of links between chips and the log of one run",
}


def in_words_of(found: Diagnosis, vendor: str | None) -> Diagnosis:
    """Return ``found`` in the words of ``vendor``; as it is for NVIDIA or an unknown one."""
    kind = _kind(vendor)
    if kind is None:
        return found
    findings = tuple(replace(one, cause=worded(one.cause, vendor)) for one in found.findings)
    missing = tuple(_asked(one, kind) for one in found.missing)
    return replace(found, findings=findings, missing=missing)


def worded(cause: Cause, vendor: str | None) -> Cause:
    """Return ``cause`` in the words of ``vendor``."""
    kind = _kind(vendor)
    if kind is None:
        return cause
    table = _words().get(cause.key, {}).get(kind, {})
    return replace(
        cause,
        en=table.get("en", cause.en),
        zh=table.get("zh", cause.zh),
        next=table.get("next", cause.next),
        reference=table.get("reference", cause.reference),
    )


def _kind(vendor: str | None) -> str | None:
    if vendor is None or vendor.casefold() == "nvidia":
        return None
    return "amd" if vendor.casefold() == "amd" else "other"


def _asked(missing: Missing, kind: str) -> Missing:
    return replace(missing, ask=_TOPOLOGY[kind]) if missing.ask == TOPOLOGY.ask else missing


@cache
def _words() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return tomllib.loads(files("artery.diagnoser").joinpath("vendors.toml").read_text("utf-8"))
