"""The tour's stops by name: the function that computes the figures of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from artery.answers.tour.chip import does_it_fit, inside, memory, one_chip
from artery.answers.tour.cloud import failures, minutes, pool, recovery
from artery.answers.tour.cluster import energy, gpt3, infiniband, ten_thousand, ten_trillion
from artery.answers.tour.figures import Figures
from artery.answers.tour.node import all_reduce, amdahl, dgx_1, falling, links, wiring

STOPS: Final[Mapping[str, Callable[[], Figures]]] = {
    "one-chip": one_chip,
    "does-it-fit": does_it_fit,
    "memory": memory,
    "inside": inside,
    "links": links,
    "dgx-1": dgx_1,
    "wiring": wiring,
    "amdahl": amdahl,
    "falling": falling,
    "all-reduce": all_reduce,
    "ten-thousand": ten_thousand,
    "infiniband": infiniband,
    "gpt3": gpt3,
    "failures": failures,
    "recovery": recovery,
    "minutes": minutes,
    "pool": pool,
    "energy": energy,
    "ten-trillion": ten_trillion,
}
"""The function of each stop in ``data/tour.toml``."""
