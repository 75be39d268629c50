"""``Report``: everything that the page prints, computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accuracy import memory
from accuracy.choice import Choice, choices
from accuracy.collectives import Quoted, Timed, maintainers, score
from accuracy.constants import Fit, read_fit
from accuracy.groups import candidates
from accuracy.predict import Predictor, predict, predict_rows, scored
from accuracy.rows import Row, Unexpressed, read_rows
from accuracy.score import Headline, Scored, headline, share


@dataclass(frozen=True, slots=True)
class Report:
    """The scored rows and what follows from them.

    ``step`` are the rows of the set that the thresholds speak of, ``apart`` those of the lines
    of their own. ``head`` is over tables without a fitted row, ``head_checked`` over those of
    its rows that are not recalled, ``head_fitted`` over the rows of tables with a fitted row.
    ``covered`` is the share of the set's unfitted rows inside their interval.
    ``timed`` and ``quoted`` are the collectives, which are predicted by ``artery expect``.
    """

    rows: tuple[Row, ...]
    unexpressed: tuple[Unexpressed, ...]
    step: tuple[Scored, ...]
    apart: tuple[Scored, ...]
    fit: Fit
    fitted: tuple[str, ...]
    head: Headline | None
    head_checked: Headline | None
    head_fitted: Headline | None
    covered: float
    choices: tuple[Choice, ...]
    layers: tuple[memory.LayerCheck, ...]
    ran: tuple[memory.Ran, ...]
    peaks: tuple[memory.Peak, ...]
    timed: tuple[Timed, ...]
    quoted: tuple[Quoted, ...]


def build(predictor: Predictor = predict, fit: Fit | None = None) -> Report:
    """Return the report of all rows in ``data/``, as ``predictor`` predicts them."""
    rows, unexpressed = read_rows()
    found = read_fit() if fit is None else fit
    tables = found.tables(rows)
    predicted = predict_rows(rows, predictor)
    all_scored = [scored(row, predicted[row.id]) for row in rows]
    lines = {row.id: row.recipe.line for row in rows}
    step = tuple(one for one in all_scored if lines[one.id] == "step")
    unseen = [one for one in step if one.table not in tables]
    return Report(
        rows=rows,
        unexpressed=unexpressed,
        step=step,
        apart=tuple(one for one in all_scored if lines[one.id] == "apart"),
        fit=found,
        fitted=tables,
        head=_headline(unseen),
        head_checked=_headline(one for one in unseen if not one.recalled),
        head_fitted=_headline(one for one in step if one.table in tables),
        covered=share(one.covered for one in step if one.id not in found.rows),
        choices=tuple(choices(candidates(rows, all_scored))),
        layers=tuple(memory.layer_checks(predictor)),
        ran=tuple(memory.ran(rows, predicted)),
        peaks=tuple(memory.peaks(rows, predicted)),
        timed=tuple(score()),
        quoted=tuple(maintainers()),
    )


def _headline(rows: Iterable[Scored]) -> Headline | None:
    """The headline, or nothing where there is no row."""
    found = list(rows)
    return headline(found) if found else None
