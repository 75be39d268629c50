"""The GPUs that processes of a measurement may have."""

from __future__ import annotations

from artery.errors import InputError, Problem


def gpus() -> int:
    """Return how many GPUs torch sees."""
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def check_gpus(processes: int) -> None:
    """Raise :class:`artery.errors.InputError` unless ``processes`` of a host have a GPU each."""
    there = gpus()
    if there < processes:
        found = f"nccl for {processes} process(es) of a host where torch sees {there} GPU(s)"
        rule = "NCCL carries messages between GPUs, one for each process"
        fix = "--backend gloo sends between processors" + (f", or --ranks {there}" * (there > 1))
        raise InputError(Problem(field="backend", found=found, rule=rule, fix=fix))
