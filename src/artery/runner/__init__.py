"""Real training on real processes: tasks, exchange of gradients, workers that die and come back.

torch is imported by modules of this room alone; who calls them loads them on use, and
``artery.runner`` itself imports nothing.
"""
