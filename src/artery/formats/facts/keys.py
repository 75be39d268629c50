"""The keys of a facts file, and what their values are: see ``docs/facts.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECTIONS: Final = ("hardware", "software", "workload", "measured")

FACTS: Final[Mapping[str, Mapping[str, str]]] = {
    "hardware": {
        "system": "text", "chip": "chip", "gpus_per_node": "parts", "nodes": "parts",
        "ranks": "parts", "ranks_per_node": "parts", "fabric": "fabric",
        "nics_per_node": "parts_or_none", "nic_rate": "link", "nic_path": "path",
        "cards_used": "parts_or_none", "nvlinks": "parts_or_none", "acs": "flag",
        "virtual_machine": "flag", "peers": "flag", "all_pairs_far": "flag",
        "uplinks_missing": "parts_or_none", "host": "text", "cpus": "parts",
        "memory_per_gpu": "bytes",
    },
    "software": {
        "nccl": "text", "library": "text", "framework": "text", "driver": "text",
        "transport": "text", "gpu_direct_rdma": "flag", "nvls_supported": "flag",
        "nvls_used": "flag", "nvls_disabled": "flag", "p2p_disabled": "flag",
        "ib_disabled": "flag", "pinned_algorithm": "flag", "algorithm": "text",
        "protocol": "text", "zero": "stage", "tp": "parts", "pp": "parts", "dp": "parts",
        "cp": "parts", "ep": "parts", "optimizer": "text", "dtype": "text", "timed_out": "flag",
        "ranks_behind": "parts_or_none",
    },
    "workload": {
        "collective": "collective", "size": "size", "model": "text", "parameters": "amount",
        "sequence": "count", "micro_batch": "count", "global_batch": "count", "layers": "count",
        "hidden": "count", "task": "text",
    },
}  # fmt: skip
"""The facts of each section, and what their values are."""

QUANTITIES: Final[Mapping[str, str]] = {
    "busbw": "rate", "algbw": "rate", "network_rate": "rate", "latency": "time",
    "step_time": "time", "run_time": "time", "flops_per_gpu": "flops", "mfu": "utilisation",
    "samples_per_s": "amount", "tokens_per_s": "amount", "samples_per_s_per_gpu": "amount",
    "tokens_per_s_per_gpu": "amount", "speedup": "amount", "of_expected": "part",
    "memory": "bytes", "allocation": "bytes", "out_of_memory": "flag", "no_change": "flag",
}  # fmt: skip
"""What is measured."""

CONDITIONS: Final[Mapping[str, str]] = {
    "collective": "collective", "size": "size", "ranks": "parts", "nodes": "parts",
    "note": "text", "average": "flag", "wrong": "parts_or_none",
}  # fmt: skip
"""Under what it was measured, and what there is to say about it."""

PATHS: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""How far a card is from its GPU, nearest first, as ``nvidia-smi topo -m`` prints it."""

FABRICS: Final[Mapping[str, str]] = {
    "infiniband": "infiniband", "ib": "infiniband", "roce": "roce", "rocev2": "roce",
    "ethernet": "ethernet", "tcp": "ethernet", "efa": "efa", "slingshot": "slingshot",
    "omni-path": "omni-path", "omnipath": "omni-path", "opa": "omni-path",
}  # fmt: skip
"""What people call the networks between nodes, and the name that the rules know."""
