"""Clusters: how scale-up domains are joined into one system.

``fat_tree`` (one to three tiers of switches, rails, taper, several planes), ``dragonfly``,
``drawn`` (cable by cable), ``torus`` (TPU pods); ``wiring`` (the whole as vertices and edge
arrays); ``network`` and ``routing`` (its links, and the ways over them, which ``paths`` finds).
``design`` plans a network that is to be built; ``cabling`` looks at one that was.
"""
