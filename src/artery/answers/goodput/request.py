"""What can be told to ``goodput`` beside the model, the system and the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from artery.answers.arguments import check_declared
from artery.cloud.checkpoints import SURVIVES, TierName
from artery.cloud.failures import RATES, FailureRate
from artery.cloud.spares import REPAIR
from artery.cloud.told_failures import NOTICE, Rates
from artery.core.system import System
from artery.errors import Problem, Problems, UsageError, did_you_mean, nearest

FARTHEST: Final = "shared"

_MOST: Final = 1e15
"""Assumed: no rate, time (s) or bandwidth (B/s) is larger."""

_MOST_LEMONS: Final = 0.5
"""Assumed: where more than half of the nodes are bad, the others are the exception."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Failures, checkpoints and repair as told; ``None`` is left to published values.

    ``rate`` names a published rate (a key of ``cloud.failures.RATES``);
    ``node_failures_per_1000_days`` takes its place. ``lemon_nodes`` is a share of the nodes,
    ``young_factor`` how many times as often new hardware fails as settled, ``age`` how long it has
    run in; ``domain_nodes`` nodes fall together ``domain_failures_per_1000_days`` of such parts.
    ``checkpoint`` names the tiers that are saved to (``memory``, ``local``, ``shared``).
    ``async_slowdown`` is the share of work lost while a save is written beside it.
    ``store_bandwidth`` is that of the shared store in B/s. ``save_time`` (blocking, on the nearest
    tier), ``restart_time`` (whole, loading included) and ``interval`` (of work between checkpoints
    on the nearest tier) take the place of what is computed. ``queue_time`` passes before the first
    start; ``notice_time`` until a silent error is noticed. ``spare_risk`` is the chance that is
    accepted of more nodes being out than are spare. Times in seconds.
    """

    rate: str = "rsc-1"
    node_failures_per_1000_days: float | None = None
    user_faults_per_day: float = 0.0
    slow_nodes_per_1000_days: float = 0.0
    link_flaps_per_1000_days: float = 0.0
    lemon_nodes: float = 0.0
    young_factor: float = 1.0
    age: float = 0.0
    domain_failures_per_1000_days: float = 0.0
    domain_nodes: int | None = None
    checkpoint: tuple[str, ...] = (FARTHEST,)
    blocking_save: bool = False
    async_slowdown: float = 0.0
    store_bandwidth: float | None = None
    save_time: float | None = None
    restart_time: float | None = None
    interval: float | None = None
    queue_time: float = 0.0
    repair_time: float = REPAIR
    notice_time: float = NOTICE
    spare_risk: float = 0.01

    @property
    def rates(self) -> Rates:
        """The failure rates to use, with the range of those published unless one is given."""
        given, known = self.node_failures_per_1000_days, Rates(RATES[self.rate])
        if given is not None:
            known = Rates(FailureRate("given", given, "given"), given, given, chips=None)
        return replace(
            known,
            user_faults=self.user_faults_per_day,
            slow_nodes=self.slow_nodes_per_1000_days,
            flaps=self.link_flaps_per_1000_days,
            lemons=self.lemon_nodes,
            young=self.young_factor,
            age=self.age,
            domains=self.domain_failures_per_1000_days,
            domain_nodes=self.domain_nodes or 1,
            notice=self.notice_time,
        )

    @property
    def tiers(self) -> tuple[TierName, ...]:
        """The tiers saved to, from the nearest to the farthest."""
        return tuple(name for name in SURVIVES if name in self.checkpoint)


def circumstances(options: Mapping[str, Any]) -> tuple[Circumstances, dict[str, Any]]:
    """Return what ``options`` tell of failures, and the rest of them, which are the plan's.

    Raises:
        UsageError: an option is of the wrong kind, or names what there is not.
        InputError: a number is out of range.
    """
    names = {field.name for field in fields(Circumstances)}
    mine = {key: value for key, value in options.items() if key in names and value is not None}
    rest = {key: value for key, value in options.items() if key not in names}
    check_declared(Circumstances, mine)
    if "rate" in mine and "node_failures_per_1000_days" in mine:
        raise UsageError("rate and node_failures_per_1000_days both say how often nodes fail")
    told = Circumstances(**mine)
    _check_names(told)
    _check_numbers(told)
    return told, rest


def _check_names(told: Circumstances) -> None:
    wrong = []
    if told.rate not in RATES:
        near = did_you_mean(nearest(told.rate, RATES)) or f"known: {', '.join(RATES)}"
        wrong.append(f'no failure rate is called "{told.rate}"; {near}')
    known = ", ".join(SURVIVES)
    wrong += [f'no tier is called "{name}"; known: {known}' for name in told.checkpoint
              if name not in SURVIVES]  # fmt: skip
    if FARTHEST not in told.checkpoint:
        wrong.append(
            "checkpoint must name shared: the other tiers do not survive the loss of a rack"
        )
    if wrong:
        raise UsageError("\n".join(wrong))


def _check_numbers(told: Circumstances) -> None:
    above = ("store_bandwidth", "interval", "save_time")
    with Problems() as wrong:
        for field in fields(told):
            value = getattr(told, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if not 0 <= value <= _MOST or (value == 0 and field.name in above):
                least = "above 0" if field.name in above else "0 or more"
                rule = f"a number {least}, at most {_MOST:g}"
                wrong.add(_out_of_range(field.name, value, rule))
        if told.young_factor < 1:
            wrong.add(_out_of_range("young_factor", told.young_factor, "1 or more"))
        if not 0 <= told.lemon_nodes <= _MOST_LEMONS:
            wrong.add(_out_of_range("lemon_nodes", told.lemon_nodes, "a share of 0 to 50 %"))
        if told.async_slowdown > 1:
            wrong.add(_out_of_range("async_slowdown", told.async_slowdown, "a share of 0 to 1"))
        if told.domain_failures_per_1000_days > 0 and not told.domain_nodes:
            wrong.add(
                Problem(
                    field="domain_nodes",
                    found="nothing",
                    rule="failures of parts that stop many nodes need to say how many",
                    fix="--domain-nodes 16",
                )
            )
        for problem in _in_vain(told):
            wrong.add(problem)
        if not 0 < told.spare_risk < 1:
            wrong.add(_out_of_range("spare_risk", told.spare_risk, "a chance between 0 and 1"))


_IN_VAIN: Final = (
    ("age", "young_factor", 1.0),
    ("domain_nodes", "domain_failures_per_1000_days", 0.0),
)
"""What changes nothing while another option is at its default."""


def _in_vain(told: Circumstances) -> Iterator[Problem]:
    """Yield what was told and would change nothing."""
    for name, beside, without in _IN_VAIN:
        if getattr(told, name) and getattr(told, beside) == without:
            flags = {each: "--" + each.replace("_", "-") for each in (name, beside)}
            yield Problem(
                field=name,
                found=f"{getattr(told, name):g}",
                rule=f"counts only beside {beside}, which says how often such failures happen",
                fix=f"add {flags[beside]}, or leave {flags[name]} out",
            )


def _out_of_range(name: str, value: float, rule: str) -> Problem:
    return Problem(field=name, found=f"{value:g}", rule=rule, fix="another value, or leave it out")


def check_tiers(told: Circumstances, system: System) -> None:
    """Raise :class:`InputError` for a tier or a part that ``system`` does not have."""
    with Problems() as wrong:
        if "memory" in told.tiers and system.nodes == 1:
            wrong.add(
                Problem(
                    field="checkpoint",
                    found=f"memory on {system.name}, one node",
                    rule="a copy in a peer's memory needs a second node",
                    fix="--checkpoint local,shared",
                )
            )
        if (told.domain_nodes or 0) > system.nodes:
            wrong.add(
                Problem(
                    field="domain_nodes",
                    found=f"{told.domain_nodes} on {system.nodes} nodes",
                    rule="a part cannot stop more nodes than there are",
                    fix=f"--domain-nodes {system.nodes} or fewer",
                )
            )
