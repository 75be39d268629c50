"""Masks what should not leave the house: hosts, users, addresses, GUIDs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from artery.formats.reading import Reading

_Answer = TypeVar("_Answer")

_PATTERNS: Final = (
    ("mac", re.compile(r"\b(?:[0-9a-fA-F]{2}:){5}(?:[0-9a-fA-F]{2})(?::[0-9a-fA-F]{2}){0,2}\b")),
    ("address", re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")),
    ("address", re.compile(r"\b(?:[0-9a-fA-F]{1,4}:){4,7}:?[0-9a-fA-F]{1,4}\b")),
    ("guid", re.compile(r"\b(?:0x)?[0-9a-fA-F]{16}\b")),
    ("guid", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")),
    ("guid", re.compile(r"\b[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}\b")),
)
_USER: Final = re.compile(
    r"(/home/|/Users/|/u/|/scratch/|(?i:user(?:name|id)?)[=:] ?)([\w.-]{1,60})"
)
_STAMP: Final = r"\d{4}-\d\d-\d\dT"
_WHO: Final = re.compile(rf"\[([\w.-]{{1,60}})@(?={_STAMP})")
"""Slurm ends the reason of a node with who gave it, and when."""
_AT: Final = re.compile(rf"\b([\w.-]{{1,60}})@(?!{_STAMP})([\w.-]{{1,60}})")
_TOKEN: Final = re.compile(r"(?<![\w.])\w[\w.-]*")
_PORT: Final = re.compile(r"(?!lid )(\S.{0,79}?)(?: (?:mlx|hfi|bnxt|HCA|CA)\S{0,20})? port \d+")
"""The port of a device by its name, as the counters of InfiniBand have it."""

_HOST_KEYS: Final = (
    "host", "hosts", "node_name", "nodes", "node_list", "hostname", "hostnames",
    "sick", "out", "not_responding",
)  # fmt: skip
_USER_KEYS: Final = ("user", "users", "username", "user_id", "owner", "account", "accounts")
_GUID_KEYS: Final = ("guid", "uuid", "serial")
_SWITCH_KEYS: Final = ("switch", "switches")
_NAMES: Final = {
    **dict.fromkeys(_HOST_KEYS, "host"),
    **dict.fromkeys(_USER_KEYS, "user"),
    **dict.fromkeys(_GUID_KEYS, "guid"),
    **dict.fromkeys(_SWITCH_KEYS, "switch"),
}
_INSIDE: Final[Mapping[tuple[str, str], str]] = {
    ("nodes", "name"): "host",
    ("hosts", "name"): "host",
    ("pods", "node"): "host",
    ("pods", "name"): "pod",
    ("jobs", "id"): "job",
    ("jobs", "name"): "job",
    ("spines", "name"): "switch",
    ("blocks", "switch"): "switch",
    ("blocks", "first"): "host",
}
"""What a list of such tables has under that key."""
_KEPT: Final = frozenset(
    {"127.0.0.1", "0.0.0.0", "localhost", "", "none", "unknown", "root", "slurm"}  # noqa: S104
)
"""Say nothing about anybody."""


def devices_of(reading: Reading) -> dict[str, list[str]]:
    """Return the names of hosts and switches in a cabling, but for words such as ``a``."""
    devices = reading.cabling.devices if reading.cabling is not None else ()
    named = (one for one in devices if len(one.name) > 2 or one.name[-1:].isdigit())
    names = [(one.kind, one.name) for one in named]
    return {
        "hosts": [name for kind, name in names if kind == "host"],
        "switches": [name for kind, name in names if kind == "switch"],
    }


def masked(answer: _Answer, read: Iterable[object]) -> _Answer:
    """Return a dataclass with every text in it masked, by what the fields ``read`` name."""
    mask = Mask()
    for one in read:
        mask.learn(one)
    found: _Answer = mask.record(answer)
    return found


class Mask:
    """Replaces every secret by the same stand-in wherever it occurs: ``host1``, ``user2``."""

    def __init__(self) -> None:
        self._stand_in: dict[str, str] = {}
        self._aside: dict[str, str] = {}  # words such as ``train``, for jobs alone
        self._count: dict[str, int] = {}
        self._names: re.Pattern[str] | None = None

    def learn(self, fields: object, key: str = "") -> None:
        """Take note of the hosts, users and GUIDs that ``fields`` name by their keys."""
        if isinstance(fields, Mapping):
            for name, value in fields.items():
                inside = _INSIDE.get((key, str(name)))
                port = _PORT.fullmatch(str(name))
                if inside is not None and isinstance(value, str) and _telling(inside, value):
                    self._masked(inside, value)
                elif port is not None:
                    self._masked("device", port[1])
                self.learn(value, str(name))
            self._names = None
        elif isinstance(fields, (list, tuple)):
            for value in fields:
                self.learn(value, key)
        elif isinstance(fields, str) and key in _NAMES and fields.casefold() not in _KEPT:
            self._masked(_NAMES[key], fields)
            self._names = None

    def value(self, value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
        """Return a JSON value with everything masked, keys of objects too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self._inside(key, str(k), v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one, key) for one in value]
        return value

    def _inside(self, key: str, name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return what stands under ``name`` in a table of ``key``, masked; job names always."""
        if isinstance(value, str) and (key, name) == ("jobs", "name"):
            if value not in self._stand_in and value not in self._aside:
                self._count["job"] = self._count.get("job", 0) + 1
                self._aside[value] = f"job{self._count['job']}"
            return self._stand_in.get(value) or self._aside[value]
        return self.value(value, name)

    def record(self, value: Any) -> Any:  # noqa: ANN401 - a dataclass or what is in one
        """Return a frozen dataclass, or what it holds, with every text in it masked."""
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{one.name: self.record(getattr(value, one.name))
                                     for one in fields(value)})  # fmt: skip
        if isinstance(value, tuple):
            return tuple(map(self.record, value))
        return self.value(value)

    def text(self, text: str) -> str:
        """Return ``text`` masked."""
        text = _WHO.sub(lambda m: f"[{self._masked('user', m[1])}@", text)
        text = _AT.sub(lambda m: f"{self._masked('user', m[1])}@{self._masked('host', m[2])}", text)
        text = _USER.sub(lambda m: m[1] + self._masked("user", m[2]), text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda m, kind=kind: self._masked(kind, m[0]), text)  # type: ignore[misc]
        text = self._phrases().sub(lambda m: self._stand_in.get(m[0], m[0]), text)
        return _TOKEN.sub(lambda m: self._token(m[0]), text)

    def _phrases(self) -> re.Pattern[str]:
        """The names that were learnt and are no single token, longest first."""
        if self._names is None:
            several = (one for one in self._stand_in if _TOKEN.fullmatch(one) is None)
            names = sorted(map(re.escape, several), key=len, reverse=True)
            self._names = re.compile(
                rf"(?<![\w.])(?:{'|'.join(names)})(?![\w])" if names else r"(?!)"
            )
        return self._names

    def _token(self, token: str) -> str:
        """Return a token with the longest names in it replaced, cut where a word ends.

        A look-up for each end, since a trace names more jobs than a pattern can hold.
        """
        told, start = "", 0
        while start < len(token):
            ends = [m.start() for m in re.finditer(r"(?!\w)", token[start:]) if m.start()]
            for end in reversed([start + one for one in ends]):
                if token[start:end] in self._stand_in:
                    told, start = told + self._stand_in[token[start:end]], end
                    break
            else:
                after = token.find("-", start) + 1 or len(token)
                told, start = told + token[start:after], after
        return told

    def _masked(self, kind: str, secret: str) -> str:
        if secret.casefold() in _KEPT or secret in self._stand_in.values():
            return secret
        if secret not in self._stand_in:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._stand_in[secret] = f"{kind}{self._count[kind]}"
        return self._stand_in[secret]


def _telling(kind: str, name: str) -> bool:
    """Whether a name is looked for in running text: a job called ``train`` is a word there."""
    return name.casefold() not in _KEPT and (
        kind != "job" or re.search(r"[A-Za-z].*[\d_-]|[\d_-].*[A-Za-z]", name) is not None
    )
