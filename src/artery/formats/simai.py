"""SimAI's and AICB's files: workloads of layers, and the ns-3 network configuration.

A workload begins with ``HYBRID_TRANSFORMER_FWD_IN_BCKWD key: value ...``, then the number of
layers, then one layer a line: name, dependency, and for forward, input gradient and weight
gradient each compute time in ns, collective and bytes, then the update time in ns (Wang et al.,
"SimAI", NSDI 2025; alibaba/SimAI documentation). The configuration is lines of ``KEY value``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import runs
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.numerals import number, whole
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_bytes

_HEADER: Final = re.compile(
    r"\s*(HYBRID_[A-Z_]{3,60}|DATA|MODEL|MICRO|TRANSFORMER\w*)\b(.{0,2000})$"
)
_PAIR: Final = re.compile(r"([A-Za-z]\w{0,60}):\s*(\S{1,40})")
_KEY: Final = re.compile(r"([A-Z][A-Z0-9_]{1,60})\s+(\S.{0,4000}?)\s*$")
_NS3: Final = frozenset({"CC_MODE", "ENABLE_QCN", "PACKET_PAYLOAD_SIZE", "KMAX_MAP", "BUFFER_SIZE",
                         "USE_DYNAMIC_PFC_THRESHOLD", "RATE_AI", "U_TARGET"})  # fmt: skip
_MODES: Final = {1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}
"""``CC_MODE`` of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control)."""

PASSES: Final = ("forward", "input_gradient", "weight_gradient")
COLUMNS: Final = 12
MOST_LISTED: Final = 5000


def _recognise(text: Text) -> float:
    if text.head.lstrip()[:1200].startswith("HYBRID_"):
        return 0.95
    keys = {found[1] for line in text.head.split("\n")[:200] if (found := _KEY.match(line))}
    return 0.9 if len(keys & _NS3) >= 3 else 0.0


def _read(text: Text) -> Reading:
    if text.head.lstrip().startswith("HYBRID_"):
        return _workload(text)
    return _configuration(text)


def _workload(text: Text) -> Reading:
    lines = [(number_, line) for number_, line in enumerate(text.lines, 1) if line.strip()]
    header = _HEADER.match(lines[0][1])
    settings = dict(_PAIR.findall(header[2])) if header else {}
    said = whole(lines[1][1].split()[0]) if len(lines) > 1 else None
    layers: list[dict[str, Any]] = []
    strange: list[int] = []
    trailing: list[str] = []
    for at, line in lines[2:]:
        layer = _layer(line.split())
        if layer is None:
            strange.append(at)
        else:
            layers.append(layer)
            trailing += line.split()[COLUMNS:]
    if len(lines) > 1:
        trailing += lines[1][1].split()[1:]
    if not layers:
        rule = f"a layer has {COLUMNS} columns"
        raise InputError(Problem(file=text.path, found="no layer", rule=rule, fix="send the file"))
    fields = _fields(settings, layers, said)
    fields["strategy"] = header[1] if header else None
    fields["trailing"] = trailing[:20]
    ignored = list(runs(strange, f"not {COLUMNS} columns"))
    if trailing:
        ignored.append(Ignored(lines[1][0], len(trailing), "words after the last column"))
    return Reading("simai", "workload", tuple(_summary(fields))[:5], fields,
                   tuple(_warnings(fields, said)), tuple(ignored))  # fmt: skip


def _layer(words: list[str]) -> dict[str, Any] | None:
    """Return a layer, times in s and sizes in bytes; ``None`` for a row that is none."""
    if len(words) < COLUMNS:
        return None
    passes = {}
    for index, name in enumerate(PASSES):
        time, kind, size = words[2 + 3 * index : 5 + 3 * index]
        nanoseconds, amount = number(time), number(size)
        if nanoseconds is None or amount is None:
            return None
        comm = None if kind == "NONE" else kind
        passes[name] = {"compute_s": nanoseconds * 1e-9, "collective": comm, "size_bytes": amount}
    update = number(words[11])
    return {"name": words[0], **passes, "update_s": update * 1e-9 if update is not None else None}


def _fields(
    settings: dict[str, str], layers: list[dict[str, Any]], said: int | None
) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for layer in layers:
        for name in PASSES:
            if layer[name]["collective"]:
                counts[layer[name]["collective"]] += 1
                sizes[layer[name]["collective"]] += layer[name]["size_bytes"]
    return {
        "part": "workload",
        "tp": whole(settings.get("model_parallel_NPU_group")),
        "ep": whole(settings.get("ep")),
        "pp": whole(settings.get("pp")),
        "vpp": whole(settings.get("vpp")),
        "micro_batches": whole(settings.get("ga")),
        "gpus": whole(settings.get("all_gpus")),
        "settings": settings,
        "layers_said": said,
        "layer_count": len(layers),
        "layer_kinds": dict(Counter(layer["name"] for layer in layers)),
        "collective_counts": dict(counts),
        "collective_bytes": dict(sizes),
        "compute_s": sum(layer[name]["compute_s"] for layer in layers for name in PASSES),
        "layers": layers[:MOST_LISTED],
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"SimAI workload of {counted(fields['layer_count'], 'layer')}, tp {fields['tp']}"
    for kind, count in fields["collective_counts"].items():
        yield f"{count} x {kind}, {show_bytes(fields['collective_bytes'][kind])} in all"


def _warnings(fields: dict[str, Any], said: int | None) -> Iterator[str]:
    if said != fields["layer_count"]:
        yield f"the file says {said} layers and has {fields['layer_count']}"
    if not fields["gpus"]:
        yield "the number of GPUs is not said (all_gpus)"


def _configuration(text: Text) -> Reading:
    found: dict[str, Any] = {}
    strange: list[int] = []
    for at, line in enumerate(text.lines, 1):
        pair = _KEY.match(line)
        if pair is not None:
            value = number(pair[2])
            found[pair[1]] = value if value is not None else pair[2]
        elif line.strip() and not line.lstrip().startswith("#"):
            strange.append(at)
    if not found:
        rule = "a configuration has lines of KEY value"
        raise InputError(Problem(file=text.path, found="none", rule=rule, fix="send the file"))
    mode = whole(found.get("CC_MODE"))
    fields = {
        "part": "network",
        "congestion_control": _MODES.get(mode, f"mode {mode}") if mode is not None else None,
        "payload_bytes": number(found.get("PACKET_PAYLOAD_SIZE")),
        "dynamic_pfc_threshold": bool(number(found.get("USE_DYNAMIC_PFC_THRESHOLD"))),
        "dcqcn_enabled": bool(number(found.get("ENABLE_QCN"))),
        "buffer_bytes": (number(found.get("BUFFER_SIZE")) or 0.0) * 2**20 or None,
        "ecn": {key.partition("_")[0].lower(): _map(found[key])
                for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP") if key in found},
        "parameters": found,
    }  # fmt: skip
    payload = fields["payload_bytes"] or 0
    summary = (
        f"ns-3 network of SimAI: {len(found)} parameters",
        f"congestion control {fields['congestion_control']}, payload {payload:g} B",
    )
    return Reading("simai", "system", summary, fields, (), runs(strange, "no KEY value"))


def _map(words: object) -> list[dict[str, float | None]]:
    """Return ``n rate value rate value ...`` as thresholds by link rate (bit/s becomes B/s)."""
    parts = [number(word) for word in str(words).split()[1:]]
    pairs = zip(parts[::2], parts[1::2], strict=False)
    return [
        {"rate_bytes_per_s": rate / 8, "value": value} for rate, value in pairs if rate is not None
    ]


FORMAT: Final = Format("simai", "workload", _recognise, _read)
