"""Known facts of chips and links, against mix-ups that are common in print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.catalog import chip, link
from artery.chip.roofline import ridge_point

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "dtype", "tflops"),
    [
        # NVIDIA data sheets print rates with sparsity; dense is half of it.
        ("h100-sxm", "bf16", 989.4),  # H100 white paper v1.04, table 2; 1979 with sparsity
        ("h100-sxm", "fp8", 1978.9),  # the same; 3958 with sparsity
        ("h100-pcie", "bf16", 756),  # H100 data sheet; 1513 with sparsity
        ("h200", "bf16", 989.4),  # H200 data sheet
        ("a100-80g", "bf16", 312),  # A100 data sheet; 624 with sparsity
        ("a100-80g", "tf32", 156),
        ("v100", "fp16", 125),  # V100 white paper
        ("b200", "bf16", 2250),  # HGX B200 data sheet; 4500 with sparsity
        ("gb200", "bf16", 2500),  # GB200 NVL72 data sheet
        ("mi300x", "bf16", 1307.4),  # MI300X data sheet; many tables round to 1300
        ("tpu-v4", "bf16", 275),  # Cloud TPU documentation
        ("tpu-v5p", "bf16", 459),
        ("rtx3090", "fp16", 71),  # with FP32 accumulation; 142 with FP16 accumulation
    ],
)
def test_dense_peaks(name: str, dtype: str, tflops: float) -> None:
    assert chip(name).peaks[dtype] == pytest.approx(tflops * 1e12, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "missing"), [("v100", "bf16"), ("a100-80g", "fp8"), ("h100-sxm", "fp4")]
)
def test_dtypes_that_came_later_are_not_claimed(name: str, missing: str) -> None:
    # One well-known table lists FP8 for the A100, which has none.
    assert missing not in chip(name).peaks


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("h100-sxm", 79.65),  # NVML: 81,559 MiB, so "80 GB" is 85.5 decimal GB
        ("a100-80g", 80.0),  # 81,920 MiB
        ("a100-40g", 40.0),
        ("h200", 140.4),  # 143,771 MiB
        ("b200", 179.06),  # nvidia-smi: 183,359 MiB
    ],
)
def test_capacity_as_the_driver_reports_it(name: str, gib: float) -> None:
    assert chip(name).memory.capacity / GIB == pytest.approx(gib, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "stacks", "tbps"),
    [("h100-sxm", 5, 3.35), ("h200", 6, 4.8), ("a100-80g", 5, 2.039), ("mi300x", 8, 5.3)],
)
def test_hbm_stacks(name: str, stacks: int, tbps: float) -> None:
    memory = chip(name).memory
    assert (memory.stacks, memory.bits_per_stack) == (stacks, 1024)
    assert memory.bandwidth == pytest.approx(tbps * 1e12)


@pytest.mark.parametrize(
    ("name", "per_direction"),
    [
        # Marketing adds both directions: 300, 600, 900 and 1800 GB/s.
        ("nvlink2", 150),
        ("nvlink3", 300),
        ("nvlink4", 450),
        ("nvlink5", 900),
        ("pcie4x16", 31.5),  # 16 GT/s x 16 x 128/130 / 8; "32 GB/s both ways" is wrong
        ("pcie5x16", 63),
        ("ib-hdr", 25),
        ("ib-ndr", 50),
        ("ib-xdr", 100),
        ("eth10", 1.25),
        ("xgmi-mi300x", 64),
        ("ici-v5p", 100),
    ],
)
def test_bandwidth_per_direction(name: str, per_direction: float) -> None:
    assert link(name).bandwidth == pytest.approx(per_direction * 1e9, rel=2e-3)


@pytest.mark.parametrize(
    ("chip_name", "kind", "link_name"),
    [
        ("v100", "nvlink", "nvlink2"),
        ("a100-80g", "nvlink", "nvlink3"),
        ("h100-sxm", "nvlink", "nvlink4"),
        ("b200", "nvlink", "nvlink5"),
        ("rubin", "nvlink", "nvlink6"),
    ],
)
def test_the_ports_of_a_chip_add_up_to_its_link(chip_name: str, kind: str, link_name: str) -> None:
    port = next(port for port in chip(chip_name).ports if port.kind == kind)
    assert port.count * port.bandwidth == pytest.approx(link(link_name).bandwidth)


@pytest.mark.parametrize(("capped", "full"), [("h800", "h100-sxm"), ("a800", "a100-80g")])
def test_export_versions_have_eight_links(capped: str, full: str) -> None:
    port = next(port for port in chip(capped).ports if port.kind == "nvlink")
    assert port.count * port.bandwidth == pytest.approx(200e9)
    assert chip(capped).peaks["bf16"] == chip(full).peaks["bf16"]


def test_one_hbm3_stack_is_16_to_21_times_a_ddr5_channel() -> None:
    stack = link("hbm3").bandwidth
    assert stack == pytest.approx(819.2e9)  # JESD238: 1024 bits at 6.4 Gb/s
    assert stack / link("ddr5-6400").bandwidth == pytest.approx(16)
    assert stack / link("ddr5-4800").bandwidth == pytest.approx(21.33, rel=1e-3)


def test_the_torchtitan_h100_differs_where_it_matters() -> None:
    variant, usual = chip("h100-96g-500w"), chip("h100-sxm")
    assert (variant.power, variant.memory.bandwidth) == (500, 2.4e12)
    assert variant.memory.capacity > usual.memory.capacity
    assert variant.peaks == usual.peaks
    assert variant.efficiency.sustained < usual.efficiency.sustained


@pytest.mark.parametrize(
    ("name", "dtype", "flop_per_byte"),
    # 125/0.9, 312/2.039 and 989.4/3.35: arithmetic outgrows memory from Volta to Hopper.
    [("v100", "fp16", 139), ("a100-80g", "bf16", 153), ("h100-sxm", "bf16", 295)],
)
def test_intensity_where_arithmetic_becomes_the_limit(
    name: str, dtype: str, flop_per_byte: float
) -> None:
    found = chip(name)
    ideal = replace(found.efficiency, matmul={dtype: 1.0}, memory=1.0)
    assert ridge_point(replace(found, efficiency=ideal), dtype) == pytest.approx(
        flop_per_byte, rel=0.01
    )
