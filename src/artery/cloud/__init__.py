"""Fleets: how often nodes fail, and what that costs.

For now ``failures``: published rates, and the failures to expect of so many nodes.
"""
