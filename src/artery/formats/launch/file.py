"""How a job is started: batch scripts, shell lines, environment files and Kubernetes manifests.

Nothing is run. Every value keeps its line, so that a remark can point at it. A script is taken
apart into variables, ``#SBATCH`` options and commands (:mod:`artery.formats.launch.shell`), a
manifest into objects with pods, whose variables and commands are the same nouns
(:mod:`artery.formats.launch.manifest`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Kind = Literal["sbatch", "script", "environment", "manifest"]

NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Setting:
    """A name and its value as written, variables of the same file put in; lines from 1."""

    name: str
    value: str
    line: int

    @property
    def number(self) -> int | None:
        """The value as a whole number, ``None`` if it is none."""
        text = self.value.strip()
        return int(text) if NUMBER.fullmatch(text) else None


@dataclass(frozen=True, slots=True)
class Command:
    """A program that starts others or trains: its options by long name, and where it stands.

    ``options`` have ``_`` for ``-``; one without a value is empty. ``under`` is the program that
    starts this one on the same line, for example ``srun``.
    """

    program: str
    options: Mapping[str, Setting]
    line: int
    text: str
    under: str = ""

    def option(self, *names: str) -> Setting | None:
        """Return the first of these options that is given."""
        return next((self.options[name] for name in names if name in self.options), None)


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a manifest with the line of its key."""

    value: Any
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Pod:
    """A pod template: its ``spec`` and annotations, in an ``owner`` (kind) that runs ``gang`` pods.

    ``line`` is that of its containers; ``variables`` and ``commands`` are those of its containers.
    """

    owner: str
    spec: Mapping[str, Any]
    annotations: Mapping[str, Any]
    gang: int
    line: int
    variables: tuple[Setting, ...]
    commands: tuple[Command, ...]

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        """The containers, without what is no table."""
        found = self.spec.get("containers")
        return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

    def resources(self, side: str) -> Iterator[tuple[str, str]]:
        """Yield the resources of all containers, ``side`` being ``limits`` or ``requests``."""
        for container in self.containers:
            table = container.get("resources")
            rows = table.get(side) if isinstance(table, Mapping) else None
            for name, amount in rows.items() if isinstance(rows, Mapping) else ():
                yield str(name), str(amount)

    @property
    def gpus(self) -> int:
        """GPUs of one pod, by its limits."""
        return sum(
            int(amount)
            for name, amount in self.resources("limits")
            if name.endswith(".com/gpu") and NUMBER.fullmatch(amount)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """A Kubernetes object: kind, labels, ``spec``; ``root`` is the whole document."""

    kind: str
    name: str
    root: Mapping[str, Any]
    line: int
    pods: tuple[Pod, ...]

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its specification; empty if it has none."""
        found = self.root.get("spec")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True, eq=False)
class LaunchFile:
    """A file as it was taken apart. ``sbatch`` has the ``#SBATCH`` options by long name.

    ``late`` are those below the first command, which Slurm does not read.
    """

    path: str
    kind: Kind
    content: str
    variables: tuple[Setting, ...]
    sbatch: Mapping[str, Setting]
    commands: tuple[Command, ...]
    objects: tuple[Object, ...] = ()
    late: tuple[Setting, ...] = ()

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All pod templates."""
        return tuple(pod for one in self.objects for pod in one.pods)

    def variable(self, name: str) -> Setting | None:
        """Return the last value that the file gives to a variable."""
        return next((one for one in reversed(self.variables) if one.name == name), None)

    def programs(self, *names: str) -> Iterator[Command]:
        """Yield the commands of these programs."""
        return (one for one in self.commands if one.program in names)

    @property
    def nodes(self) -> int | None:
        """Nodes that take part, as far as the file says: the least of a range."""
        asked = self.sbatch.get("nodes")
        counts = [asked] if asked is not None else []
        for one in self.commands:
            given = one.option("nnodes", "nodes", "num_machines")
            if given is not None:
                counts.append(given)
        found = [int(first[0]) for one in counts if (first := NUMBER.match(one.value))]
        found += [pod.gang for pod in self.pods]
        return max(found, default=None)
