"""The document ``artery.diagnose/1``; its causes are in English."""

from __future__ import annotations

from collections.abc import Mapping

from artery.answers.diagnose import DiagnoseAnswer
from artery.diagnoser.case import Curve
from artery.diagnoser.verdict import Judged
from artery.diagnoser.weigh import Weighed
from artery.report.diagnose.proof import job_payload, proof_payload
from artery.report.diagnose.run import run_payload
from artery.report.diagnose.trace import trace_payload


def diagnose_payload(answer: DiagnoseAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.diagnose/1``; causes are in English."""
    found = answer.diagnosis
    judged = found.judged
    return {
        "verdict": found.verdict,
        "system": answer.system,
        "measured": None if found.curve is None else _measured(found.curve, judged, answer),
        "expected": None if judged is None else _expected(judged),
        "ratio": None if judged is None else judged.ratio,
        "shortest": None if judged is None or not judged.dips else _shortest(judged),
        "findings": [_finding(one, judged) for one in found.findings],
        "missing_facts": found.missing,
        "refusals": found.refusals,
        "assumed": answer.assumed,
        "notes": answer.notes,
        "facts": {
            name: {"value": value, "from": answer.origins.get(name)}
            for name, value in answer.facts.items()
        },
        "files": [{"path": path, "format": name} for path, name in answer.files],
        "proof": None if answer.proof is None else proof_payload(answer.proof),
        "job": None if answer.job is None else job_payload(answer.job),
        "run": None if answer.run is None else run_payload(answer.run),
        "trace": None if answer.trace is None else trace_payload(answer.trace),
    }


def _measured(curve: Curve, judged: Judged | None, answer: DiagnoseAnswer) -> Mapping[str, object]:
    shape = judged.shape if judged is not None else None
    return {
        "collective": curve.collective,
        "ranks": curve.ranks,
        "nodes": curve.nodes,
        "size_bytes": curve.last.size,
        "busbw_bytes_per_s": curve.last.busbw,
        "wire_bytes_per_s_per_chip": answer.wire,
        "shape": None if shape is None else shape.shape,
        "plateau_bytes_per_s": None if shape is None else shape.plateau,
        "knee_bytes": None if shape is None else shape.knee,
        "file": curve.source,
        "points": [
            {"size_bytes": one.size, "busbw_bytes_per_s": one.busbw} for one in curve.points
        ],
    }


def _expected(judged: Judged) -> Mapping[str, object]:
    rows = zip(judged.curve.points, judged.expected, judged.low, judged.high, strict=True)
    return {
        "size_bytes": judged.curve.last.size,
        "busbw_bytes_per_s": judged.expected[-1],
        "low_bytes_per_s": judged.low[-1],
        "high_bytes_per_s": judged.high[-1],
        "points": [
            {
                "size_bytes": point.size,
                "busbw_bytes_per_s": middle,
                "low_bytes_per_s": low,
                "high_bytes_per_s": high,
            }
            for point, middle, low, high in rows
        ],
    }


def _shortest(judged: Judged) -> Mapping[str, object]:
    point = judged.curve.points[judged.place]
    return {
        "size_bytes": point.size,
        "busbw_bytes_per_s": point.busbw,
        "expected_bytes_per_s": judged.expected[judged.place],
        "ratio": judged.least,
    }


def _finding(one: Weighed, judged: Judged | None) -> Mapping[str, object]:
    explained = one.explanation
    return {
        "cause": one.cause.key,
        "title": one.cause.en,
        "evidence": one.evidence,
        "against": one.against,
        "confidence": one.confidence,
        "fault_in_itself": one.beside,
        "explains": {
            "fits": explained.fits,
            "expected_bytes_per_s": judged.expected[-1] if judged is not None else None,
            "measured_bytes_per_s": judged.curve.last.busbw if judged is not None else None,
            "with_cause_bytes_per_s": explained.predicted,
            "remaining_factor": explained.remains,
            "world": explained.world,
            "algorithm": explained.algorithm,
            "played_bytes_per_s": explained.played,
        },
        "next_step": one.cause.next,
        "reference": one.cause.reference,
    }
