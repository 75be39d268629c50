"""How a job goes on after failures: a pure state machine, events in and actions out.

No I/O, no clock: every event carries its time, and a deadline is a number that the driver turns
into a :class:`~artery.cloud.machine.events.Tick`. The same list of events gives the same actions,
whether a real supervisor or a simulation of a fleet feeds them. ``events``: what may happen.
``actions``: what is to be done. ``policy``: bounds and times. ``members``: who is where.
``states``: what can be gone on from. ``crew``: who is started, who goes. ``attempt``: who trains.
``gathering``, ``meeting``: what is waited for. ``tally``: what was done. ``machine``: the rules.
``watch``: who hangs or lags, from their progress. ``record``: both as JSON.
"""
