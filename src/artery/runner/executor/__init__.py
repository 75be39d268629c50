"""Schedules executed: any :class:`artery.core.schedule.Schedule` played on real processes.

The third reader of a schedule, after the verifier that plays it on integers and the simulator that
times it. ``program`` says what one process sends, receives and adds, ``play`` does it over a
``transport`` (torch's point-to-point messages, or MPI), ``values`` fills the buffers and holds the
result to the exact sum, ``pacer`` holds sends back so that rates follow a system's links.
"""
