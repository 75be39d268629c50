"""The nodes of a fleet: which are free, who holds the others, and where the next job fits.

Nodes hang below leaves, leaves below pods. The leaves with just f free nodes are the bits of one
number per f, so that a best fit is a few operations on whole numbers.
"""

from __future__ import annotations

from typing import Final

Parts = list[tuple[int, int]]
"""Leaves and how many nodes are taken of each."""


class Held:
    """What a job holds: whole nodes by leaf (``leaves``), or ``chips`` of one ``node``."""

    __slots__ = ("chips", "leaves", "node", "nodes")

    def __init__(self) -> None:
        self.leaves: dict[int, list[int]] = {}
        self.nodes = 0
        self.node = -1
        self.chips = 0


class Cluster:
    """``nodes`` nodes of ``per_node`` chips, ``leaf`` nodes to a leaf, ``pod`` leaves to a pod."""

    __slots__ = (
        "_bits", "_levels", "_masks", "_one_pod", "_partial", "_pod_free", "_pod_mask",
        "chips_left", "down", "free", "free_nodes", "leaf", "loose_chips", "nodes", "per_node",
        "pod", "tenants", "users",
    )  # fmt: skip

    def __init__(self, nodes: int, per_node: int, leaf: int, pod: int) -> None:
        self.nodes, self.per_node, self.leaf, self.pod = nodes, per_node, leaf, max(pod, 1)
        leaves = -(-nodes // leaf)
        self.free = [
            list(range(min(nodes, (each + 1) * leaf) - 1, each * leaf - 1, -1))
            for each in range(leaves)
        ]
        self._bits = [1 << each for each in range(leaves)]
        self._masks = [0] * (leaf + 1)
        self._levels = 0
        for each, ids in enumerate(self.free):
            self._masks[len(ids)] |= self._bits[each]
            self._levels |= 1 << len(ids)
        pods = -(-leaves // self.pod)
        self._one_pod = pods == 1
        self._pod_free = [0] * pods
        self._pod_mask = [0] * pods
        for each, ids in enumerate(self.free):
            self._pod_free[each // self.pod] += len(ids)
            self._pod_mask[each // self.pod] |= self._bits[each]
        self.free_nodes = nodes
        self.users: list[dict[int, list[int]]] = [{} for _ in range(leaves)]
        self.down: set[int] = set()
        self.chips_left: dict[int, int] = {}
        self.tenants: dict[int, dict[int, int]] = {}
        self._partial: list[dict[int, None]] = [{} for _ in range(per_node)]
        self.loose_chips = 0

    # -- looking

    @property
    def free_chips(self) -> int:
        """Chips that nobody holds, on nodes that are up."""
        return self.free_nodes * self.per_node + self.loose_chips

    def plan(self, nodes: int, blind: bool = False) -> Parts | None:
        """Return from which leaves ``nodes`` whole nodes would come; ``None`` if too few are free.

        One leaf with the best fit; else one pod with the best fit, its emptiest leaves first; else
        the emptiest pods. ``blind`` takes the first free nodes by number.
        """
        if nodes > self.free_nodes:
            return None
        if blind:
            return self._first(nodes)
        if nodes <= self.leaf and (above := self._levels >> nodes):
            level = nodes + (above & -above).bit_length() - 1
            mask = self._masks[level]
            return [((mask & -mask).bit_length() - 1, nodes)]
        if self._one_pod:
            return self._spread(nodes, -1)
        fitting = [(free, pod) for pod, free in enumerate(self._pod_free) if free >= nodes]
        if fitting:
            return self._spread(nodes, self._pod_mask[min(fitting)[1]])
        parts: Parts = []
        for free, pod in sorted(((f, -p) for p, f in enumerate(self._pod_free)), reverse=True):
            parts += self._spread(min(nodes, free), self._pod_mask[-pod])
            nodes -= min(nodes, free)
            if not nodes:
                break
        return parts

    def _spread(self, rest: int, within: int) -> Parts:
        """The emptiest leaves of ``within`` first, the last one by the best fit."""
        parts: Parts = []
        masks = self._masks
        for level in range(self.leaf, 0, -1):
            mask = masks[level] & within
            while mask and rest:
                if level > rest:
                    return [*parts, self._last(rest, level, mask, within)]
                low = mask & -mask
                mask ^= low
                parts.append((low.bit_length() - 1, level))
                rest -= level
            if not rest:
                break
        return parts

    def _last(self, rest: int, level: int, mask: int, within: int) -> tuple[int, int]:
        """The leaf with the fewest free nodes, but ``rest`` at least."""
        for fewer in range(rest, level):
            if lower := self._masks[fewer] & within:
                mask = lower
                break
        return (mask & -mask).bit_length() - 1, rest

    def _first(self, rest: int) -> Parts:
        """The first free nodes by the number of their leaf."""
        parts: Parts = []
        for leaf, ids in enumerate(self.free):
            if ids and rest:
                parts.append((leaf, min(len(ids), rest)))
                rest -= min(len(ids), rest)
            if not rest:
                break
        return parts

    def pods(self, held: Held) -> int:
        """Return how many pods the job touches."""
        if self._one_pod or held.node >= 0:
            return 1
        return len({leaf // self.pod for leaf in held.leaves})

    def room(self, chips: int) -> int:
        """Return the node that has the best fit for ``chips`` of a node in use, or -1."""
        for left in range(chips, self.per_node):
            if self._partial[left]:
                return next(reversed(self._partial[left]))
        return -1

    def unusable(self, chips: int) -> int:
        """Return the free chips that a job of ``chips`` could not use, for their place alone."""
        if chips >= self.per_node:
            return self.loose_chips
        return sum(left * len(self._partial[left]) for left in range(1, chips))

    # -- taking and giving back

    def take(self, job: int, parts: Parts, held: Held) -> None:
        """Give ``job`` the nodes of ``parts``, on top of what is ``held``."""
        for leaf, count in parts:
            ids = self.free[leaf]
            taken = ids[-count:]
            del ids[-count:]
            self._moved(leaf, -count)
            if leaf in held.leaves:
                held.leaves[leaf] += taken
            else:
                held.leaves[leaf] = taken
                self.users[leaf][job] = taken
            held.nodes += count

    def take_chips(self, job: int, chips: int, held: Held, node: int) -> None:
        """Give ``job`` ``chips`` of ``node``, or, if that is -1, of a free node."""
        if node < 0:
            above = self._levels >> 1
            mask = self._masks[(above & -above).bit_length()]
            leaf = (mask & -mask).bit_length() - 1
            node = self.free[leaf].pop()
            self._moved(leaf, -1)
            left = self.per_node
            self.tenants[node] = {}
            self.loose_chips += left
        else:
            left = self.chips_left[node]
            del self._partial[left][node]
        self.chips_left[node] = left - chips
        self._partial[left - chips][node] = None
        self.tenants[node][job] = chips
        self.loose_chips -= chips
        held.node, held.chips = node, chips

    def give_back(self, job: int, held: Held) -> None:
        """Free everything that ``job`` holds."""
        if held.node >= 0:
            self._give_chips(job, held)
        for leaf, ids in held.leaves.items():
            self.free[leaf] += ids
            self._moved(leaf, len(ids))
            del self.users[leaf][job]
        held.leaves = {}
        held.nodes = 0

    def _give_chips(self, job: int, held: Held) -> None:
        node, left = held.node, self.chips_left[held.node]
        del self._partial[left][node]
        del self.tenants[node][job]
        left += held.chips
        self.loose_chips += held.chips
        held.node, held.chips = -1, 0
        if left == self.per_node:
            del self.chips_left[node], self.tenants[node]
            self.loose_chips -= left
            self.free[node // self.leaf].append(node)
            self._moved(node // self.leaf, 1)
        else:
            self.chips_left[node] = left
            self._partial[left][node] = None

    def give_some(self, job: int, held: Held, count: int) -> None:
        """Free ``count`` whole nodes of ``job``, of the leaves where it has the fewest first."""
        for leaf, ids in sorted(held.leaves.items(), key=lambda part: len(part[1])):
            given = ids[-count:]
            del ids[-count:]
            self.free[leaf] += given
            self._moved(leaf, len(given))
            held.nodes -= len(given)
            count -= len(given)
            if not ids:
                del held.leaves[leaf], self.users[leaf][job]
            if not count:
                break

    def more(self, held: Held, count: int) -> Parts:
        """Return from where ``count`` nodes more would come: the job's own leaves first."""
        parts: Parts = []
        for leaf in held.leaves:
            here = min(len(self.free[leaf]), count)
            if here:
                parts.append((leaf, here))
                count -= here
            if not count:
                return parts
        known = dict(parts)
        rest = self._spread_beside(count, known)
        return parts + rest

    def _spread_beside(self, count: int, known: dict[int, int]) -> Parts:
        """Leaves for ``count`` nodes, those already emptied in ``known`` left out."""
        without = 0
        for leaf in known:
            without |= self._bits[leaf]
        every = (1 << len(self.free)) - 1
        return self._spread(count, every & ~without)

    def take_these(self, job: int, leaves: dict[int, list[int]], held: Held) -> None:
        """Give ``job`` just these free nodes."""
        for leaf, ids in leaves.items():
            for node in ids:
                self.free[leaf].remove(node)
            self._moved(leaf, -len(ids))
            held.leaves[leaf] = ids
            self.users[leaf][job] = ids
            held.nodes += len(ids)

    # -- nodes that go and come

    def lose(self, node: int) -> None:
        """Take a free node out of service."""
        leaf = node // self.leaf
        self.free[leaf].remove(node)
        self._moved(leaf, -1)
        self.down.add(node)

    def regain(self, node: int) -> None:
        """Put a node back into service."""
        leaf = node // self.leaf
        self.down.remove(node)
        self.free[leaf].append(node)
        self._moved(leaf, 1)

    def drop(self, job: int, held: Held, node: int) -> None:
        """Take a whole ``node`` that ``job`` holds out of service."""
        leaf = node // self.leaf
        held.leaves[leaf].remove(node)
        held.nodes -= 1
        if not held.leaves[leaf]:
            del held.leaves[leaf], self.users[leaf][job]
        self.down.add(node)

    def holders(self, node: int) -> list[int]:
        """Return the jobs that have something on ``node``."""
        if node in self.tenants:
            return list(self.tenants[node])
        for job, ids in self.users[node // self.leaf].items():
            if node in ids:
                return [job]
        return _NO_JOBS

    def _moved(self, leaf: int, more: int) -> None:
        """Leaf ``leaf`` has ``more`` free nodes now: its lists already say so."""
        new = len(self.free[leaf])
        old, bit, masks = new - more, self._bits[leaf], self._masks
        masks[old] ^= bit
        if not masks[old]:
            self._levels ^= 1 << old
        if not masks[new]:
            self._levels |= 1 << new
        masks[new] |= bit
        self.free_nodes += more
        self._pod_free[leaf // self.pod] += more


_NO_JOBS: Final[list[int]] = []
