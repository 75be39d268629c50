"""``lint``: how a job is started, held against rules that each say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Final

from artery.answers.anonymise import masked
from artery.answers.arguments import check_declared, check_texts, paths_of
from artery.diagnoser.lint.rule import LEVELS, Rule, rules
from artery.errors import InputError, Problems, ThresholdError, UnknownNameError
from artery.formats.launch.file import LaunchFile
from artery.formats.launch.files import read_launch


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A rule that a file breaks, at a line from 1; ``text`` is what stands there."""

    rule: Rule
    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LintFile:
    """A file that was looked at, what it is, and how many rules had something to say of it."""

    path: str
    kind: str
    rules: int


@dataclass(frozen=True, slots=True)
class LintAnswer:
    """The findings, worst first and then by place. ``passed`` of ``applied`` rules are kept."""

    files: tuple[LintFile, ...]
    findings: tuple[LintFinding, ...]
    applied: int
    passed: int

    @property
    def share(self) -> float:
        """The share of the rules that apply which are kept; 1 if none applies."""
        return self.passed / self.applied if self.applied else 1.0


def lint(
    *paths: str | PathLike[str], ignore: Sequence[str] = (), anonymise: bool = False
) -> LintAnswer:
    """Return what is wrong in the scripts, environment files and manifests at ``paths``.

    Files that start one job together (a batch script and its environment file) are looked at one
    by one. ``ignore`` names rules to leave out; ``anonymise`` masks hosts, users and addresses.
    Raises :class:`artery.errors.InputError` for files that start no job, and
    :class:`artery.errors.UnknownNameError` for rules that are not known.
    """
    paths = paths_of(paths, "there must be a file to look at")
    check_texts("ignore", ignore)
    check_declared(lint, {"anonymise": anonymise})
    known = [one.id for one in rules()]
    for name in ignore:
        if name not in known:
            raise UnknownNameError("rule", name, known)
    files: list[LaunchFile] = []
    with Problems() as problems:
        for path in paths:
            try:
                files.append(read_launch(path))
            except InputError as error:
                problems.absorb(error.at(file=path))
    wanted = [one for one in rules() if one.id not in ignore]
    findings = [
        LintFinding(rule, file.path, found.line, found.text)
        for file in files
        for rule in wanted
        for found in rule.broken(file)
    ]
    findings.sort(key=lambda one: (LEVELS.index(one.rule.level), paths.index(one.file), one.line))
    applied = {(file.path, rule.id) for file in files for rule in wanted if rule.applies(file)}
    broken = {(one.file, one.rule.id) for one in findings}
    answer = LintAnswer(
        tuple(
            LintFile(file.path, file.kind, sum(rule.applies(file) for rule in wanted))
            for file in files
        ),
        tuple(findings),
        len(applied),
        len(applied - broken),
    )
    return masked(answer, map(_names, files), paths) if anonymise else answer


_SAID: Final = {
    "partition": "partition", "account": "account", "clusters": "cluster", "mail_user": "user",
}  # fmt: skip
"""What options of Slurm name, by the keys that a mask knows."""


def _names(file: LaunchFile) -> dict[str, object]:
    """Return what a file spells out, by the keys that a mask knows."""
    found: dict[str, object] = {"host": _hosts(file)}
    jobs = [one.value for name, one in file.sbatch.items() if name == "job_name"]
    for command in file.commands:
        given = command.option("rdzv_id")
        jobs += [given.value] if given is not None and "$" not in given.value else []
    found["job_name"] = [*jobs, *(one.name for one in file.objects)]
    for name, key in _SAID.items():
        if name in file.sbatch:
            found[key] = file.sbatch[name].value
    spaces = [one.root.get("metadata") for one in file.objects]
    found["namespace"] = [str(one.get("namespace")) for one in spaces
                          if isinstance(one, Mapping) and one.get("namespace")]  # fmt: skip
    return found


def _hosts(file: LaunchFile) -> list[str]:
    """Return the names of hosts that a file spells out."""
    address = file.variable("MASTER_ADDR")
    named = [] if address is None else [address.value]
    for command in file.commands:
        given = command.option("rdzv_endpoint", "master_addr", "nodelist")
        if given is not None and "$" not in given.value:
            named.append(given.value.partition(":")[0])
    return named


def lint_rules() -> tuple[Rule, ...]:
    """Return all rules."""
    return rules()


def check_limits(answer: LintAnswer, fail_on: str | None, least: float | None) -> None:
    """Raise :class:`artery.errors.ThresholdError` if a limit that was asked for is broken.

    ``fail_on`` is a level: one finding as bad as it, or worse, breaks it. ``least`` is the share
    of the rules that apply which must be kept.
    """
    if fail_on is not None:
        if fail_on not in LEVELS:
            raise UnknownNameError("level", fail_on, LEVELS)
        worst = LEVELS.index(fail_on)
        bad = [one for one in answer.findings if LEVELS.index(one.rule.level) <= worst]
        if bad:
            raise ThresholdError(f"{len(bad)} finding(s) at {fail_on} or worse")
    if least is not None and answer.share < least:
        raise ThresholdError(
            f"{answer.passed} of {answer.applied} rules are kept, {answer.share:.0%}, "
            f"below {least:.0%}"
        )
