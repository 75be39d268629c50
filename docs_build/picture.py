"""``docs/picture.svg``: where one step goes as a job grows, drawn from real plans."""

from __future__ import annotations

from typing import Final

from artery.answers.plan import plan
from artery.answers.plan.result import PlanResult

MODEL: Final = "llama3-405b"
SYSTEM: Final = "hgx-h100-roce"
CHIPS: Final = (512, 1024, 2048, 4096, 8192, 16384)

PARTS: Final = (
    ("compute", ("compute",), "#4477aa"),
    ("memory-bound", ("memory_bound", "optimizer", "host"), "#66ccee"),
    ("communication", ("tp", "pp", "cp", "ep", "dp", "other"), "#ee6677"),
    ("pipeline bubble", ("bubble",), "#ccbb44"),
    ("stragglers", ("straggler",), "#bbbbbb"),
)
"""Legend, parts of the step, colour (Paul Tol's bright scheme, safe for the colour-blind)."""

LEFT, WIDTH, ROW, TOP = 90, 560, 34, 62


def drawing() -> str:
    """Return the picture: one bar per number of chips, the best plan's step in shares."""
    rows = [(chips, plan(MODEL, f"{SYSTEM}:{chips}", explained=False).plans[0]) for chips in CHIPS]
    height = TOP + ROW * len(rows) + 14
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" '
            'font-family="sans-serif" font-size="13" role="img">'
        ),
        f"<title>One step of {MODEL} on {SYSTEM}, best plan per number of chips</title>",
        f'<rect width="800" height="{height}" fill="white"/>',
        (
            f'<text x="{LEFT}" y="20" font-size="15">One step of {MODEL} on {SYSTEM}, '
            "the best plan at each size</text>"
        ),
        *_legend(),
    ]
    for index, (chips, best) in enumerate(rows):
        lines += _bar(TOP + ROW * index, chips, best)
    return "\n".join([*lines, "</svg>", ""])


def _legend() -> list[str]:
    lines, x = [], float(LEFT)
    for name, _, colour in PARTS:
        lines.append(f'<rect x="{x:.0f}" y="32" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{x + 17:.0f}" y="43">{name}</text>')
        x += 34 + 7.2 * len(name)
    return lines


def _bar(y: int, chips: int, best: PlanResult) -> list[str]:
    step = best.time.root.value
    shares = {term.name: term.value / step for term in best.time.root.children}
    lines = [f'<text x="{LEFT - 8}" y="{y + 17}" text-anchor="end">{chips:,}</text>']
    x = float(LEFT)
    for _, names, colour in PARTS:
        width = WIDTH * sum(shares.get(name, 0.0) for name in names)
        lines.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="24" fill="{colour}"/>')
        x += width
    label = f"{step:.1f} s, MFU {best.mfu:.0%}"
    return [*lines, f'<text x="{LEFT + WIDTH + 8}" y="{y + 17}">{label}</text>']
