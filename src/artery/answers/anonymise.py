"""Masks what should not leave the house.

Hosts, users, addresses, GUIDs, switches, devices, jobs, pods, namespaces, partitions, clusters,
zones and domains by the keys that name them; e-mail, paths, URLs and full names of hosts by how
they look.
"""

from __future__ import annotations

import ipaddress
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
_IPV6: Final = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{3,39}(?:%[\w.-]{1,20})?(?![\w:])")
_PUBLIC: Final = re.compile(
    r"(?:[\w-]+\.)*(?:kubernetes\.io|k8s\.io|nvidia\.com|amd\.com|intel\.com|google\.com|volcano\.sh"
    r"|amazonaws\.com|kubeflow\.org|pytorch\.org|github\.com|topograph\.run|schedmd\.com|openfabrics\.org)"
)
"""Of makers and projects: says nothing about anybody's cluster."""
_FULL_NAME: Final = re.compile(
    r"(?<![\w@.-])(?:[A-Za-z0-9][\w-]{0,62}\.){1,8}(?:com|net|org|edu|gov|mil|io|ai|local|internal"
    r"|lan|corp|intra|home|cloud|example|cluster|cn|de|fr|uk|jp|kr|eu|ch|in|us|ca|au)(?![\w.-])"
)
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>,;]{1,300}")
_PATH: Final = re.compile(r"(?<![\w.:/>-])/(?:[\w.@%+~=-]+/)+[\w.@%+~=-]*")
_OF_THE_SYSTEM: Final = re.compile(
    r"/(?:dev|sys|proc|etc|usr|bin|lib|lib64|run)/|/opt/(?:amazon|rocm|conda|hpcx|nvidia|mellanox)/"
)
"""Paths that are alike on all machines."""
_USER: Final = re.compile(
    r"(/home/|/Users/|/u/|/scratch/|(?i:user(?:name|id)?)[=:] ?)([\w.-]{1,60})"
)
_JOB: Final = re.compile(r"\b([Jj]ob(?: ?[Ii][Dd])?[ =:]\s?)(\d[\w.+\[\]%-]*)")
"""A job by its number, which is any number elsewhere."""
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
_PLACE_KEYS: Final = {
    "partition": "partition", "partitions": "partition", "default_partition": "partition",
    "cluster": "cluster", "job_name": "job", "clusters": "cluster", "namespace": "namespace",
    "zone": "zone", "region": "zone", "rack": "zone", "domain": "domain", "domains": "domain",
}  # fmt: skip
_KEYED: Final = {"states_by_partition": "partition", "domains": "domain"}
"""Tables whose keys are such names."""
_NAMES: Final = {
    **_PLACE_KEYS,
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
_PLAIN: Final = frozenset(
    {"gpu", "gpus", "cpu", "debug", "train", "training", "batch", "normal", "long", "short",
     "login", "test", "all", "main", "default", "compute", "interactive", "high", "low", "dev",
     "prod", "kube-system", "kubernetes", "node", "nodes", "switch", "job", "pod", "user", "host"}
)  # fmt: skip
"""Words that many call a partition or a namespace, and that stand for themselves in a sentence."""


def devices_of(reading: Reading) -> dict[str, list[str]]:
    """Return the names of hosts and switches in a cabling, but for words such as ``a``."""
    devices = reading.cabling.devices if reading.cabling is not None else ()
    named = (one for one in devices if len(one.name) > 2 or one.name[-1:].isdigit())
    names = [(one.kind, one.name) for one in named]
    return {
        "hosts": [name for kind, name in names if kind == "host"],
        "switches": [name for kind, name in names if kind == "switch"],
    }


def masked(answer: _Answer, read: Iterable[object], files: Iterable[str] = ()) -> _Answer:
    """Return a dataclass with every text in it masked, by what the fields ``read`` name.

    ``files`` are paths whose names stay.
    """
    mask = Mask(files)
    for one in read:
        mask.learn(one)
    found: _Answer = mask.record(answer)
    return found


class Mask:
    """Replaces every secret by the same stand-in wherever it occurs: ``host1``, ``user2``.

    Of the paths of ``files``, which the user named, only the folder is taken away.
    """

    def __init__(self, files: Iterable[str] = ()) -> None:
        given = sorted({one for one in files if "/" in one}, key=len, reverse=True)
        self._given = re.compile(
            rf"(?<![\w./-])(?:{'|'.join(map(re.escape, given))})(?!\.?[\w/-])" if given else r"(?!)"
        )
        self._stand_in: dict[str, str] = {}
        self._aside: dict[str, str] = {}  # words such as ``train``, for jobs alone
        self._count: dict[str, int] = {}
        self._names: re.Pattern[str] | None = None

    def learn(self, fields: object, key: str = "") -> None:
        """Take note of the hosts, users and GUIDs that ``fields`` name by their keys."""
        if isinstance(fields, Mapping):
            for name, value in fields.items():
                self._learn_entry(key, str(name), value)
                self.learn(value, str(name))
            self._names = None
        elif isinstance(fields, (list, tuple)):
            for value in fields:
                self.learn(value, key)
        elif isinstance(fields, str) and key in _NAMES:
            plain = _KEPT | _PLAIN if key in _PLACE_KEYS else _KEPT
            if fields.casefold() not in plain:
                self._masked(_NAMES[key], fields)
                self._names = None

    def _learn_entry(self, key: str, name: str, value: object) -> None:
        """Take note of what ``name`` and ``value`` name in a table that stands under ``key``."""
        inside = _INSIDE.get((key, name))
        port = _PORT.fullmatch(name)
        if inside is not None and isinstance(value, str) and _telling(inside, value):
            self._masked(inside, value)
        elif inside == "job" and isinstance(value, str) and value.casefold() not in _KEPT:
            self._job(value)
        elif port is not None:
            self._masked("device", port[1])
        kind = _KEYED.get(key)
        if kind is not None and name.casefold() not in _PLAIN:
            self._masked(kind, name)

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
        """Return what stands under ``name`` in a table of ``key``, masked; jobs always."""
        if isinstance(value, str) and (key, name) in {("jobs", "name"), ("jobs", "id")}:
            return self._stand_in.get(value) or self._job(value)
        return self.value(value, name)

    def _job(self, name: str) -> str:
        """Return the stand-in of a job whose name or number is a word elsewhere."""
        if name not in self._stand_in and name not in self._aside:
            self._count["job"] = self._count.get("job", 0) + 1
            self._aside[name] = f"job{self._count['job']}"
        return self._stand_in.get(name) or self._aside[name]

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
        text = self._given.sub(lambda m: m[0].rpartition("/")[2], text)
        text = _JOB.sub(lambda m: m[1] + self._aside.get(m[2], m[2]), text)
        text = _WHO.sub(lambda m: f"[{self._masked('user', m[1])}@", text)
        text = _AT.sub(lambda m: f"{self._masked('user', m[1])}@{self._masked('host', m[2])}", text)
        text = _USER.sub(lambda m: m[1] + self._masked("user", m[2]), text)
        text = _URL.sub(lambda m: m[0] if _PUBLIC.match(m[0].partition("://")[2])
                        else self._masked("url", m[0]), text)  # fmt: skip
        text = _PATH.sub(self._path, text)
        text = _FULL_NAME.sub(self._full_name, text)
        text = _IPV6.sub(self._address, text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda m, kind=kind: self._masked(kind, m[0]), text)  # type: ignore[misc]
        text = self._phrases().sub(lambda m: self._stand_in.get(m[0], m[0]), text)
        return _TOKEN.sub(lambda m: self._token(m[0]), text)

    def _path(self, found: re.Match[str]) -> str:
        """Return a path masked, if it is not alike on all machines."""
        path = found[0]
        if _OF_THE_SYSTEM.match(path):
            return path
        return "/" + self._masked("path", path)

    def _full_name(self, found: re.Match[str]) -> str:
        """Return the full name of a host masked, by the mask of its short name if that has one."""
        if _PUBLIC.fullmatch(found[0]):
            return found[0]
        short = found[0].partition(".")[0]
        if found[0] not in self._stand_in and short in self._stand_in:
            self._stand_in[found[0]] = self._stand_in[short]
        return self._masked("host", found[0])

    def _address(self, found: re.Match[str]) -> str:
        """Return an address of IPv6 masked, if it is one of those that machines are given."""
        try:
            one = ipaddress.IPv6Address(found[0])
        except ValueError:
            return found[0]
        given = one.is_link_local or one.is_private or int(one) >> 125 == 1  # 2000::/3
        return self._masked("address", found[0]) if given and not one.is_loopback else found[0]

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
