"""Paths: which directed links a transfer from one chip to another takes, for arrays of pairs.

A path is computed from the digits of its two ends, never looked up in a table of all pairs: out of
the node to the chip's own network card, up to the lowest tier where both leaves meet, down, and
into the other node; along the dimensions of a torus; by tables of next hops inside one domain or in
a network drawn by hand. Policies choose among equal paths:

* ``hash``: per pair, or per queue pair if ``entropy`` is given (ECMP);
* ``static``: by the digits of the target (d-mod-k; Zahavi et al., 2010), or dimension by dimension;
* ``adaptive``: the one with the least loaded worst link, one pair after the other, of ``ways``;
* ``spray``: all of ``ways`` at once, with a weight each.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from artery.cluster.network import Network, network
from artery.cluster.paths.choice import key
from artery.cluster.paths.policies import adaptive, spray
from artery.cluster.paths.route import Paths, Rows, chunks, digits_of, one_each, packed
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError

__all__ = ["Network", "Paths", "Policy", "network", "paths"]

Whole = NDArray[np.integer]
Policy = Literal["hash", "static", "adaptive", "spray"]


def paths(
    system: System,
    network: Network,
    source: Whole,
    target: Whole,
    entropy: Whole | None = None,
    *,
    policy: str = "hash",
    seed: int = 0,
    ways: int = 16,
) -> Paths:
    """Return the paths of the pairs of chips ``source`` → ``target`` on the links that are up.

    ``entropy`` tells queue pairs of one pair apart, ``seed`` chooses the hash functions, ``ways``
    is how many paths are looked at (adaptive) or used (spray). Where links are down a pair hashes
    anew among its paths until one works, then goes by another card of its node, then any way there
    is.
    Raises :class:`artery.errors.InputError` if chips are out of range or cannot reach each other.
    """
    source, target = np.asarray(source), np.asarray(target)
    _check(system, source, target, policy)
    if policy in ("spray", "adaptive"):
        ends = source.astype(np.int64), target.astype(np.int64)
        words = key(*ends, entropy, seed)
        return (spray if policy == "spray" else adaptive)(network, *ends, words, ways)

    def rows(part: slice) -> Rows:
        near, far = source[part].astype(np.int64), target[part].astype(np.int64)
        words = key(near, far, None if entropy is None else entropy[part], seed)
        digits = digits_of(network, far) if policy == "static" else None
        return one_each(network, near, far, words, digits)

    return packed((rows(part) for part in chunks(len(source))), len(source))


def _check(system: System, source: Whole, target: Whole, policy: str) -> None:
    """Raise if the policy is unknown or a chip is not there."""
    known = get_args(Policy)
    if policy not in known:
        raise UnknownNameError("policy", policy, known)
    for field, chips in (("source", source), ("target", target)):
        wrong = chips[(chips < 0) | (chips >= system.chips)]
        if len(wrong):
            raise InputError(
                Problem(
                    field=field,
                    found=f"chip {wrong[0]}",
                    rule=f"{system.name} has {system.chips:,} chips, numbered from 0",
                    fix=f"0 to {system.chips - 1}",
                )
            )
