"""Collectives message by message, for the message and the fluid engine.

``work`` turns a schedule's steps into transfers, ``slices`` trees into slices that are passed on,
``transport`` cuts them into segments under a window, and ``run`` plays them. Of an all-to-all that
is too large, a sample stands for all: its busiest link (``sampled``) or some rounds (``rounds``),
played by ``run_sampled``.
"""
