"""The simulator: plays collectives on a network, link by link.

``scenario`` says under which conditions, ``work`` turns a schedule's steps into transfers over
paths, ``pipes`` its pipelined form into coupled variables, ``choice`` picks the engine, and
``simulate`` runs it. ``loads`` names the hottest links and who crosses them.
"""
