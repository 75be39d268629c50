"""Tools of InfiniBand: the subnet they found, its cables, rates, routes and error counters."""
