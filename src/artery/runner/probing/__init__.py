"""How long a training step takes on this machine: what is timed, and what follows for others.

``probe`` runs ranks that time what ``rounds`` asks: ``operators``, exchanges (``exchanged``) and
whole steps (``stepping``). ``calibration`` makes a ``machine`` of what they found: ``costs`` of
operators, wires, and steps on a clock (``overlap``), with how far off that may be (``noise``).
``measured`` is what goes between them.
"""
