"""What can be asked of ``schedule``, and what is wrong with what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Final

from artery.answers.arguments import check_declared
from artery.cloud.failures import RATES, FailureRate
from artery.cloud.policies import POLICIES
from artery.cloud.spares import REPAIR
from artery.cloud.told_failures import NOTICE, Rates
from artery.errors import InputError, Problem, Problems, UnknownNameError, UsageError
from artery.units import parse

DEFAULT: Final = ("fifo", "backfill", "elastic-backfill")
"""Policies that are compared unless others are named."""

MEASURES: Final = ("p90-queue", "mean-queue", "p50-queue")
"""What a cluster can be sized for."""

NETWORKS: Final = ("closed", "simulate")
"""How a step at a placement is priced."""

_MOST: Final = 1e12
"""Assumed: no time in seconds and no count is larger."""


@dataclass(frozen=True, slots=True)
class Request:
    """Options of :func:`artery.schedule`; ``None`` is left to what is published or computed.

    ``policies`` are compared. ``model`` with ``tp``, ``pp`` and ``cp`` is what jobs train that do
    not say it. ``jobs`` keeps the first so many, ``window`` those submitted between two times (s)
    from the first. ``elastic`` is the share of the jobs of several chips that can be resized.
    ``network`` says how a step at a placement is priced: ``closed`` form, or ``simulate``, played.
    ``placing`` is ``topology`` or ``blind``; up to ``max_wait`` is waited for a better placement.
    ``rate`` or ``node_failures_per_1000_days`` says how often nodes fail; neither: never. A silent
    error shows after ``notice_time``.
    ``spares`` nodes are kept for failures. ``maintenance`` are texts ``START:DURATION:NODES``,
    ``spot`` a file with the nodes that a provider grants over time. ``serve`` is
    ``chips=N,peak=N``: replicas that serve beside the training. ``size_for`` is
    ``p90-queue=TIME`` or ``p90-queue=POLICY``. Times in seconds.
    """

    policies: tuple[str, ...] = DEFAULT
    model: str | None = None
    tp: int | None = None
    pp: int | None = None
    cp: int | None = None
    jobs: int | None = None
    window: tuple[float, float] | None = None
    elastic: float = 1.0
    network: str = "closed"
    placing: str = "topology"
    max_wait: float = 0.0
    defragment: bool = False
    rate: str | None = None
    node_failures_per_1000_days: float | None = None
    spares: int = 0
    repair_time: float = REPAIR
    notice_time: float = NOTICE
    restart_time: float | None = None
    save_time: float | None = None
    resize_time: float | None = None
    interval: float | None = None
    store_bandwidth: float | None = None
    maintenance: tuple[str, ...] = ()
    spot: str | None = None
    serve: str | None = None
    size_for: str | None = None
    seed: int = 0

    @property
    def rates(self) -> Rates | None:
        """How often what fails; ``None``: nothing does."""
        given = self.node_failures_per_1000_days
        if given is not None:
            one = FailureRate("given", given, "given")
            return Rates(one, given, given, chips=None, notice=self.notice_time)
        return None if self.rate is None else Rates(RATES[self.rate], notice=self.notice_time)


def read_request(options: Mapping[str, Any]) -> Request:
    """Return what ``options`` ask.

    Raises:
        UsageError: an option that there is not, or of the wrong kind.
        InputError: names that nobody knows, numbers out of range; all at once.
    """
    known = {field.name for field in fields(Request)}
    for name in options:
        if name not in known:
            raise UsageError(f'schedule has no option "{name}"; known: {", ".join(sorted(known))}')
    given = {name: value for name, value in options.items() if value is not None}
    check_declared(Request, given)
    request = Request(**given)
    problems = Problems()
    _check_names(request, problems)
    _check_numbers(request, problems)
    problems.raise_if_any()
    return request


_FLEET: Final = (
    "policies", "size_for", "serve", "jobs", "window", "elastic", "placing", "max_wait",
    "defragment", "rate", "node_failures_per_1000_days", "spares", "repair_time", "notice_time",
    "maintenance", "spot",
)  # fmt: skip
"""Options of a fleet of jobs, which one job on spot instances does not have."""


def refuse_fleet(options: Mapping[str, Any]) -> None:
    """Raise ``InputError`` for options that would change nothing on a trace of spot instances."""
    with Problems() as problems:
        for name in _FLEET:
            value = options.get(name)
            if value is not None and value != () and value is not False:
                rule = "a trace of spot instances plays one job, elastic and of every fixed size"
                found = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else value
                problems.add(
                    _wrong(name, f"{found}", rule, "leave it out, or give a trace of jobs")
                )


def _check_names(request: Request, problems: Problems) -> None:
    for name in dict.fromkeys(request.policies):
        if name not in POLICIES:
            problems.absorb(UnknownNameError("policy", name, POLICIES))
    if not request.policies:
        problems.add(_wrong("policies", "none", "one policy at least", f"of {', '.join(POLICIES)}"))
    if request.rate is not None and request.rate not in RATES:
        problems.absorb(UnknownNameError("failure rate", request.rate, RATES))
    if request.network not in NETWORKS:
        problems.absorb(UnknownNameError("network", request.network, NETWORKS))
    if request.size_for is not None:
        _check_size_for(request.size_for, request.policies, problems)
    if request.placing not in ("topology", "blind"):
        problems.absorb(UnknownNameError("placing", request.placing, ("topology", "blind")))
    if request.model is None and any((request.tp, request.pp, request.cp)):
        rule = "tp, pp and cp are those of the model that all jobs train"
        problems.add(_wrong("tp", "no model", rule, "--model llama3-70b --tp 8"))


def _check_size_for(text: str, policies: Sequence[str], problems: Problems) -> None:
    measure, _, wanted = text.partition("=")
    if measure not in MEASURES or not wanted:
        rule = f"is one of {', '.join(MEASURES)}, = and a time or a policy that is played"
        problems.add(_wrong("size-for", f'"{text}"', rule, "p90-queue=fifo"))
    elif wanted not in policies:
        try:
            parse(wanted, "s")
        except InputError as error:
            problems.absorb(error.at(field="size-for"))


def _check_numbers(request: Request, problems: Problems) -> None:
    if not 0.0 <= request.elastic <= 1.0:
        problems.add(_wrong("elastic", f"{request.elastic:g}", "a share from 0 to 1", "0.5"))
    for name in ("jobs", "tp", "pp", "cp"):
        value = getattr(request, name)
        if value is not None and value < 1:
            problems.add(_wrong(name, str(value), "1 or more", "leave it out"))
    for field in fields(request):
        value = getattr(request, field.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if field.name == "elastic":  # has its own range above
            continue
        if not (isfinite(value) and 0 <= value <= 1e15):
            problems.add(
                _wrong(field.name, f"{value:g}", "0 or more, at most 1e15", "leave it out")
            )
    _check_failures(request, problems)
    if request.window is not None and not 0 <= request.window[0] < request.window[1] <= _MOST:
        found = f"{request.window[0]:g} to {request.window[1]:g} s"
        problems.add(_wrong("window", found, "begins before it ends", "0d:10d"))


def _check_failures(request: Request, problems: Problems) -> None:
    """What is told of saves and failures."""
    if request.store_bandwidth == 0:
        problems.add(_wrong("store_bandwidth", "0", "above 0", "leave it out to have it computed"))
    if request.interval is not None and request.interval < 1.0:
        found, rule = f"{request.interval:g} s", "a second or more of work between saves"
        problems.add(_wrong("interval", found, rule, "leave it out to have it computed"))
    if request.rate is not None and request.node_failures_per_1000_days is not None:
        found, rule = "rate as well", "one of them says how often nodes fail"
        problems.add(_wrong("node_failures_per_1000_days", found, rule, "leave one out"))


def _wrong(name: str, found: str, rule: str, fix: str) -> Problem:
    return Problem(field=name, found=found, rule=rule, fix=fix)
