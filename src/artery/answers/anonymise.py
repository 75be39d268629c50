"""Masks what should not leave the house: hosts, users, addresses, GUIDs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

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
_AT: Final = re.compile(r"\b([\w.-]{1,60})@([\w.-]{1,60})")

_HOST_KEYS: Final = ("host", "hosts", "node_name", "nodes", "node_list", "hostname", "hostnames")
_USER_KEYS: Final = ("user", "users", "username", "user_id", "owner", "account", "accounts")
_GUID_KEYS: Final = ("guid", "uuid", "serial")
_SWITCH_KEYS: Final = ("switch", "switches")
_NAMES: Final = {
    **dict.fromkeys(_HOST_KEYS, "host"),
    **dict.fromkeys(_USER_KEYS, "user"),
    **dict.fromkeys(_GUID_KEYS, "guid"),
    **dict.fromkeys(_SWITCH_KEYS, "switch"),
}
_KEPT: Final = frozenset({"127.0.0.1", "0.0.0.0", "localhost", "", "none", "unknown"})  # noqa: S104
"""Say nothing about anybody."""


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
        self._count: dict[str, int] = {}
        self._names: re.Pattern[str] | None = None

    def learn(self, fields: object, key: str = "") -> None:
        """Take note of the hosts, users and GUIDs that ``fields`` name by their keys."""
        if isinstance(fields, Mapping):
            for name, value in fields.items():
                self.learn(value, str(name))
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
            return {self.text(str(k)): self.value(v, str(k)) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one, key) for one in value]
        return value

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
        text = _AT.sub(lambda m: f"{self._masked('user', m[1])}@{self._masked('host', m[2])}", text)
        text = _USER.sub(lambda m: m[1] + self._masked("user", m[2]), text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda m, kind=kind: self._masked(kind, m[0]), text)  # type: ignore[misc]
        return self._known().sub(lambda m: self._stand_in.get(m[0], m[0]), text)

    def _known(self) -> re.Pattern[str]:
        """The names that were learnt, longest first, as whole words."""
        if self._names is None:
            names = sorted(map(re.escape, self._stand_in), key=len, reverse=True)
            self._names = re.compile(
                rf"(?<![\w.])(?:{'|'.join(names)})(?![\w])" if names else r"(?!)"
            )
        return self._names

    def _masked(self, kind: str, secret: str) -> str:
        if secret.casefold() in _KEPT or secret in self._stand_in.values():
            return secret
        if secret not in self._stand_in:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._stand_in[secret] = f"{kind}{self._count[kind]}"
        return self._stand_in[secret]
