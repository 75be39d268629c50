"""The nouns: frozen records that every room shares.

Nothing here does I/O or physics. ``Chip``, ``Link`` and ``System`` say what the
hardware is; ``Workload`` and ``Plan`` say what runs on it and how it is split;
``Term`` trees (``Estimate``, ``Measurement``) say how long it takes and why;
``Demand``, ``Price`` and ``Pricer`` are how anyone asks what communication costs;
``Profile`` is what is known of one training framework.

All quantities are SI: seconds, bytes, bytes per second, FLOP, FLOP per second,
joules, watts, US dollars. Bandwidths are per direction.
"""
