"""``Row``: a measurement and the question it puts to the step model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from accuracy.plans import Planned, planned
from accuracy.recipes import Recipe, Refusal, claim
from accuracy.record import Record, read_records
from accuracy.workloads import workload_of
from artery.core.plan import Plan
from artery.core.workload import Workload


@dataclass(frozen=True, slots=True)
class Row:
    """One expressible row: what runs, where, how, and the seconds that were measured.

    ``system`` is a catalog name with its chips, ``profile`` the framework's. ``alternatives``
    are the plans it may have been instead, because ``unknown`` fields are not published.
    """

    record: Record
    recipe: Recipe
    workload: Workload
    plan: Plan
    alternatives: tuple[Plan, ...]
    unknown: tuple[str, ...]
    seconds: float

    @property
    def id(self) -> str:
        """The row's id in ``data/``."""
        return self.record.id

    @property
    def table(self) -> str:
        """The table under which the row is scored."""
        return self.recipe.table

    @property
    def profile(self) -> str:
        """Name of the framework profile."""
        return self.recipe.profile

    @property
    def system(self) -> str:
        """Catalog name and chips, ``dgx-a100:1024``."""
        return f"{self.recipe.system}:{self.plan.chips}"

    @property
    def measurement(self) -> Hashable:
        """What makes two rows one measurement: source, work, plan and seconds alike."""
        work = (self.table, self.workload.name, self.workload.heads, self.system)
        return (*work, self.plan, self.profile, self.seconds)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan, then its alternatives."""
        return (self.plan, *self.alternatives)


@dataclass(frozen=True, slots=True)
class Unexpressed:
    """A row that is not scored, and why."""

    record: Record
    reason: str
    reason_zh: str


Answer = Row | Unexpressed

REPEATED = ("the source lists this measurement again", "来源重复列出同一测量")


def read_rows(
    records: Iterable[Record] | None = None,
) -> tuple[tuple[Row, ...], tuple[Unexpressed, ...]]:
    """Return the rows that can be expressed, and the rest with reasons.

    A measurement that its source lists again, to the last digit, counts once.
    """
    answers = [express(record) for record in (read_records() if records is None else records)]
    rows: dict[Hashable, Row] = {}
    rest: list[Unexpressed] = []
    for answer in answers:
        if isinstance(answer, Unexpressed):
            rest.append(answer)
        elif answer.measurement in rows:
            rest.append(Unexpressed(answer.record, *REPEATED))
        else:
            rows[answer.measurement] = answer
    return tuple(rows.values()), tuple(rest)


def express(record: Record) -> Answer:
    """Return ``record`` as a question to the model, or why it cannot be one."""
    found = claim(record)
    if isinstance(found, Refusal):
        return Unexpressed(record, found.reason, found.reason_zh)
    workload = workload_of(record, found)
    try:
        plan = planned(record, found, workload)
    except ValueError as broken:
        reason = f"the published layout is not one the model accepts: {broken}"
        return Unexpressed(record, reason, f"模型不接受所公布的布局：{broken}")
    if record.chips != plan.plan.chips:
        reason = f"tp·pp·cp·dp = {plan.plan.chips}, but the row says {record.chips} chips"
        return Unexpressed(
            record, reason, f"tp·pp·cp·dp = {plan.plan.chips}，而行称 {record.chips}"
        )
    seconds = _seconds(record, plan)
    return Row(record, found, workload, plan.plan, plan.alternatives, plan.unknown, seconds)


def _seconds(record: Record, plan: Planned) -> float:
    """Seconds per step; where only a rate is published, of the plan's batch."""
    if record.measured is not None:
        return record.measured
    if record.samples_per_s is None:
        raise ValueError(f"{record.id}: a recipe claims a row without a measured time")
    return plan.plan.global_batch / record.samples_per_s
