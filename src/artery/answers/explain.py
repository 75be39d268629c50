"""``explain``: any number of a plan opened up, with formula, inputs and source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from artery.answers.arguments import check_kinds
from artery.answers.plan import plan
from artery.answers.plan.result import PlanAnswer
from artery.core.term import Term
from artery.errors import InputError, Problem, did_you_mean, nearest


@dataclass(frozen=True, slots=True)
class Opened:
    """One term at its dotted ``path``; ``share`` is its part of the root, 0 to 1."""

    path: str
    term: Term
    share: float


@dataclass(frozen=True, slots=True)
class ExplainAnswer:
    """The terms asked for, in the order asked, and the answer that they come from."""

    plan: PlanAnswer
    terms: tuple[Opened, ...]


def explain(model: str, on: str, *paths: str, **options: Any) -> ExplainAnswer:  # noqa: ANN401 (the options of plan)
    """Return the terms at ``paths`` of the best plan; ``options`` are those of ``plan``.

    Paths start at ``step`` (seconds) or ``memory`` (bytes per chip), for example ``step.dp``
    or ``memory.activations``; without any, both roots are opened.

    Raises:
        InputError: a path that does not exist (all of them at once), or wrong input to ``plan``.
    """
    for path in paths:
        check_kinds(str, path=path)
    return open_terms(plan(model, on, **options), paths)


def open_terms(answer: PlanAnswer, paths: Sequence[str]) -> ExplainAnswer:
    """Return the terms at ``paths`` of the best plan in ``answer``; see :func:`explain`."""
    best = answer.plans[0]
    known: dict[str, Opened] = {}
    for root in (best.time.root, best.memory.root):
        for path, term in root.walk():
            share = term.value / root.value if root.value and term.unit == root.unit else 0.0
            known[path] = Opened(path, term, share)
    wanted = [path.strip().strip(".") for path in paths] or [
        best.time.root.name,
        best.memory.root.name,
    ]
    unknown = [path for path in wanted if path not in known]
    if unknown:
        raise InputError([_unknown(path, list(known)) for path in unknown])
    return ExplainAnswer(answer, tuple(known[path] for path in wanted))


def _unknown(path: str, known: list[str]) -> Problem:
    """Say which paths resemble ``path``: the same last name first, then the same spelling."""
    last = path.rpartition(".")[2]
    same = [candidate for candidate in known if candidate.rpartition(".")[2] == last]
    near = tuple(dict.fromkeys([*same, *nearest(path, known)]))[:3]
    fix = did_you_mean(near) or f"the roots are {' and '.join(p for p in known if '.' not in p)}"
    return Problem(field="PATH", found=f'"{path}"', rule="the plan has no such term", fix=fix)
