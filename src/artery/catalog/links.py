"""Classes of links by name or file, as :class:`artery.core.link.Link`."""

from __future__ import annotations

from collections.abc import Sequence

from artery.catalog.door import is_path, read, revise
from artery.catalog.loader import entry, resolve
from artery.catalog.schema import LinkTable
from artery.catalog.sourced import Sourced
from artery.catalog.structure import fill
from artery.core.link import Link


def link(name: str, overrides: Sequence[str] = ()) -> Link:
    """Return the class of link called ``name``, or the one described by the file at that path.

    ``overrides`` are ``path=value`` texts (``bandwidth=800 Gb/s``). Raises
    :class:`artery.errors.UnknownNameError` for an unknown name and
    :class:`artery.errors.InputError` for a bad file or override.
    """
    if is_path(name):
        table, sourced = read(name, LinkTable, "links")
    else:
        sourced = entry("links", resolve("links", name).name)
        table = fill(LinkTable, sourced.values)
    if overrides:
        table, sourced = revise(LinkTable, sourced, overrides)
    return build(table, sourced)


def build(table: LinkTable, sourced: Sourced) -> Link:
    """Return the link that ``table`` describes."""
    return Link(
        name=table.name,
        kind=table.kind,
        bandwidth=table.bandwidth,
        efficiency=table.efficiency,
        latency=table.latency,
        energy_per_bit=table.energy_per_bit,
        price=table.price,
        reach=table.reach,
        provenance=sourced.provenance,
    )
