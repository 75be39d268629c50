"""The simulator: plays collectives on a network, link by link.

``scenario`` says under which conditions, ``placed`` and ``groups`` which chip each rank is,
``shapes`` which form an algorithm takes on a system, and ``network`` what the scenario leaves of
it. ``choice`` picks the engine: ``coupled``, where a pipelined collective is one variable, or
``explicit``, message by message. ``simulate`` runs it, ``seeds`` again with other hashes, ``tasks``
a whole graph of tasks; ``loads`` names the hottest links, who crosses them and what relief would
gain. ``fleet`` plays many jobs on a cluster, and no links.
"""
