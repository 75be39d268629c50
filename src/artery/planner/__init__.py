"""The planner: enumerate the legal plans of a job, price them all, rank them.

``space`` lists the degrees, ``search`` prices the plans in chunks, ``rank`` re-orders the best
with penalties for what the model is known to be optimistic about.
"""
