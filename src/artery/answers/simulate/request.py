"""The request of ``simulate``, as it was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from artery.answers.arguments import check_declared
from artery.errors import InputError, Problem, UnknownNameError, UsageError

ROUTINGS = ("auto", "ecmp", "static", "adaptive", "spray")
FLOW_CONTROLS = ("auto", "none", "pfc", "credit")
ENGINES = ("auto", "coupled", "messages", "fluid", "sampled")
DEFAULT_SIZE = "1G"
MOST_SEEDS, MOST_LINKS, MOST_QUEUE_PAIRS = 1000, 10_000, 64
"""Assumed: more is a slip of the pen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that ``simulate`` takes.

    ``algorithm`` is ``auto`` (what the library would choose), ``best`` (the fastest of all that
    can be played) or a name. ``fail_links`` is a share (``1%``) or links by name
    (``leaf 3 -> spine 5``), which fail before the run or, with ``fail_at``, during it.
    ``background`` are shares of the network and jobs beside this one (``alltoall:1G:64-127``),
    ``slow`` are ``RANK=2x`` and ``RANK=5ms``, ``matrix`` is a CSV file of what each rank sends to
    each. ``routing`` is how packets choose among equal paths; ``auto`` sprays them where the
    transport does so itself (EFA's SRD), and hashes elsewhere. ``flow_control`` is what full port
    buffers do: ``pfc``, ``credit``, ``none`` (they are endless) or ``auto``, the transport's where
    it can harm others. ``reduce_rate`` is how fast a chip adds what it receives (``400 GB/s``, or
    ``chip``: as its memory does; ``None``: as the library's constants hold it), ``offload`` who
    adds: ``auto``, ``none`` (chips), ``switch``, or a network card of the catalog. ``seeds`` runs
    as many draws of hashes and failures, ``links`` counts the hottest. ``size`` is 1G unless there
    is a ``matrix``.
    """

    collective: str
    on: str
    size: str | int | None = None
    algorithm: str = "auto"
    routing: str = "auto"
    queue_pairs: int = 1
    placement: str = "packed"
    transport: str | None = None
    fail_links: str | None = None
    fail_switches: int = 0
    fail_at: str | None = None
    background: Sequence[str] = ()
    matrix: str | None = None
    slow: Sequence[str] = ()
    store_and_forward: bool = False
    flow_control: str = "auto"
    reduce_rate: str | None = None
    offload: str = "auto"
    seed: int = 0
    seeds: int = 1
    engine: str = "auto"
    links: int = 10
    nccl: str | None = None
    overrides: Sequence[str] = ()

    def check(self) -> None:
        """Raise ``UsageError`` or ``InputError`` for what is of the wrong kind or out of range."""
        check_declared(Request, {one.name: getattr(self, one.name) for one in fields(self)})
        ranges = {
            "queue_pairs": (1, MOST_QUEUE_PAIRS),
            "fail_switches": (0, 1_000_000),
            "seed": (0, 2**31 - 1),
            "seeds": (1, MOST_SEEDS),
            "links": (0, MOST_LINKS),
        }
        if self.fail_at is not None and not self.fail_links and not self.fail_switches:
            raise UsageError(
                "--fail-at says when links or switches fail, and none do; "
                "add --fail-links 1% or --fail-switches 1"
            )
        for name, known in (
            ("routing", ROUTINGS),
            ("engine", ENGINES),
            ("flow_control", FLOW_CONTROLS),
        ):
            if getattr(self, name) not in known:
                raise UnknownNameError(name, getattr(self, name), known)
        problems = [
            Problem(
                field=name.replace("_", "-"),
                found=str(getattr(self, name)),
                rule="out of range",
                fix=f"from {least} to {most:,}",
            )
            for name, (least, most) in ranges.items()
            if not least <= getattr(self, name) <= most
        ]
        if problems:
            raise InputError(problems)

    def document(self) -> dict[str, object]:
        """Return the request as a JSON document keeps it."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.size is None and self.matrix is None:
            said["size"] = DEFAULT_SIZE
        return said
