"""The network under a scenario: what is left of it, and the ways over it.

``wires`` takes what has failed or is slower, ``routes`` the paths that the routing policy gives,
``switches`` the trees of switches that add, ``buffers`` the ports that fill and pause.
"""
