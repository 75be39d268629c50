"""Pipelined collectives as one variable each, for runs of any size.

``pipes`` turns a schedule's rings and trees into coupled variables, ``fold`` takes one node for all
that are alike, ``siblings`` and ``chains`` say what first slices wait for, and ``run`` plays it.
"""
