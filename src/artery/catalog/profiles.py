"""``profile("megatron-core")``: what is known of a training framework, from its file.

``data/profiles/<name>.toml`` has the fields of :class:`artery.core.profile.Profile`, quantities
with units, each with its source. Constants that were fitted say so, and ``calibrated_on`` names
the tables whose rows they were fitted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from artery.catalog.loader import entry, resolve
from artery.catalog.structure import fill
from artery.core.profile import Profile
from artery.units import Unit


@dataclass(frozen=True, slots=True)
class ProfileTable:
    """A profile's file; see :class:`artery.core.profile.Profile` for the meaning of each."""

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
    shard_keeps_parameters: bool = False
    calibrated_on: tuple[str, ...] = ()


@cache
def profile(name: str) -> Profile:
    """Return the profile called ``name``.

    Raises :class:`artery.errors.UnknownNameError` with the nearest names.
    """
    sourced = entry("profiles", resolve("profiles", name).name)
    table = fill(ProfileTable, sourced.values)
    fields = {key: getattr(table, key) for key in ProfileTable.__dataclass_fields__}
    return Profile(**fields, provenance=sourced.provenance)
