"""``Profile``: what is known of one training framework, dated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from artery.core.source import Provenance
from artery.units import Unit


@dataclass(frozen=True, slots=True)
class Profile:
    """A framework's behaviour, in constants with a physical meaning.

    ``traffic`` multiplies the bytes of elementwise work (1 = the model's own count, more =
    less fusion); ``kernels`` multiplies its kernel count; ``overlap`` maps ``dp``, ``tp``,
    ``pp``, ``ep`` to the fraction of that communication that can hide behind compute;
    ``contention`` is the share of hidden communication that still slows compute;
    ``host`` is host seconds per layer, micro-batch and pass (the launch floor).
    ``straggler`` is the relative slow-down per doubling of the nodes, as the slowest of many
    sets the pace. ``logit_bytes`` is bytes kept per logit, ``reserve`` the fraction of memory
    lost to fragmentation and ``context`` the bytes held by driver, libraries and communicators.
    ``fused_accumulation`` says that weight gradients are added inside the matrix product instead
    of by a pass of their own. ``composed`` says that RMSNorm and rotary embeddings have no kernel
    and are built of single operations in 32 bit. ``shard_keeps_parameters`` says that FSDP leaves
    parameters gathered between forward and backward when pipelined; ``zero`` and ``attention`` are
    the framework's defaults.
    """

    name: str
    as_of: str
    description: str
    attention: str
    zero: int
    optimizer: str
    grad_dtype: str
    traffic: float
    kernels: float
    overlap: Mapping[str, float]
    contention: float
    host: Annotated[float, Unit("s")]
    straggler: float
    logit_bytes: float
    reserve: float
    context: Annotated[float, Unit("B")]
    fused_accumulation: bool = False
    composed: bool = False
    zero_stages: tuple[int, ...] = (0, 1, 2, 3)
    shard_keeps_parameters: bool = False
    calibrated_on: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=dict)
