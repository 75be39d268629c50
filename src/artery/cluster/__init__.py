"""Clusters: how scale-up domains are joined into one system.

``fat_tree`` (one to three tiers of switches, rails, taper, several planes), ``torus`` (TPU pods),
``wiring`` (the whole as vertices and edge arrays).
"""
