"""Slurm: what its commands print, its topologies, its words and host lists."""
