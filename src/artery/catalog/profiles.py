"""``profile("megatron-core")``: what is known of a training framework, from its file.

``data/profiles/<name>.toml`` has the fields of :class:`artery.core.profile.Profile`, quantities
with units, each with its source. Constants that were fitted say so, and ``calibrated_on`` names
the tables whose rows they were fitted on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from artery.catalog.loader import entry, resolve
from artery.catalog.structure import fill
from artery.core.profile import Profile


@cache
def profile(name: str) -> Profile:
    """Return the profile called ``name``.

    Raises :class:`artery.errors.UnknownNameError` with the nearest names.
    """
    sourced = entry("profiles", resolve("profiles", name).name)
    return replace(fill(Profile, sourced.values), provenance=sourced.provenance)
