"""``docs/accuracy.md`` and ``docs/accuracy.zh.md``, from one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median

from accuracy.collectives import SWEEP_FROM, SWEEPS, Quoted, Timed
from accuracy.constants import Constant
from accuracy.gates import gates, percent, titan_peaks
from accuracy.recipes import Recipe
from accuracy.report import Report
from accuracy.rows import Row, Unexpressed
from accuracy.score import Compared, Headline, by_table, quantile, summarise
from accuracy.words import WORDS, Language

OPENED = Path(__file__).parent / "opened.md"
MIB, GIB = 2.0**20, 2.0**30

Lines = list[str]


def page(report: Report, language: Language) -> str:
    """Return the page in ``language``, as Markdown."""
    words = WORDS[language]
    sections = [
        [f"# {words['title']}", "", words["intro"], "", words["sources"]],
        _headline(report, language),
        _tables(report, language),
        _choice(report, language),
        _collectives(report, language),
        _memory(report, language),
        _fit(report, language),
        _rules(report.rows, language),
        _out(report.unexpressed, language),
        _opened(language),
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _headline(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    lines = [f"## {words['headline']}", ""]
    if report.head is not None:
        tables = ", ".join(report.head.tables)
        lines += [words["unfitted"].format(tables=tables, count=report.head.count), ""]
    verdict = {True: words["yes"], False: words["no"]}
    body = [(words[g.name], g.threshold, g.found, verdict[g.held]) for g in gates(report)]
    head = (words["what"], words["threshold"], words["found"], words["held"])
    lines += [*_table(head, body), "", words["lookup_note"]]
    if report.head_checked is not None:
        lines += ["", _sentence(words["checked"], report.head_checked)]
    if report.head_fitted is not None:
        lines += ["", _sentence(words["fitted_head"], report.head_fitted)]
    return lines


def _sentence(text: str, head: Headline) -> str:
    return text.format(
        tables=", ".join(head.tables),
        count=head.count,
        median=percent(head.table_median_mean),
        mean=percent(head.pooled_mean),
        within=percent(head.within_loose),
    )


def _tables(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    head = words["columns"].split(" | ")
    lines = [f"## {words['tables']}", ""]
    body = [
        _summary(name + ("*" if name in report.fitted else ""), rows)
        for name, rows in by_table(report.step).items()
    ]
    lines += _table(head, body)
    if report.fitted:
        lines += ["", words["fitted_mark"]]
    lines += ["", f"### {words['apart']}", "", words["apart_note"], ""]
    return lines + _table(head, [_summary(n, r) for n, r in by_table(report.apart).items()])


def _summary(name: str, rows: Sequence[Compared]) -> tuple[str, ...]:
    found = summarise(rows)
    shares = (found.median, found.mean, found.p90, found.worst)
    more = (found.within_tight, found.within_loose, found.covered)
    return (
        name,
        str(found.count),
        *(percent(value) for value in shares),
        signed(found.bias),
        *(f"{100 * value:.0f} %" for value in more),
    )


def _choice(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    body = [
        (
            words["all"] if one.source == "all" else one.source,
            str(one.groups),
            str(one.candidates),
            percent(one.regret),
            percent(one.random_regret),
            str(one.pairs),
            f"{100 * one.ordered:.0f} %" if one.pairs else "-",
        )
        for one in report.choices
    ]
    head = words["choice_columns"].split(" | ")
    return [f"## {words['choice']}", "", words["choice_note"], "", *_table(head, body)]


def _collectives(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    tables: dict[str, list[Timed]] = {}
    for row in report.timed:
        if row.size >= SWEEP_FROM and not row.fitted:
            tables.setdefault(row.table, []).append(row)
    body = [_summary(name + ("+" if name in SWEEPS else ""), rows) for name, rows in tables.items()]
    lines = [f"## {words['collectives']}", "", words["collectives_note"], ""]
    lines += [*_table(words["columns"].split(" | "), body), "", words["quoted_note"], ""]
    quoted = [_quoted(one, language) for one in report.quoted]
    return lines + _table(words["quoted_columns"].split(" | "), quoted)


def _quoted(one: Quoted, language: Language) -> tuple[str, ...]:
    ends = sorted({f"{end / 1e9:.4g}" for end in (one.low, one.high)}, key=float)
    counts = WORDS[language]["yes"] if one.counted else one.reason
    return (one.hardware, " - ".join(ends), f"{one.predicted / 1e9:.1f}", signed(one.miss), counts)


def _memory(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    layers = [
        (c.model, c.variant.name, c.variant.formula, f"{c.formula / MIB:.1f}", signed(c.signed))
        for c in report.layers
    ]
    unfit = [one.row.id for one in report.ran if one.fits == "no"]
    count = len(report.ran)
    lines = [f"## {words['memory']}", "", words["memory_layers"], ""]
    lines += [*_table(words["layer_columns"].split(" | "), layers), ""]
    lines += [words["memory_ran"].format(fits=count - len(unfit), count=count)]
    if unfit:
        lines += ["", words["memory_not"].format(ids=", ".join(f"`{name}`" for name in unfit))]
    return [*lines, "", *_peaks(report, language)]


def _peaks(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    body = [
        (
            p.row.id,
            f"{p.measured / GIB:.1f}",
            f"{p.predicted / GIB:.1f}",
            signed(p.signed),
        )
        for p in titan_peaks(report.peaks)
    ]
    lines = [words["memory_peaks"], "", *_table(words["peak_columns"].split(" | "), body)]
    bloom = [p.signed for p in report.peaks if p.row.table == "bloom"]
    if bloom:
        errors = [abs(value) for value in bloom]
        text = words["peak_bloom"].format(
            count=len(bloom),
            median=percent(median(errors)),
            p90=percent(quantile(errors, 0.9)),
            bias=signed(fmean(bloom)),
        )
        lines += ["", text]
    return lines


def _fit(report: Report, language: Language) -> Lines:
    words = WORDS[language]
    fit = report.fit
    counts = {"constants": len(fit.constants), "rows": len(fit.rows), "tables": len(report.fitted)}
    body = [_constant(one, language) for one in fit.constants]
    ids = ", ".join(f"`{name}`" for name in fit.rows)
    return [
        f"## {words['fit']}",
        "",
        words["fit_note"].format(**counts),
        "",
        *_table(words["fit_columns"].split(" | "), body),
        "",
        words["fit_rows"].format(ids=ids or "-"),
    ]


def _constant(one: Constant, language: Language) -> tuple[str, ...]:
    meaning = one.meaning if language == "en" else one.meaning_zh
    return (one.name, f"{one.value:g}", meaning, ", ".join(f"`{p}`" for p in one.places))


def _rules(rows: Iterable[Row], language: Language) -> Lines:
    words = WORDS[language]
    counts: dict[int, list[Row]] = {}
    for row in rows:
        counts.setdefault(id(row.recipe), []).append(row)
    body = [_rule(group[0].recipe, group, language) for group in counts.values()]
    head = words["rule_columns"].split(" | ")
    return [f"## {words['rules']}", "", words["rules_note"], "", *_table(head, body)]


def _rule(recipe: Recipe, rows: Sequence[Row], language: Language) -> tuple[str, ...]:
    open_fields = sorted({name for row in rows for name in row.unknown})
    text = recipe.rule if language == "en" else recipe.rule_zh
    names = ", ".join(open_fields) or "-"
    return (recipe.table, str(len(rows)), recipe.system, recipe.profile, names, text)


def _out(unexpressed: Iterable[Unexpressed], language: Language) -> Lines:
    words = WORDS[language]
    counts = Counter(
        (one.record.dataset, one.reason if language == "en" else one.reason_zh)
        for one in unexpressed
    )
    body = [(str(n), dataset, reason) for (dataset, reason), n in sorted(counts.items())]
    return [f"## {words['out']}", "", *_table(words["out_columns"].split(" | "), body)]


def _opened(language: Language) -> Lines:
    words = WORDS[language]
    log = [line for line in OPENED.read_text("utf-8").splitlines() if line.startswith("| 20")]
    note = words["opened_note"].format(count=len(log))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in log]
    table = _table(words["opened_columns"].split(" | "), rows)
    return [f"## {words['opened']}", "", note, "", *table]


def signed(value: float) -> str:
    """Return a fraction as a percentage with its sign; nothing is "-0.0 %"."""
    text = f"{100 * value:+.1f}"
    return "0.0 %" if float(text) == 0.0 else f"{text} %"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> Lines:
    """A Markdown table; every column but the first is aligned to the right if it is numeric."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in body]
    rule = ["---", *("---:" if _numeric(rows, i) else "---" for i in range(1, len(head)))]
    return ["| " + " | ".join(row) + " |" for row in ([*head], rule, *rows)]


def _numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    cells = [row[column].strip("<>=+-* %") for row in rows]
    return all(cell.replace(".", "").isdigit() or not cell for cell in cells)
