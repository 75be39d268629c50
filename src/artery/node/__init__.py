"""Nodes: how the chips of one scale-up domain are joined, one file per kind of node.

``pcie_tree`` (cards under switches and root ports), ``nvlink_pairs`` (bridged pairs),
``cube_mesh`` (DGX-1V), ``nvswitch`` (DGX and HGX since A100), ``nvl72`` (a rack as one domain),
``full_mesh`` (xGMI), ``single`` (one card per host), ``graph`` (drawn by hand). Each returns a
:class:`artery.node.scale_up.ScaleUp`: the tiers that a group of chips meets inside the domain and
the wiring behind them. ``rings`` finds how fast a ring can go round on that wiring.
"""
