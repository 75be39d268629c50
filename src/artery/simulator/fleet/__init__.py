"""The fleet: jobs on a cluster under a policy, played event by event.

``cluster`` knows the nodes, ``job`` a job's way through them, ``waiting`` the queue. ``fleet`` is
the clock: ``starting``, ``passing`` (backfill), ``resizing`` and ``failing`` are what it calls;
``recovering`` asks the recovery state machine.
``accounts`` counts chip-time by state, ``outcome`` says what came of it, ``records`` when.
Time is in whole microseconds, so that what is counted by state adds up exactly.
"""
