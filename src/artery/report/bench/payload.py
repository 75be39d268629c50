"""The documents of ``artery.bench/1``: results, and where and among whom they were measured."""

from __future__ import annotations

from collections.abc import Mapping

from artery.answers.bench.result import (
    ChipAnswer,
    ChipRow,
    CollectiveRow,
    CollectivesAnswer,
    LinksAnswer,
    PairRow,
    Party,
)

Payload = Mapping[str, object]


def chip_payload(answer: ChipAnswer) -> Payload:
    """Return the keys of a chip."""
    return {
        "bench": "chip",
        "device": answer.device,
        "name": answer.name,
        "threads": answer.threads,
        "environment": [answer.surroundings],
        "results": [_chip_row(row) for row in answer.rows],
        "warnings": answer.warnings,
    }


def _chip_row(row: ChipRow) -> Payload:
    times = row.times
    return {
        "kind": row.kind,
        "name": row.name,
        "unit": row.unit,
        "value": row.value,
        "median_value": row.median,
        "work": row.work,
        "min_s": None if times is None else times.least,
        "median_s": None if times is None else times.median,
        "repeats": 0 if times is None else len(times.seconds),
        "inputs": row.inputs,
        "why": row.why or None,
    }


def collectives_payload(answer: CollectivesAnswer) -> Payload:
    """Return the keys of collectives."""
    return {
        "bench": "collectives",
        **_party(answer.party),
        "compared": answer.compared,
        "on": answer.on,
        "paced": answer.paced,
        "results": [_collective_row(row) for row in answer.rows],
        "left_out": answer.left_out,
        "warnings": answer.warnings,
    }


def _party(party: Party) -> dict[str, object]:
    return {
        "backend": party.backend,
        "library": party.library,
        "ranks": party.ranks,
        "hosts": party.hosts,
        "warmup": party.warmup,
        "repeats": party.repeats,
        "environment": party.processes,
    }


def _collective_row(row: CollectiveRow) -> Payload:
    predicted = row.predicted
    return {
        "collective": row.collective,
        "algorithm": row.algorithm,
        "shape": row.shape,
        "ranks": row.ranks,
        "size_bytes": row.size,
        "count": row.count,
        "type": row.dtype,
        "time_s": row.times.median,
        "min_s": row.times.least,
        "median_s": row.times.median,
        "p99_s": row.times.share(0.99),
        "max_s": row.times.most,
        "repeats": len(row.times.seconds),
        "algbw_bytes_per_s": row.algbw,
        "busbw_bytes_per_s": row.busbw,
        "wrong": row.wrong,
        "predicted_s": None if predicted is None else predicted.seconds,
        "predicted_low_s": None if predicted is None else predicted.low,
        "predicted_high_s": None if predicted is None else predicted.high,
    }


def links_payload(answer: LinksAnswer) -> Payload:
    """Return the keys of links; matrices are from rank (row) to rank (column)."""
    return {
        "bench": "links",
        **_party(answer.party),
        "tool": answer.tool,
        "size_bytes": answer.size,
        "results": [_pair(pair) for pair in answer.pairs],
        "latency_s": answer.latency(),
        "bandwidth_bytes_per_s": answer.bandwidth(),
        "slow_ranks": answer.slow_ranks,
        "slow_pairs": answer.slow_pairs,
        "warnings": answer.warnings,
    }


def _pair(pair: PairRow) -> Payload:
    return {
        "source": pair.source,
        "target": pair.target,
        "latency_s": pair.latency,
        "median_latency_s": pair.median_latency,
        "bandwidth_bytes_per_s": pair.onward,
        "back_bandwidth_bytes_per_s": pair.back,
    }
