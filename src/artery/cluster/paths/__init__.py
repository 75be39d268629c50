"""Which way a transfer goes: one path for each pair of chips, or several of them.

``route`` takes the pairs apart, ``policies`` chooses among several ways of each. ``across`` leads
from node to node, by the rules of ``tree``, ``dragonfly`` or ``drawn``; ``torus`` has no nodes.
``choice`` says how one of equal ways is taken, ``detour`` finds any that is left. The door to it
all is :mod:`artery.cluster.routing`.
"""
