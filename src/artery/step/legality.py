"""Which plans make sense for a workload: one table of rules, read two ways.

``legal`` applies every rule to many plans at once; ``problems`` tells of one plan which rules
it breaks, what was found and what would mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.errors import Problem
from artery.step.plans import Plans

Mask = NDArray[np.bool_]
"""True where a rule is kept, one entry per plan."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``holds`` says for each plan whether the rule is kept; the rest words its breach.

    ``reads`` names the columns that it looks at: nothing else changes what it says.
    """

    field: str
    reads: frozenset[str]
    holds: Callable[[Workload, Plans], Mask]
    found: Callable[[Workload, Plan], str]
    rule: str
    fix: Callable[[Workload, Plan], str]


def experts_of(workload: Workload) -> int:
    """Return the number of routed experts, 0 for a dense model."""
    return max((layer.routing.experts for layer in workload.layers if layer.routing), default=0)


def _mask(kept: ArrayLike) -> Mask:
    return np.asarray(kept, dtype=np.bool_)


_DEGREES = (
    "tp", "pp", "vpp", "cp", "ep", "etp", "dp", "dp_replicate", "micro_batch", "global_batch",
    "sequence",
)  # fmt: skip


def _positive(_: Workload, p: Plans) -> Mask:
    return _mask(np.logical_and.reduce([getattr(p, name) >= 1 for name in _DEGREES]))


def _batch(_: Workload, p: Plans) -> Mask:
    group = np.maximum(p.dp * p.micro_batch, 1)
    return _mask((p.global_batch % group == 0) & (p.global_batch >= group))


def _heads(w: Workload, p: Plans) -> Mask:
    if w.heads == 0:
        return _mask(p.tp == 1)
    queries = w.heads % np.maximum(p.tp, 1) == 0
    kv = max(w.kv_heads, 1)
    return _mask(queries & ((kv % np.maximum(p.tp, 1) == 0) | (p.tp % kv == 0)))


def _depth(w: Workload, p: Plans) -> Mask:
    chunks = np.maximum(p.pp * p.vpp, 1)
    per_chunk = np.ceil(w.depth / chunks)
    missing = chunks * per_chunk - w.depth
    ends = np.where(p.vpp > 1, 2, 0)  # embedding and head may take a chunk's place, as in NeMo
    return _mask((chunks <= max(w.depth, 1) + ends) & (missing < np.maximum(p.pp, 1)))


def _interleave(_: Workload, p: Plans) -> Mask:
    micro_batches = p.global_batch // np.maximum(p.dp * p.micro_batch, 1)
    whole = micro_batches % np.maximum(p.pp, 1) == 0
    return _mask((p.vpp == 1) | ((p.pp > 1) & whole))


def _context(w: Workload, p: Plans) -> Mask:
    if w.row_kind != "token":
        return _mask(p.cp == 1)
    return _mask((p.cp == 1) | (p.sequence % np.maximum(2 * p.cp, 1) == 0))


def _sequence_parallel(_: Workload, p: Plans) -> Mask:
    local = p.sequence // np.maximum(p.cp, 1)
    return _mask((p.sequence_parallel == 0) | ((p.tp > 1) & (local % np.maximum(p.tp, 1) == 0)))


def _experts(w: Workload, p: Plans) -> Mask:
    experts = experts_of(w)
    if experts == 0:
        return _mask((p.ep == 1) & (p.etp == 1))
    return _mask(experts % np.maximum(p.ep, 1) == 0)


def _expert_groups(_: Workload, p: Plans) -> Mask:
    return _mask((p.dp * p.cp * p.tp) % np.maximum(p.ep * p.etp, 1) == 0)


def _replicas(_: Workload, p: Plans) -> Mask:
    divides = p.dp % np.maximum(p.dp_replicate, 1) == 0
    return _mask(divides & ((p.dp_replicate == 1) | (p.zero == 3)))


def _length(w: Workload, p: Plans) -> Mask:
    if w.row_kind == "token":
        return _mask(np.ones(len(p), dtype=bool))
    return _mask(p.sequence == 1)


RULES: tuple[Rule, ...] = (
    Rule(
        "plan", frozenset(_DEGREES), _positive,
        lambda w, p: "a degree or batch below 1",
        "degrees, batches and the sequence are whole numbers from 1 up",
        lambda w, p: "give 1 or more",
    ),
    Rule(
        "global_batch", frozenset({"dp", "micro_batch", "global_batch"}), _batch,
        lambda w, p: f"{p.global_batch} samples over dp {p.dp} x micro-batch {p.micro_batch}",
        "global_batch is a multiple of dp·micro_batch",
        lambda w, p: f"--global-batch {_up(p.global_batch, p.dp * p.micro_batch)}",
    ),
    Rule(
        "tp", frozenset({"tp"}), _heads,
        lambda w, p: f"tp {p.tp} with {w.heads} heads, {w.kv_heads} of keys and values",
        "tp divides the heads, and divides the key/value heads or is a multiple of them",
        lambda w, p: f"--tp {_divisors_text(w.heads)}" if w.heads else "--tp 1",
    ),
    Rule(
        "pp", frozenset({"pp", "vpp"}), _depth,
        lambda w, p: f"pp {p.pp} x vpp {p.vpp} on {w.depth} layers",
        "every stage and chunk holds a layer, and fewer than pp layers are missing to equal chunks",
        lambda w, p: f"--pp and --vpp whose product divides {w.depth}",
    ),
    Rule(
        "vpp", frozenset({"pp", "vpp", "dp", "micro_batch", "global_batch"}), _interleave,
        lambda w, p: f"vpp {p.vpp} with pp {p.pp} and {p.micro_batches} micro-batches",
        "interleaving needs pp above 1 and micro-batches that are a multiple of pp",
        lambda w, p: "--vpp 1, or another --global-batch",
    ),
    Rule(
        "cp", frozenset({"cp", "sequence"}), _context,
        lambda w, p: f"cp {p.cp} on a sequence of {p.sequence}",
        "the sequence is a multiple of 2·cp (causal halves are balanced); images have none",
        lambda w, p: "--cp 1",
    ),
    Rule(
        "sequence_parallel",
        frozenset({"tp", "cp", "sequence", "sequence_parallel"}),
        _sequence_parallel,
        lambda w, p: f"sequence parallelism with tp {p.tp} on {p.sequence // p.cp} rows",
        "it needs tp above 1 and a local sequence that tp divides",
        lambda w, p: "--no-sequence-parallel",
    ),
    Rule(
        "ep", frozenset({"ep", "etp"}), _experts,
        lambda w, p: f"ep {p.ep}, etp {p.etp} with {experts_of(w)} experts",
        "ep divides the experts; a dense model has ep = etp = 1",
        lambda w, p: f"--ep {_divisors_text(experts_of(w))}" if experts_of(w) else "--ep 1 --etp 1",
    ),
    Rule(
        "ep", frozenset({"tp", "cp", "dp", "ep", "etp"}), _expert_groups,
        lambda w, p: f"ep {p.ep} x etp {p.etp} in dp·cp·tp = {p.dp * p.cp * p.tp}",
        "ep·etp divides dp·cp·tp",
        lambda w, p: "a smaller --ep or --etp",
    ),
    Rule(
        "dp_replicate", frozenset({"dp", "dp_replicate", "zero"}), _replicas,
        lambda w, p: f"dp_replicate {p.dp_replicate} with dp {p.dp} and zero {p.zero}",
        "dp_replicate divides dp and goes with zero 3 (HSDP)",
        lambda w, p: "--dp-replicate 1, or --zero 3",
    ),
    Rule(
        "seq", frozenset({"sequence"}), _length,
        lambda w, p: f"a sequence of {p.sequence} for {w.name}",
        "an image model has no sequence",
        lambda w, p: "leave --seq out",
    ),
)  # fmt: skip


def legal(workload: Workload, plans: Plans, rules: Sequence[Rule] = RULES) -> Mask:
    """Return for each plan whether it keeps every one of the ``rules``."""
    kept = np.ones(len(plans), dtype=np.bool_)
    for rule in rules:
        kept &= rule.holds(workload, plans)
    return kept


def problems(workload: Workload, plan: Plan) -> tuple[Problem, ...]:
    """Return every rule that ``plan`` breaks; empty when it is legal."""
    one = Plans.of([plan])
    broken = [rule for rule in RULES if not np.all(rule.holds(workload, one))]
    if RULES[0] in broken:
        broken = [RULES[0]]  # the other rules divide by what must be positive
    return tuple(_worded(rule, workload, plan) for rule in broken)


def _worded(rule: Rule, workload: Workload, plan: Plan) -> Problem:
    return Problem(
        field=rule.field,
        found=rule.found(workload, plan),
        rule=rule.rule,
        fix=rule.fix(workload, plan),
    )


def _up(value: int, step: int) -> int:
    return max(-(-value // step), 1) * step


def _divisors_text(number: int) -> str:
    few = [d for d in (1, 2, 4, 8, 16, 32, 64, 128) if number % d == 0]
    return " or ".join(str(d) for d in few[:5])
