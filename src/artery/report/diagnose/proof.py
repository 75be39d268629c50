"""Renders a cause that was played on the network, and what it costs a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose.job import Job
from artery.answers.diagnose.proof import Proof
from artery.report.diagnose.words import diagnose_words
from artery.report.drawing.terminal import indented, labelled
from artery.report.said import said
from artery.report.words import Language, Words


def gigabytes(rate: float) -> str:
    """Return B/s as GB/s, with as many digits as a maintainer says."""
    value = rate / 1e9
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def proof_payload(proof: Proof) -> Mapping[str, object]:
    """Return the document of a proof."""
    return {
        "cause": proof.cause,
        "what": proof.what or None,
        "world": proof.world,
        "algorithm": proof.algorithm,
        "engine": proof.engine,
        "routing": proof.routing,
        "ranks_placed_by_file": proof.mapped,
        "lands": proof.lands,
        "points": [
            {
                "size_bytes": one.size,
                "measured_bytes_per_s": one.measured,
                "whole_bytes_per_s": one.whole,
                "faulty_bytes_per_s": one.faulty,
                "algorithm": one.algorithm,
            }
            for one in proof.points
        ],
    }


def job_payload(job: Job) -> Mapping[str, object]:
    """Return the document of a job before and after the repair."""
    plan = job.plan
    return {
        "model": job.model,
        "system": job.system,
        "parallelism": {"tp": plan.tp, "pp": plan.pp, "cp": plan.cp, "ep": plan.ep, "dp": plan.dp},
        "fits": job.fits,
        "step_time_now_s": job.now,
        "step_time_repaired_s": job.repaired,
        "lost_share": job.lost,
        "cost_usd_per_hour": job.cost_per_hour,
        "lost_usd_per_day": job.lost_per_day,
    }


_PROVED: Final = 0.5
"""Assumed: what is less likely than not is not proved by a play that comes near."""


def proof_drawing(
    proof: Proof, language: Language, share: float, *, shared: bool = False
) -> Iterator[RenderableType]:
    """Yield what was played, the sizes, and whether it lands on what was measured.

    ``share`` is how likely it is that the network is changed so; ``shared``: several causes change
    it alike.
    """
    word = diagnose_words(language)
    cut = ", ".join(said(one, language, "diagnose") for one in proof.what.split(", "))
    how = word["played"].format(
        engine=proof.engine, routing=word[f"routing_{proof.routing}"],
        algorithm=proof.algorithm.replace("_", " "),
    )  # fmt: skip
    lines = [Text(f"{cut or word['changed']}; {how}")]
    if proof.mapped:
        lines.append(Text(word["mapped"]))
    yield labelled(word["proof"], lines)
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    heads = (word["size"], word["measured"], word["with_fault"], word["without_fault"])
    table.add_row(*heads, style="bold")
    for one in proof.points:
        cells = map(gigabytes, (one.measured, one.faulty, one.whole))
        table.add_row(units.show_bytes(one.size), *cells)
    yield indented(table)
    if len(proof.counted) < len(proof.points):
        text = word["start_up"].format(size=units.show_bytes(proof.counted[0].size))
        yield indented(Text(text))
    far = proof.farthest
    figures = {
        "size": units.show_bytes(far.size), "measured": gigabytes(far.measured),
        "played": gigabytes(far.faulty), "off": units.show_percent(far.off),
        "share": units.show_percent(share),
    }  # fmt: skip
    proved = proof.lands and share >= _PROVED
    key = "misses"
    if proof.lands:
        key = "lands_unlikely" if not proved else "lands_shared" if shared else "lands"
    yield indented(Text(word[key].format(**figures), style="green" if proved else "yellow"))


def job_drawing(job: Job, word: Words) -> Iterator[RenderableType]:
    """Yield the job's step and dollars before and after the repair."""
    plan = job.plan
    degrees = {"tp": plan.tp, "pp": plan.pp, "cp": plan.cp, "ep": plan.ep, "dp": plan.dp}
    split = " · ".join(f"{name} {count}" for name, count in degrees.items() if count > 1)
    said = word["job_step"].format(
        now=units.show_time(job.now), repaired=units.show_time(job.repaired),
        share=units.show_percent(job.lost),
    )  # fmt: skip
    lines = [Text(f"{job.model}  {split}  {job.system}"), Text(said)]
    if job.cost_per_hour is not None and job.lost_per_day is not None:
        per_sample = job.cost_per_hour / 3600.0 / job.samples * 1e6
        lines.append(Text(word["job_cost"].format(
            now=units.show_money(per_sample * job.now),
            repaired=units.show_money(per_sample * job.repaired),
            day=units.show_money(job.lost_per_day),
        )))  # fmt: skip
    yield labelled(word["job"], lines)
