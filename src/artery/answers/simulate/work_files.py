"""The files of ``simulate --work``: which of two formats they are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from artery.errors import InputError, Problem, Problems
from artery.formats.waiting import kept, told
from artery.places import is_folder

if TYPE_CHECKING:
    from artery.core.graph import TaskGraph
    from artery.formats.chakra.nodes import ChakraNode
    from artery.formats.text import Text

_LOOKED_AT: Final = 4096
"""Characters that show whether a file is text; a node of Chakra has bytes below the blank."""


def graph_of(file: str, chips: int) -> tuple[TaskGraph, str, bool]:
    """Return the work, its format, and whether one trace was copied for all chips.

    Raises :class:`artery.errors.InputError` for what is neither Chakra nor GOAL, or says nothing.
    """
    from artery.formats.chakra.graph import job_graph
    from artery.formats.chakra.nodes import rank_files, read_nodes
    from artery.formats.goal import switches_of, task_graph

    with told(file), kept(file):
        text = _goal(file)
        if text is not None:
            _refuse_switches(file, switches_of(text))
            return task_graph(text), "goal", False
        files = rank_files(file)
        with Problems() as problems:
            for problem in _unlike(files):
                problems.add(problem)
        ranks = [(name, read_nodes(name)) for name in files]
    alone = len(ranks) == 1 and not is_folder(file)
    if alone and chips > 1:
        _refuse_messages(*ranks[0])
    return job_graph(ranks * (chips if alone else 1)), "chakra", alone


def _goal(file: str) -> Text | None:
    """Return the text of a file that is GOAL; what cannot be read as text is told by who reads it.

    Raises ``InputError`` for anything else on standard input, which can be read but once.
    """
    from artery.formats.goal import FORMAT
    from artery.formats.text import read_text

    if is_folder(file) or file.endswith((".et", ".et.gz")):
        return None
    called = bool(FORMAT.ending) and file.lower().endswith(FORMAT.ending or "")
    try:
        text = read_text(file)
    except InputError:
        if file == "-":
            raise
        return None
    if FORMAT.recognise(text) > 0 or (called and bool(text.content.strip())):
        return text
    if file == "-":
        raise InputError(_neither(file, text))
    return None


def _unlike(files: Sequence[str]) -> Iterator[Problem]:
    """Yield the files that are text, or nothing: no trace of Chakra is, whatever is in it."""
    from artery.formats.text import beginning

    for file in files:
        try:
            text = beginning(file)
        except InputError:
            continue  # no text, as should be, or nothing that can be read, as who reads it tells
        head = text.content[:_LOOKED_AT]
        if all(one.isprintable() or one.isspace() for one in head):
            yield _neither(file, text)


def _neither(file: str, text: Text) -> Problem:
    """Return that a file is no work, with its first line: that shows what it is instead."""
    empty = not text.content.strip()
    return Problem(
        file=file,
        found=text.opening,
        rule="a work is a Chakra trace (binary: a header and nodes, each after its "
        "length) or a GOAL text (num_ranks 2, then rank 0 { ... })",
        fix="write or copy the file again" if empty else "name a file of one of these",
    )


def _refuse_messages(path: str, nodes: tuple[ChakraNode, ...]) -> None:
    """Refuse sends and receives in a trace of which every chip runs a copy: none has a partner."""
    ends = [node for node in nodes if node.kind in ("send", "receive")]
    if ends:
        raise InputError(
            Problem(
                file=path,
                found=f"{len(ends):,} sends and receives, first node {ends[0].number} "
                f"({ends[0].name})",
                rule="every chip runs a copy of one rank's trace: none would be its partner",
                fix="a folder with the traces of all ranks",
            )
        )


def _refuse_switches(file: str, switches: str | None) -> None:
    """Refuse ranks that stand for switches: on chips, others would be in their way."""
    if switches is not None:
        raise InputError(
            Problem(
                file=file,
                found=f"{switches} are switches that add",
                rule="--work plays every rank on a chip",
                fix="simulate the collective itself, or --export it with --offload none",
            )
        )
