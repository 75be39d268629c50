"""Which rows are alternatives of each other: same model, chips, batch, software and date."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

from accuracy.choice import Candidate
from accuracy.record import Record
from accuracy.rows import Row
from accuracy.score import Scored

_ERA = {
    "bloom-sweep": (r"date (\d\d-\d\d)", "conditions"),
    "megatron-bridge": (r"bridge-([0-9.]+)-", "id"),
    "mlperf-gpt3": (r"^(v[0-9.]+)", "conditions"),
    "mlperf-llama31_405b": (r"^(v[0-9.]+)", "conditions"),
    "mlperf-llama31_8b": (r"^(v[0-9.]+)", "conditions"),
}
"""Where a dataset spans dates or releases, rows of one era only are compared: BLOOM's notes ask
for it, and one release of Megatron-Bridge differs from the next by more than any layout."""


def era(record: Record) -> str:
    """Return the date, release or round within which ``record`` may be compared."""
    pattern, column = _ERA.get(record.dataset, (r"^()", "id"))
    found = re.search(pattern, getattr(record, column))
    return found.group(1) if found else record.id


def group_of(row: Row) -> Hashable:
    """Return what alternatives share."""
    plan, record = row.plan, row.record
    work = (row.workload.name, row.workload.heads, plan.sequence, plan.global_batch)
    words = record.precision.replace(" + AsyncTP", "")
    return (row.recipe.system, plan.chips, *work, words, era(record))


def candidates(rows: Iterable[Row], scored: Iterable[Scored]) -> list[Candidate]:
    """Return all rows as candidates of their groups; ``scored`` in the order of ``rows``."""
    return [
        Candidate(
            source=row.record.dataset,
            group=group_of(row),
            plan=(row.plan, row.profile),
            measured=one.measured,
            predicted=one.predicted,
        )
        for row, one in zip(rows, scored, strict=True)
    ]
