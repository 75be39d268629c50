"""The catalog: dated facts about hardware, models and software, each with its source.

``chip("h100-sxm")``, ``link("nvlink4")``, ``system("dgx-h100:128")``, ``switch("qm9700")``,
``nic("cx7")``, ``optic("dr4-400")``, ``model("llama3-8b")`` and ``profile("megatron-core")`` return
the nouns of :mod:`artery.core`; a path to a file of the same schema stands in for a name of a chip,
a link, a system or a part. ``names("chips")`` lists what there is. Only the
file that is named is read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from artery.catalog.chips import chip
    from artery.catalog.links import link
    from artery.catalog.loader import names
    from artery.catalog.models import model
    from artery.catalog.parts import nic, optic, switch
    from artery.catalog.profiles import profile
    from artery.catalog.systems import system

_HOME = {
    "chip": "artery.catalog.chips",
    "link": "artery.catalog.links",
    "model": "artery.catalog.models",
    "names": "artery.catalog.loader",
    "nic": "artery.catalog.parts",
    "optic": "artery.catalog.parts",
    "profile": "artery.catalog.profiles",
    "switch": "artery.catalog.parts",
    "system": "artery.catalog.systems",
}

__all__ = [
    "chip",
    "link",
    "model",
    "names",
    "nic",
    "optic",
    "profile",
    "switch",
    "system",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the room offers under that name
    """Import the function on first use, so that a chip does not cost a system's imports."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
