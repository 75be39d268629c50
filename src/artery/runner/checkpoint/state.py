"""A training's state as bytes, and the digest of a model's weights."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import torch
from torch import nn


def packed(state: dict[str, Any]) -> bytes:
    """Return ``state`` (tensors, numbers, text, lists, dictionaries) as bytes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def unpacked(data: bytes) -> dict[str, Any]:
    """Return what :func:`packed` was given; no code in ``data`` is run."""
    state: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return state


def cloned(thing: Any) -> Any:  # noqa: ANN401 - any nest of containers
    """Return a copy of ``thing`` whose tensors the next step does not change."""
    if isinstance(thing, torch.Tensor):
        return thing.detach().clone()
    if isinstance(thing, dict):
        return {key: cloned(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(cloned(value) for value in thing)
    return thing


def digest(model: nn.Module) -> str:
    """Return the SHA-256 of all weights and buffers: names, types, shapes, bits."""
    whole = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        whole.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
        bits = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        whole.update(bits.numpy().tobytes())
    return whole.hexdigest()
