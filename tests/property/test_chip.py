"""What holds for every chip and every shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import chip, names
from artery.chip.attention import attention_time
from artery.chip.gemm import OUTPUT, TILES, matmul_time
from artery.chip.roofline import WIDTH, roofline_time
from artery.core.chip import Chip

CHIPS = {name: chip(name) for name in names("chips")}


@dataclass(frozen=True)
class Product:
    """A product of m x k with k x n on one chip."""

    name: str
    dtype: str
    m: int
    n: int
    k: int

    @property
    def chip(self) -> Chip:
        return CHIPS[self.name]

    @property
    def seconds(self) -> float:
        return float(matmul_time(self.m, self.n, self.k, chip=self.chip, dtype=self.dtype))


def products() -> st.SearchStrategy[Product]:
    sizes = st.integers(1, 40_000)
    kinds = [(name, dtype) for name, found in CHIPS.items() for dtype in found.peaks]
    return st.builds(
        lambda kind, *shape: Product(*kind, *shape), st.sampled_from(kinds), sizes, sizes, sizes
    )


@given(products())
def test_no_product_beats_the_roofline(product: Product) -> None:
    m, n, k, width = product.m, product.n, product.k, WIDTH[product.dtype]
    moved = (m + n) * k * width + m * n * max(width, OUTPUT)
    bound = roofline_time(2.0 * m * n * k, moved, chip=product.chip, dtype=product.dtype)
    assert np.isfinite(product.seconds)
    assert product.seconds >= float(bound) * (1 - 1e-12)


@given(products())
def test_a_product_and_its_transpose_take_the_same_time(product: Product) -> None:
    assert replace(product, m=product.n, n=product.m).seconds == pytest.approx(product.seconds)


@given(products(), st.sampled_from("mnk"))
def test_more_whole_tiles_never_take_less_time(product: Product, grown: str) -> None:
    step = 64 if grown == "k" else max(side for tile in TILES for side in tile[:2])
    larger = replace(product, **{grown: getattr(product, grown) + step})
    assert larger.seconds >= product.seconds * (1 - 1e-12)


@given(products())
def test_one_answer_alone_and_in_an_array(product: Product) -> None:
    rows = np.array([1.0, product.m, 77.0])
    together = matmul_time(rows, product.n, product.k, chip=product.chip, dtype=product.dtype)
    assert together[1] == pytest.approx(product.seconds, rel=1e-12)


@given(
    st.integers(1, 1_000_000),
    st.sampled_from(
        [(name, kind) for name, found in CHIPS.items() for kind in found.efficiency.attention]
    ),
)
def test_attention_stays_below_the_peak_and_gains_with_length(
    length: int, where: tuple[str, str]
) -> None:
    found, kind = CHIPS[where[0]], where[1]
    dtype = next(iter(found.peaks))
    times, _ = attention_time(1e12, [length, 2 * length], chip=found, kind=kind, dtype=dtype)
    assert times[0] >= times[1] >= 1e12 / found.peaks[dtype]
