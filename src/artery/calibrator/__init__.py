"""The calibrator: constants of a system fitted to measurements, with priors and intervals.

What the system would give is handed in as a function, so that this room needs no price of its own.
"""
