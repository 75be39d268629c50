"""The fitted system as a file of its own, each value with its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from artery.answers.calibrate.result import CalibrateAnswer
from artery.answers.calibrate.system import OF_FRAMEWORK
from artery.catalog.door import is_path
from artery.catalog.overrides import apply_overrides
from artery.catalog.syntax import read_document


def calibrated_values(answer: CalibrateAnswer, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return the tables of a system file with the fitted values, each with its source.

    A system of the catalog is named as the base; a file of one's own is written out whole. Values
    given with ``--set`` are in it.
    """
    values: dict[str, Any]
    if is_path(answer.system):
        values = dict(read_document(answer.system).values)
    else:
        values = {"base": answer.system, "title": f"{answer.system}, calibrated"}
    own = [one for one in overrides if not one.startswith("chip.")]
    values = apply_overrides(values, own).values
    for one in answer.changed:
        table = values
        *above, last = one.knob.path.split(".")
        for name in above:
            table = table.setdefault(name, {})
        value: object = one.after if one.knob.unit == "1" else one.knob.text(one.after)
        table[last] = [value, "calibration"]
    if OF_FRAMEWORK & {one.knob.path for one in answer.changed}:
        values["calibration"]["framework"] = answer.framework
    measured = (
        f"fitted by artery calibrate to {len(answer.rows)} points of {', '.join(answer.files)}; "
        f"median error {answer.before:.1%} before, {answer.after:.1%} after"
    )
    sources: Mapping[str, Any] = values.get("sources", {})
    now = datetime.now(UTC).date().isoformat()
    values["sources"] = {
        **sources,
        "calibration": {"text": measured, "as_of": now, "confidence": "measured"},
    }
    return values
