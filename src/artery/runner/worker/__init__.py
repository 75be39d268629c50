"""What one rank does: come together with the others, go on from a state, train, save, leave.

``batches``: which samples are whose. ``training``: one step. ``attempt``: from the rendezvous to
the last step. ``link``: whom the rank reports to. ``process``: a worker under a supervisor.
``standalone``: a rank that torchrun or srun started. ``sockets``: its connections to the others.
"""
