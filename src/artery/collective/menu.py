"""Which algorithms a library chooses from, by collective and version.

NCCL: ``src/graph/tuning.cc`` and release notes. All-reduce: ring, tree (2.4), NVLS in one node
(2.17), NVLSTree over several (2.18). All-gather and reduce-scatter: ring, NVLS (2.17), PAT with
one chip per node (2.23). Broadcast and reduce: ring only. All-to-all and send/receive: grouped
point-to-point messages. There is no halving-doubling. CollNet (SHARP) must be switched on
(``NCCL_COLLNET_ENABLE=1`` and its plugin), so it is on the menu of ``best``, not of ``auto``.

RCCL: ring and tree. gloo: the ring, which its ``allreduce`` takes unless told otherwise, and
PyTorch does not tell (measured: a small all-reduce of four takes the delays of six steps, not of
four); its halving-doubling is an interface of its own. XLA on TPUs: by dimension of the torus.
"""

from __future__ import annotations

from typing import Literal

from artery.collective.algorithms import ALGORITHMS, serving
from artery.collective.library import Library, release
from artery.collective.schedules import names
from artery.collective.spelling import spelled
from artery.core.pricing import Collective
from artery.errors import UnknownNameError, UsageError

Adds = Literal["auto", "none", "switch"]
"""Who may add: as the library does by itself, chips alone, or switches between nodes too."""

_SINCE: dict[str, dict[str, str]] = {
    "nccl": {
        "ring": "0",
        "tree": "2.4",
        "nvls": "2.17",
        "nvls_tree": "2.18",
        "pat": "2.23",
        "grouped": "2.7",
        "sendrecv": "2.7",
    },
    "rccl": {"ring": "0", "tree": "2.4", "grouped": "0", "sendrecv": "0"},
    "gloo": {"ring": "0", "grouped": "0", "sendrecv": "0"},
    "ici": {"torus": "0", "sendrecv": "0"},
}
"""By library: the first version that has an algorithm."""


def menu(
    library: Library, collective: Collective, algorithm: str = "auto", adds: Adds = "auto"
) -> tuple[str, ...]:
    """Return the names of the algorithms to take the fastest of.

    ``auto`` is the menu of ``library`` at its version, without the algorithms of switches or with
    those of switches between nodes as ``adds`` says; ``best`` everything that is implemented;
    any other name stands for itself (``nvls_tree``, ``NVLSTree`` and ``nvls-tree`` alike).
    Raises :class:`artery.errors.UnknownNameError` for a name that is no algorithm and
    :class:`artery.errors.UsageError` for one that has no closed form or does not do ``collective``.
    """
    able = serving(collective)
    if algorithm == "best":
        return able
    if algorithm == "auto":
        since = _SINCE[library.name]
        known = tuple(
            name for name in able if name in since and release(since[name]) <= library.release
        )
        if adds == "switch":
            return (*known, *(name for name in able if ALGORITHMS[name].in_network))
        if adds == "none":
            return tuple(name for name in known if not ALGORITHMS[name].by_switches)
        return known
    name = spelled(algorithm, ALGORITHMS)
    if name is None:
        played = spelled(algorithm, names())
        if played is not None:
            raise UsageError(
                f"{played} has no closed form, and artery simulate plays it; "
                f"use auto, best or one of {', '.join(able)}"
            )
        raise UnknownNameError("algorithm", algorithm, ("auto", "best", *ALGORITHMS))
    if name not in able:
        raise UsageError(
            f"{algorithm} does not do {collective}; use auto, best or one of {', '.join(able)}"
        )
    return (name,)
