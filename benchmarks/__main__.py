"""``python -m benchmarks``: search speed and start-up, printed as ratios of the same run."""

from __future__ import annotations

from benchmarks import space, start


def main() -> None:
    """Measure and print."""
    print("Search: every legal plan, with memory and breakdown, on one thread")
    for case in space.CASES:
        found = space.measure(case)
        print(f"  {case.model} on {case.system}, batch {case.global_batch}, {case.sequence} tokens")
        print(f"    {found.plans:,} legal plans, {found.distinct:,} of them distinct")
        print(f"    first search {found.cold:.2f} s, warm {found.warm:.2f} s")
        print(f"    {found.rate:,.0f} plans/s searched, {found.plans / found.pricing:,.0f} priced")
        print(f"    {found.ratio:,.0f} times faster than one plan at a time")
    print("Start of a fresh process, against one that does nothing")
    for one in start.measure():
        print(f"  {one.ratio:5.1f} x  {one.seconds:.2f} s  {one.command}")


if __name__ == "__main__":
    main()
