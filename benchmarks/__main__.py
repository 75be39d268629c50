"""``python -m benchmarks``: search, shared links, start-up, beside what the same run can do."""

from __future__ import annotations

from importlib.util import find_spec

from artery.native import core
from benchmarks import fleet, messages, network, ring, sharing, space, start, steps


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
    print(f"The network, CPU seconds, best of five ({core().detail})")
    compiled = core().library is not None
    for played in messages.measure() if compiled else ():
        print(f"  {played.name}: {played.seconds:.2f} s, {played.memory / 1e6:.0f} MB")
        print(f"    {played.events:,} events, {played.rate / 1e6:.1f} million a second")
        print(f"    one as long as {played.gathers:,.0f} entries of a random gather")
    for shared in sharing.measure() if compiled else ():
        print(f"  {shared.name}: {shared.seconds:.2f} s, {shared.memory / 1e6:.0f} MB")
        print(f"    {shared.detail}")
        print(f"    as long as {shared.gathers / 1e6:,.0f} million entries of a random gather")
    for cost in network.measure() if compiled else ():
        print(f"  {cost.name}, whole: {cost.seconds:.2f} s, {cost.memory / 1e6:.0f} MB")
        print(f"    {cost.detail}")
        print(f"    as long as {cost.gathers / 1e6:,.0f} million entries of a random gather")
    if compiled:
        steps.main()
    print("A fleet: 100,000 jobs on 12,500 nodes of 8, CPU seconds, better of two")
    fleet.main()
    if find_spec("torch"):
        print("An all-reduce of 16 MiB between two processes of this machine, by artery's own ring")
        ring.main()
    print("Start of a fresh process, against one that does nothing")
    for one in start.measure():
        print(f"  {one.ratio:5.1f} x  {one.seconds:.2f} s  {one.command}")


if __name__ == "__main__":
    main()
