"""The simulator: plays collectives on a network, link by link.

``scenario`` says under which conditions, ``wires`` what that leaves of the network and ``shapes``
which form an algorithm takes on it. ``work`` turns a schedule's steps into transfers over paths
(``routes``), ``pipes`` its pipelined form into coupled variables, ``choice`` picks the engine, and
``simulate`` runs it; ``seeds`` runs it again with other hashes. ``loads`` names the hottest links,
who crosses them and what relief would gain.
"""
