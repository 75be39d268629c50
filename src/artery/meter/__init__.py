"""Measures what is at hand: a chip, the links between processes, the collectives of a library.

Nothing here starts processes or knows of schedules: who measures several processes hands in how
they exchange messages. torch and mpi4py are imported by the modules that use them, and
``artery.meter`` itself imports nothing.
"""
