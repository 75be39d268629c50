"""The request of ``bench collectives``, as it was given, and the cases that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, cast, get_args

from artery.answers.arguments import check_declared, check_kinds
from artery.answers.bench.job import LIBRARY, Backend, Case
from artery.answers.bench.shapes import algorithm_named, runnable, shape_of
from artery.answers.expect import parse_sizes, type_named
from artery.answers.expect.result import DTYPES
from artery.core.pricing import Collective, named
from artery.errors import InputError, Problem, UnknownNameError, UsageError
from artery.meter.collectives import whole_elements
from artery.runner.executor.transport import CARRIED

MOST_RANKS: Final = 256
"""Assumed: more processes than this on one machine are a slip of the pen."""

MOST_REPEATS: Final = 1_000_000
MOST_SECONDS: Final = 86_400.0
"""Assumed: a day."""

ACROSS: Final = frozenset({"all_gather", "reduce_scatter", "alltoall"})
"""Collectives of which nccl-tests counts the elements of one rank's block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that ``bench collectives`` takes.

    ``ranks`` processes are started on this machine (2); under torchrun, srun or mpirun those that
    are there take part. ``algorithm`` is ``library`` or the name of a schedule, which is then
    executed; ``compare`` takes the library and every schedule that there is. ``on`` is a system
    to predict by, and with ``paced`` the one whose links the sends follow. ``per_node`` ranks
    count as one node. Of each size at most ``seconds`` are spent on ``repeats``; ``check`` holds
    results to the exact sum first. The whole run ends after ``timeout`` seconds.
    """

    collectives: str | Sequence[str] = "all_reduce"
    ranks: int | None = None
    sizes: str = "8:16M:x4"
    algorithm: str = LIBRARY
    compare: bool = False
    on: str | None = None
    overrides: Sequence[str] = ()
    paced: bool = False
    per_node: int | None = None
    backend: str = "auto"
    dtype: str = "float"
    warmup: int = 5
    repeats: int = 20
    seconds: float = 10.0
    check: bool = True
    timeout: float = 600.0

    def checked(self) -> None:
        """Raise ``UsageError`` or ``InputError`` for what is of the wrong kind or contradictory."""
        check_declared(Request, {one.name: getattr(self, one.name) for one in fields(self)})
        check_counts(self.warmup, self.repeats, self.timeout, self.seconds)
        if self.compare and self.algorithm != LIBRARY:
            raise UsageError("--compare runs every algorithm: leave --algorithm out")
        if self.overrides and self.on is None:
            raise UsageError("--set changes a value of a system: add --on SYSTEM")
        if self.paced and self.on is None:
            raise UsageError("--paced follows the links of a system: add --on SYSTEM")
        if self.paced and not self.compare and self.algorithm == LIBRARY:
            raise UsageError(
                "--paced holds back artery's own sends, not the library's: "
                "add --algorithm ring, or --compare"
            )

    def named(self) -> tuple[Collective, ...]:
        """Return the collectives, each once; raises ``UnknownNameError``."""
        listed = [self.collectives] if isinstance(self.collectives, str) else self.collectives
        return tuple(dict.fromkeys(named(one) for one in listed))

    def cases(self, ranks: int) -> tuple[tuple[Case, ...], tuple[str, ...], bool]:
        """Return the cases, why algorithms are left out, and whether a switch is needed."""
        cases: list[Case] = []
        left_out: list[str] = []
        switched = False
        element, sizes = type_named(self.dtype), sizes_of(self.sizes)
        for collective in self.named():
            able, missing = runnable(collective, ranks, self.per_node, element)
            if self.compare:
                left_out += [one for one in missing if one not in left_out]
                chosen = [LIBRARY, *able]
                if self.paced:  # the library's sends cannot be held back, and no switch adds
                    chosen = [name for name, adds in able.items() if not adds]
            elif self.algorithm == LIBRARY:
                chosen = [LIBRARY]
            else:
                chosen = [algorithm_named(self.algorithm, collective)]
            switched |= any(able.get(name, False) for name in chosen)
            cases += [
                self._case(collective, name, size, ranks, element)
                for name in chosen
                for size in sizes
            ]
        return tuple(cases), tuple(left_out), switched

    def _case(self, collective: Collective, name: str, size: int, ranks: int, dtype: str) -> Case:
        elements = max(size // DTYPES[dtype], 1)
        if collective in ACROSS:  # as the library needs it, so that both have one size
            elements = whole_elements(collective, elements, ranks)
        shape = {}
        if name != LIBRARY:
            shape = shape_of(
                name, collective, ranks, per_node=self.per_node, size=size, dtype=dtype
            )
        return Case(
            collective, name, ranks, elements, dtype, shape,
            self.warmup, self.repeats, self.check, self.seconds,
        )  # fmt: skip


def check_counts(warmup: int, repeats: int, timeout: float, seconds: float = 1.0) -> None:
    """Raise :class:`artery.errors.InputError` for counts and times that are out of range."""
    check_kinds(int, warmup=warmup, repeats=repeats)
    check_kinds(int, float, timeout=timeout, seconds=seconds)
    ranges: dict[str, tuple[float, float, float]] = {
        "warmup": (warmup, 0, MOST_REPEATS),
        "repeats": (repeats, 1, MOST_REPEATS),
        "timeout": (timeout, 1, MOST_SECONDS),
        "seconds": (seconds, 0, MOST_SECONDS),
    }
    problems = [
        Problem(field=name, found=f"{value:g}", rule="out of range",
                fix=f"from {least:g} to {most:,.0f}")
        for name, (value, least, most) in ranges.items()
        if not least <= value <= most
    ]  # fmt: skip
    if problems:
        raise InputError(problems)


def backend_named(text: str) -> Backend:
    """Return the backend; raises ``UnknownNameError``."""
    known = get_args(Backend)
    if text not in known:
        raise UnknownNameError("backend", str(text), known)
    return cast("Backend", text)


def check_carried(backend: Backend, dtype: str) -> None:
    """Raise ``UnknownNameError`` for a type that is none, ``UsageError`` for one not carried."""
    element = type_named(dtype)
    carrier = "mpi" if backend == "mpi" else "torch"
    if element not in CARRIED[carrier]:
        able = ", ".join(CARRIED[carrier])
        raise UsageError(f"{backend} adds no {element}; use one of {able}")


def sizes_of(text: str) -> tuple[int, ...]:
    """Return the sizes in bytes; raises ``InputError`` with the field."""
    try:
        return parse_sizes(text)
    except InputError as error:
        raise error.at(field="sizes") from None


def check_ranks(ranks: int, per_node: int | None = None) -> None:
    """Raise :class:`artery.errors.InputError` for numbers of ranks that are impossible."""
    if not 2 <= ranks <= MOST_RANKS:
        rule, fix = f"2 to {MOST_RANKS} processes exchange messages", "use 2"
        raise InputError(Problem(field="ranks", found=str(ranks), rule=rule, fix=fix))
    if per_node is not None and (per_node < 1 or ranks % per_node):
        near = max(size for size in range(1, max(per_node, 1) + 1) if ranks % size == 0)
        rule = f"must divide the {ranks} ranks"
        problem = Problem(field="per-node", found=str(per_node), rule=rule, fix=f"{near} does")
        raise InputError(problem)
