"""Real training on real processes: tasks, exchange of gradients, workers that die and come back.

``task``, ``data``, ``models``: what is trained. ``supervisor`` starts a ``worker`` for each rank;
they agree in an ``exchange`` and leave a ``checkpoint``. ``probing`` times a few steps and predicts
others. ``executor`` plays schedules; ``lab`` is a cluster on one machine. ``launch`` starts the
processes of what has no supervisor.

torch is imported by modules of this room alone; who calls them loads them on use, and
``artery.runner`` itself imports nothing.
"""
