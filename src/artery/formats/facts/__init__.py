"""A facts file: what somebody who has only words knows, in four sections of YAML.

::

    hardware:                   # each section is a text, or a table with the text under "words"
      chip: h100-sxm            # a name of the catalog, or a product name
      gpus_per_node: 8
      nodes: 2
      fabric: infiniband        # infiniband, roce, ethernet, efa
      nics_per_node: 8
      nic_rate: 400 Gb/s        # of one card
      words: two servers of a cloud, virtual machines
    software:
      nccl: 2.21.5
      gpu_direct_rdma: false
    workload:
      collective: all_reduce
      size: 8G                  # where a measurement below does not say its own
    measured:                   # a text, a table, or a list of tables
      - {size: 1G, busbw: 196 GB/s}
      - {step_time: 1.9 s, mfu: 31%}

Every key is in :mod:`artery.formats.facts.keys`; another one is an error. Nothing is taken from the
words but what ``diagnose`` looks for in them. Text in the list of measurements is such words too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from artery.errors import InputError, Problem, Problems, UnknownNameError
from artery.formats.facts.curves import curves, told_apart
from artery.formats.facts.keys import CONDITIONS, FACTS, QUANTITIES, SECTIONS
from artery.formats.facts.rules import BOUNDS, Path, contradictions, name_of
from artery.formats.gpus.variants import variants
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.syntax.yaml_text import Lines, yaml_documents
from artery.formats.text import Text
from artery.units import parse, show_bytes, show_line_rate, show_rate, size

_PER_GPU: Final = re.compile(r"(?:\bper|/) ?-?(?:gpu|chip|card|device)\b", re.IGNORECASE)
_TOTALS: Final = ("samples_per_s", "tokens_per_s")

_UNITS: Final = {"rate": "B/s", "time": "s", "flops": "FLOP/s", "bytes": "B"}
_SHARES: Final = frozenset({"utilisation", "part"})
_SECTION: Final = re.compile(r"(?m)^(hardware|software|workload|measured)\s*:")
_KEY: Final = re.compile(r"(?m)^[^\s#\-\]}'\"][^:\n]{0,80}:(?:\s|$)")

Value = str | float | bool


def _recognise(text: Text) -> float:
    sections = len(set(_SECTION.findall(text.head)))
    if sections == 1:
        return 0.7 if len(_KEY.findall(text.head)) == 1 else 0.0
    return {0: 0.0, 2: 0.7}.get(sections, 0.9)


def _read(text: Text) -> Reading:
    documents = [one for one in yaml_documents(text) if isinstance(one, dict)]
    table = documents[0] if documents else {}
    facts: dict[str, Value] = {}
    words: dict[str, str] = {}
    with Problems() as problems:
        report = _Reporter(text.path, Lines(text), problems)
        for name, section in table.items():
            if name in SECTIONS:
                _section(name, section, facts, words, report)
            else:
                report.note(UnknownNameError("section", name, SECTIONS), (name,))
        rows = list(_rows(table.get("measured"), report))
        for path, problem in contradictions(facts, rows):
            report.note(InputError(problem), path)
    if "measured" not in words and (told := list(_told(table.get("measured")))):
        words["measured"] = "; ".join(told)
    fields = _fields(facts, words, [row for _, row in rows])
    warnings = (*_taken(table.get("hardware")), *_warnings(fields))
    return Reading("facts", "state", tuple(_summary(fields))[:5], fields, warnings)


@dataclass(frozen=True, slots=True)
class _Reporter:
    """Notes what is wrong with a value, with its file and line."""

    file: str | None
    lines: Lines
    problems: Problems

    def note(self, error: InputError, path: Path) -> None:
        """Note ``error`` as of the value at ``path``."""
        field = ".".join(str(part) for part in path if isinstance(part, str))
        line = self.lines.line(path)
        self.problems.absorb(error.at(file=self.file, line=line, field=field))


def _section(
    name: str, section: object, facts: dict[str, Value], words: dict[str, str], report: _Reporter
) -> None:
    if isinstance(section, str):
        words[name] = section
    if name == "measured" or not isinstance(section, Mapping):
        return
    for key, value in section.items():
        if key == "words":
            words[name] = str(value)
            continue
        try:
            if key not in FACTS[name]:
                raise UnknownNameError("fact", key, [*FACTS[name], "words"])
            if key == "chip" and isinstance(value, list):
                _put_chips(value, facts)
            else:
                facts[key] = _value(value, FACTS[name][key])
        except InputError as error:
            report.note(error, (name, key))


def _put_chips(listed: list[object], facts: dict[str, Value]) -> None:
    """Put in one chip as ``chip``, several as ``chips`` with commas between."""
    if not listed:
        raise _wrong("[]", "must name a chip", "chip: h100-sxm, or a list of chips")
    found = list(dict.fromkeys(str(_value(one, "chip")) for one in listed))
    facts["chip" if len(found) == 1 else "chips"] = ", ".join(found)


def _taken(hardware: object) -> Iterator[str]:
    """Yield which variant was taken where a chip was named without it."""
    said = hardware.get("chip") if isinstance(hardware, Mapping) else None
    for name in said if isinstance(said, list) else [said]:
        able = variants(name) if isinstance(name, str) else ()
        if isinstance(name, str) and len(able) > 1:
            others = ", ".join(able[1:])
            yield f"{name.strip()[:60]} is taken as {able[0]}; others of that name: {others}"


def _told(measured: object) -> Iterator[str]:
    """Yield what the list of measurements says in words."""
    for one in measured if isinstance(measured, list) else [measured]:
        said = one.get("words") if isinstance(one, Mapping) else one
        if isinstance(said, (str, int, float)) and not isinstance(said, bool):
            yield str(said).strip()


def _value(value: object, kind: str) -> Value:
    """Return a value of one of the kinds in :data:`FACTS`; raises ``InputError``."""
    if kind == "flag":
        if not isinstance(value, bool):
            raise _wrong(value, "must be true or false", "write true or false")
        return value
    if kind == "size":
        return float(size(str(value)))
    if kind == "link":
        return parse(value, "B/s", directed=True, positive=True)
    if kind in _UNITS:
        return parse(value, _UNITS[kind], positive=True)
    if kind in BOUNDS:
        found = parse(value, "1") if kind in _SHARES else number(value)
        if found is None:
            raise _wrong(value, "must be a number", "write a number")
        BOUNDS[kind].check(found, value)
        return found
    if not isinstance(value, (str, int, float)):
        raise _wrong(value, "must be a text", "write a name")
    said = str(value).strip()
    return (*variants(said), said.casefold())[0] if kind == "chip" else name_of(said, kind)


def _wrong(value: object, rule: str, fix: str) -> InputError:
    return InputError(Problem(found=f'"{value}"'[:80], rule=rule, fix=fix))


def _rows(measured: object, report: _Reporter) -> Iterator[tuple[int, dict[str, Value]]]:
    """Yield the measurements as tables of values in SI, with their places in the list."""
    kinds = {**QUANTITIES, **CONDITIONS}
    listed = measured if isinstance(measured, list) else [measured]
    for place, row in enumerate(listed):
        found: dict[str, Value] = {}
        for key, value in row.items() if isinstance(row, Mapping) else ():
            try:
                if key == "words":
                    continue
                if key not in kinds:
                    raise UnknownNameError("measurement", key, [*kinds, "words"])
                found[key] = _value(value, kinds[key])
            except InputError as error:
                path = (place, key) if isinstance(measured, list) else (key,)
                report.note(error, ("measured", *path))
        if found:
            yield place, found


def _fields(
    facts: dict[str, Value], words: dict[str, str], rows: list[dict[str, Value]]
) -> dict[str, Any]:
    derived = dict(facts)
    nodes, each = facts.get("nodes"), facts.get("gpus_per_node")
    if "ranks" not in facts and isinstance(nodes, float) and isinstance(each, float):
        derived["ranks"] = nodes * each
    wrong = [row for row in rows if row.get("wrong")]
    refusals = [
        {"reason": "wrong_results", "text": f"{row['wrong']:.0f} wrong values: data are corrupted",
         "fix": "find the corruption first; no bandwidth counts before"}
        for row in wrong
    ]  # fmt: skip
    return {
        "facts": derived,
        "words": words,
        "measured": rows,
        "curves": curves(derived, rows),
        "refusals": refusals,
        "missing_facts": list(_missing(derived, rows)),
    }


def _missing(facts: Mapping[str, Value], rows: list[dict[str, Value]]) -> Iterator[str]:
    if not {"chip", "chips", "system"} & set(facts):
        yield "chip: which GPUs these are"
    bandwidths = [row for row in rows if "busbw" in row]
    if bandwidths and not all("size" in row or "size" in facts for row in bandwidths):
        yield "size: of which message the bandwidth is"
    if bandwidths and "collective" not in facts and not all("collective" in r for r in bandwidths):
        yield "collective: which operation the bandwidth is of"
    if float(facts.get("nodes", 1.0) or 1.0) > 1 and not {"nic_rate", "system"} & set(facts):
        yield "nic_rate and nics_per_node: what joins the nodes"


def _summary(fields: Mapping[str, Any]) -> Iterator[str]:
    facts = fields["facts"]
    first = list(facts.items())[:8]
    if first:
        yield "facts: " + ", ".join(f"{key} {_shown(key, value)}" for key, value in first)
    for curve in fields["curves"][:2]:
        last = curve["points"][-1]
        yield (
            f"{curve['collective'] or 'a collective'} of {show_bytes(last['size_bytes'])}: busbw "
            f"{show_rate(last['busbw_bytes_per_s'])}"
        )
    for name, said in fields["words"].items():
        yield f"{name}: {said.strip()[:100]}"


def _shown(key: str, value: Value) -> str:
    if isinstance(value, float) and key in {"size", "memory_per_gpu"}:
        return show_bytes(value)
    if isinstance(value, float) and key == "nic_rate":
        return show_line_rate(value)
    return f"{value:g}" if isinstance(value, float) and not isinstance(value, bool) else str(value)


def _warnings(fields: Mapping[str, Any]) -> Iterator[str]:
    if any(row.get("average") for row in fields["measured"]):
        yield "an average over all sizes is not the peak: small sizes pull it down"
    texts = [*fields["words"].values(), *(str(row.get("note", "")) for row in fields["measured"])]
    totals = any(key in row for row in fields["measured"] for key in _TOTALS)
    if totals and any(_PER_GPU.search(text[:2000]) for text in texts):
        yield "throughputs are taken as totals: of one GPU they are samples_per_s_per_gpu"
    if told_apart(fields["facts"], fields["measured"]):
        yield "measurements of one size differ: those of one note are taken as a run of their own"
    for fact in fields["missing_facts"]:
        yield f"not said: {fact}"


FORMAT: Final = Format("facts", "state", _recognise, _read)
