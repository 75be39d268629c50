"""NVIDIA DCGM: ``dcgm-exporter`` metrics, ``dcgmi dmon`` tables and ``dcgmi diag`` results.

Of the metrics, the last value of each GPU is kept under DCGM's own field name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.text import Text

_METRIC: Final = re.compile(
    r"(DCGM_FI_\w{3,60})\{([^}]{0,600})\} (-?\d{1,20}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?)\s"
)
_GPU: Final = re.compile(r'\bgpu="(\d{1,4})"')
_MODEL: Final = re.compile(r'modelName="([^"]{1,80})"')
_DMON: Final = re.compile(r"#\s{0,4}(?:Entity|Id)\s+((?:[A-Z][A-Z0-9]{1,9}\s*){1,40})$")
_ROW: Final = re.compile(r"\s{0,4}GPU (\d{1,4})\s+((?:\S{1,20}\s*){1,40})$")
_TEST: Final = re.compile(
    r"\|\s{0,4}([A-Z][\w ./-]{2,40}?)\s{1,40}\|\s{0,4}(Pass|Fail|Skip|Warn)(?: - (\w{1,10}))?"
    r"[^|]{0,80}\|"
)
_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,9})?")

FAULTS: Final = {
    "DCGM_FI_DEV_XID_ERRORS": "the last Xid error",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "double-bit memory errors",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "rows remapped after uncorrectable errors",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "remapping a row failed",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "PCIe packets sent again",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "NVLink bit errors",
    "DCGM_FI_DEV_THERMAL_VIOLATION": "clocks lowered for heat",
    "DCGM_FI_DEV_POWER_VIOLATION": "clocks lowered for power",
}
"""Fields that should be zero (NVIDIA, DCGM field identifiers)."""


def _recognise(text: Text) -> float:
    head = text.head
    if _METRIC.search(head):
        return 0.95
    if "DCGM" in head and "Diagnostic" in head and _TEST.search(head):
        return 0.9
    return 0.8 if any(_DMON.match(line) for line in head.split("\n")[:200]) else 0.0


def _read(text: Text) -> Reading:
    gpus: dict[str, dict[str, float]] = {}
    tests: list[dict[str, Any]] = []
    models: dict[str, None] = {}
    columns: list[str] = []
    used: set[int] = set()
    for count, line in enumerate(text.lines, 1):
        part = line[:4000]
        if metric := _METRIC.match(part + " "):
            gpu = _GPU.search(metric[2])
            value = number(metric[3])
            if value is not None:
                gpus.setdefault(gpu[1] if gpu else "?", {})[metric[1]] = value
            models.update(dict.fromkeys(_MODEL.findall(metric[2])))
        elif header := _DMON.match(part):
            columns = header[1].split()
        elif columns and (row := _ROW.match(part)):
            values = zip(columns, row[2].split(), strict=False)
            known = {name: float(value) for name, value in values if _NUMBER.fullmatch(value)}
            gpus.setdefault(row[1], {}).update(known)
        elif test := _TEST.search(part):
            tests.append({"test": test[1].strip(), "result": test[2], "scope": test[3]})
        else:
            continue
        used.add(count)
    if not gpus and not tests:
        rule = "DCGM prints DCGM_FI_... metrics, dmon tables or diag results"
        raise InputError(
            Problem(file=text.path, found="nothing of it", rule=rule, fix="send it whole")
        )
    fields: dict[str, Any] = {"gpus": gpus, "gpu_count": len(gpus), "models": list(models),
              "tests": tests,
              "failed_tests": [one["test"] for one in tests if one["result"] == "Fail"],
              "faults": list(_faults(gpus))}  # fmt: skip
    warnings = [f"GPU {one['gpu']}: {one['meaning']}, {one['value']:g}" for one in fields["faults"]]
    warnings += [f"the diagnostic {name} failed" for name in fields["failed_tests"]]
    ignored = passed_over(text, used, re.compile(r"\s*(?:#|[+|=-])"))
    return Reading("dcgm", "state", tuple(_summary(fields)), fields, tuple(warnings[:50]), ignored)


def _faults(gpus: dict[str, dict[str, float]]) -> Iterator[dict[str, Any]]:
    for gpu, values in gpus.items():
        for name, meaning in FAULTS.items():
            if values.get(name, 0) > 0:
                yield {"gpu": gpu, "field": name, "value": values[name], "meaning": meaning}


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    if fields["gpu_count"]:
        named = f" ({fields['models'][0]})" if fields["models"] else ""
        names = {name for values in fields["gpus"].values() for name in values}
        yield f"{fields['gpu_count']} GPUs{named}, {len(names)} fields each"
        yield f"fields that should be zero and are not: {len(fields['faults'])}"
    if fields["tests"]:
        passed = sum(one["result"] == "Pass" for one in fields["tests"])
        yield f"diagnostics: {passed} of {len(fields['tests'])} passed"


FORMAT = Format(
    "dcgm", "state", _recognise, _read, tested=False,
    notes=("written from DCGM's documentation; no real output was at hand",),
)  # fmt: skip
