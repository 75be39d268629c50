"""The answer of ``fabric design`` as a payload of JSON, schema ``artery.fabric/1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from artery.answers.fabric import Candidate, DesignAnswer
from artery.answers.fabric.parts import Medium, SwitchChoice
from artery.cluster.design.bill import Cables, Line


def design_payload(answer: DesignAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of ``artery.fabric/1`` for a design; ``request`` is what was asked."""
    parts = answer.parts
    return {
        "answer": "design",
        "request": dict(request),
        "chips": answer.demand.chips,
        "nodes": answer.demand.nodes,
        "parts": {
            "switch": parts.switch and parts.switch.name,
            "nic": parts.nic and parts.nic.name,
            "optic": parts.optic.name,
            "card_optic": parts.card_optic.name,
            "copper": [one.name for one in parts.copper],
        },
        "candidates": [_candidate(one) for one in answer.candidates],
        "rejected": answer.rejected,
        "switches": [_switch(one) for one in answer.switches],
        "media": [_medium(one) for one in answer.media],
        "facts": answer.facts,
        "notes": answer.notes,
        "warnings": answer.warnings,
    }


def _candidate(one: Candidate) -> dict[str, Any]:
    design, bill = one.design, one.bill
    fewest, most = design.hops
    return {
        "name": design.name,
        "kind": design.kind,
        "switches": design.switches,
        "tiers": [
            {"name": t.name, "switches": t.switches, "ports_down": t.down, "ports_up": t.up}
            for t in design.tiers
        ],
        "trees": design.trees,
        "planes": design.planes,
        "radix": design.radix,
        "port_bytes_per_s": design.rate,
        "links": sum(design.links),
        "links_by_tier": design.links,
        "cables": [_cables(run) for run in bill.cables],
        "lengths": [
            {"tier": run.tier, "length_m": run.length, "count": run.count} for run in one.runs
        ],
        "transceivers": bill.transceivers,
        "bill": [_line(line) for line in bill.lines],
        "power_w": bill.power,
        "price_usd": bill.price,
        "bisection_bytes_per_s": design.bisection,
        "bisection_fraction": design.bisection_fraction,
        "switches_passed": {"fewest": fewest, "most": most},
        "latency_s": {
            latency.fabric: {"leaf": latency.leaf, "top": top} for latency, top in one.latencies
        },
        "blasts": one.blasts,
        "failures_per_day": {
            "optics": bill.optic_failures,
            "optics_source": one.optic_source,
            "card_links": one.link_failures,
            "leaves": one.leaf_failures,
        },
        "reach_chips": design.reach,
        "reasons": one.reasons,
    }


def _cables(run: Cables) -> dict[str, Any]:
    return {
        "tier": run.tier,
        "part": run.part,
        "copper": run.copper,
        "count": run.count,
        "shortest_m": run.shortest,
        "longest_m": run.longest,
        "shortest_s": run.delay.low,
        "longest_s": run.delay.high,
        "within_reach": run.within_reach,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "role": line.role,
        "part": line.name,
        "count": line.count,
        "power_w": line.power,
        "price_usd": line.price,
        "price_date": line.price_date,
    }


def _switch(one: SwitchChoice) -> dict[str, Any]:
    return {
        "name": one.name,
        "fabric": one.fabric,
        "ports": one.ports,
        "power_w_per_port": one.port_power,
        "price_usd_per_port": one.port_price,
        "latency_s": one.latency,
        "chip_alone": one.chip_alone,
    }


def _medium(one: Medium) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "reach_m": one.reach,
        "power_w_per_end": one.power,
        "price_usd_per_end": one.price,
        "latency_s": one.latency,
        "failures_per_year_per_end": one.failures_per_year,
        "reached_fraction": one.reached,
    }
