"""Checkpoints: written whole or not at all, checksummed, verified when they are read.

``folder``: what lies on disk, without torch. ``state``: a training's state as bytes. ``writer``:
saves while training goes on. ``memory``: the copy that a host holds in memory.
"""
