"""The keys of a facts file, and what their values are: see ``docs/facts.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECTIONS: Final = ("hardware", "software", "workload", "measured")

FACTS: Final[Mapping[str, Mapping[str, str]]] = {
    "hardware": {
        "system": "text", "chip": "chip", "gpus_per_node": "count", "nodes": "count",
        "ranks": "count", "ranks_per_node": "count", "fabric": "text", "nics_per_node": "count",
        "nic_rate": "link", "nic_path": "path", "cards_used": "count", "nvlinks": "count",
        "acs": "flag", "virtual_machine": "flag", "peers": "flag", "all_pairs_far": "flag",
        "uplinks_missing": "count", "host": "text", "cpus": "count", "memory_per_gpu": "bytes",
    },
    "software": {
        "nccl": "text", "library": "text", "framework": "text", "driver": "text",
        "transport": "text", "gpu_direct_rdma": "flag", "nvls_supported": "flag",
        "nvls_used": "flag", "nvls_disabled": "flag", "p2p_disabled": "flag",
        "ib_disabled": "flag", "pinned_algorithm": "flag", "algorithm": "text",
        "protocol": "text", "zero": "count", "tp": "count", "pp": "count", "dp": "count",
        "cp": "count", "ep": "count", "optimizer": "text", "dtype": "text", "timed_out": "flag",
        "ranks_behind": "count",
    },
    "workload": {
        "collective": "text", "size": "size", "model": "text", "parameters": "amount",
        "sequence": "count", "micro_batch": "count", "global_batch": "count", "layers": "count",
        "hidden": "count", "task": "text",
    },
}  # fmt: skip
"""The facts of each section, and what their values are."""

QUANTITIES: Final[Mapping[str, str]] = {
    "busbw": "rate", "algbw": "rate", "network_rate": "rate", "latency": "time",
    "step_time": "time", "run_time": "time", "flops_per_gpu": "flops", "mfu": "share",
    "samples_per_s": "amount", "tokens_per_s": "amount", "samples_per_s_per_gpu": "amount",
    "tokens_per_s_per_gpu": "amount", "speedup": "amount", "of_expected": "share",
    "memory": "bytes", "allocation": "bytes", "out_of_memory": "flag", "no_change": "flag",
}  # fmt: skip
"""What is measured."""

CONDITIONS: Final[Mapping[str, str]] = {
    "collective": "text", "size": "size", "ranks": "count", "nodes": "count", "note": "text",
    "average": "flag", "wrong": "count",
}  # fmt: skip
"""Under what it was measured, and what there is to say about it."""

PATHS: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""How far a card is from its GPU, nearest first, as ``nvidia-smi topo -m`` prints it."""
