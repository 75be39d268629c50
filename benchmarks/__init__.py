"""Speed, as ratios measured in one run: ``python -m benchmarks``.

Nothing here fails on time: machines differ, and a busy one is no bug.
"""
