"""A small cluster on one Linux machine: hosts and switches as network namespaces.

One process holds it (:mod:`.holder`), the first of a process-id namespace of its own, with every
network namespace open as a file. Whatever ends that process, its wires, its switches and all that
runs in it go with it: the kernel sees to it. It is found by a socket without a file.
"""
