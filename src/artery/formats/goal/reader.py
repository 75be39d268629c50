"""GOAL read into a graph of tasks, with every line that makes no sense."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Final, NoReturn

import numpy as np

from artery.core.graph import TaskGraph
from artery.errors import InputError, Problem, Problems
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_LABEL: Final = re.compile(r"([A-Za-z]\w*)\s*:")
_OPERATION: Final = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?"
    r"(?:calc\s+(?P<calc>\d+)|(?P<verb>send|recv)\s+(?P<size>\d+)\s*b\s+(?P<word>to|from)\s+"
    r"(?P<peer>-1|\d+)(?:\s+tag\s+(?P<tag>-1|\d+))?)"
    r"(?:\s+cpu\s+\d+)?(?:\s+nic\s+\d+)?"
)
_DEPENDENCY: Final = re.compile(r"(?P<later>\w+)\s+(?P<kind>i?requires)\s+(?P<earlier>\w+)")
_RANK: Final = re.compile(r"rank\s+(\d+)\s*\{")
_COUNT: Final = re.compile(r"num_ranks\s+(\d+)")
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

_SWITCHES: Final = re.compile(r"^// (ranks \d+ to \d+) are switches$", re.MULTILINE)
"""What the writer says of ranks that are no chips."""

_MOST: Final = 10**15
"""Assumed: a petabyte, or eleven days, in one line is a slip of the pen."""

_DIGITS: Final = 40
"""Assumed: digits of a number that are looked at; more are too many in any case."""

_NAMES: Final = 2**32 - 1
"""Ranks and tags have 32 bits in LogGOPSim."""

_TOLD: Final = -1
"""The task of a label of which it is told already what is wrong: with its line, or none has it."""

_NANOSECOND: Final = 1000
"""Picoseconds in the unit of ``calc`` (LogGOPSim counts in nanoseconds)."""


@dataclass(slots=True)
class _Tasks:
    """What has been read so far."""

    path: str
    problems: Problems = field(default_factory=Problems)
    ranks: int = 0
    rank: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    verb: list[str] = field(default_factory=list)
    amount: list[int] = field(default_factory=list)
    peer: list[int] = field(default_factory=list)
    tag: list[int] = field(default_factory=list)
    edges: list[tuple[int, int, bool]] = field(default_factory=list)

    def wrong(self, line: int, found: str, rule: str, fix: str) -> None:
        """Note a problem in a line."""
        self.problems.add(Problem(file=self.path, line=line, found=found, rule=rule, fix=fix))

    def name(self, task: int) -> str:
        """Return a task in words."""
        return f"the {self.verb[task]} of rank {self.rank[task]} in line {self.line[task]}"


def task_graph(text: Text) -> TaskGraph:
    """Return the graph of a GOAL text.

    Sends and receives of the same two ranks and tag belong together in the order of the file.
    Raises :class:`artery.errors.InputError` with every line that is no GOAL, every message that
    is never received or never sent, and for a cycle of dependencies (a deadlock).
    """
    tasks = _read(text)
    tasks.problems.raise_if_any()
    partner = _matched(tasks)
    tasks.problems.raise_if_any()
    graph = _graph(tasks, partner)
    _refuse_cycles(tasks, graph)
    return graph


def _read(text: Text) -> _Tasks:
    tasks = _Tasks(text.path)
    content = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text.content)
    rank, labels, begun = -1, dict[str, int](), dict[int, int]()
    outside = False  # of what stands outside of ranks, the first line is told
    for number, raw in enumerate(content.split("\n"), start=1):
        line = raw.strip()
        if not line:
            continue
        if (found := _COUNT.fullmatch(line)) is not None:
            tasks.ranks = _number(
                tasks, number, found[1], _NAMES, "a count of ranks has 32 bits", instead=_NAMES
            )
        elif (found := _RANK.fullmatch(line)) is not None:
            rank, labels = _number(tasks, number, found[1], _NAMES, "a rank has 32 bits"), {}
            _check_rank(tasks, number, rank, begun.get(rank))
            begun.setdefault(rank, number)
            outside = False
        elif line == "}":
            rank = -1
        elif rank < 0:
            if not outside:
                _outside(tasks, number, line)
            outside = True
        else:
            _statement(tasks, number, rank, line, labels)
    if not content.strip():
        fix = "num_ranks 2, then what each does, from rank 0 { to }"
        tasks.wrong(1, "an empty file", "a GOAL text has ranks", fix)
    elif not (begun or outside or tasks.problems):
        fix = "write what each does, from rank 0 { to }"
        tasks.wrong(1, f"num_ranks {tasks.ranks}", "no rank has anything to do", fix)
    return tasks


def _outside(tasks: _Tasks, number: int, line: str) -> None:
    """Note a line that no rank does; that it is no GOAL at all, where nothing came before it."""
    rule = "stands outside of any rank"
    if not tasks.ranks and not tasks.rank:
        rule = "a GOAL text begins with num_ranks, then the blocks of ranks"
    tasks.wrong(number, f'"{line:.60}"', rule, 'begin with "rank 0 {"')


def _statement(tasks: _Tasks, number: int, rank: int, line: str, labels: dict[str, int]) -> None:
    """Note one line of a rank's block; ``labels`` are those of the block so far."""
    if (found := _DEPENDENCY.fullmatch(line)) is not None:
        _depend(tasks, number, found, labels)
    elif (found := _OPERATION.fullmatch(line)) is not None:
        _operate(tasks, number, rank, found)
        if found["label"]:
            labels[found["label"]] = len(tasks.rank) - 1
    else:
        if (named := _LABEL.match(line)) is not None:
            labels.setdefault(named[1], _TOLD)
        rule = "a rank has sends, receives, calc and requires"
        tasks.wrong(number, f'"{line}"', rule, "e.g. l1: send 8b to 1 tag 0")


def _number(tasks: _Tasks, line: int, text: str, most: int, rule: str, *, instead: int = 0) -> int:
    """Return a number; one above ``most`` is noted, and ``instead`` goes on in its place."""
    digits = text.lstrip("0")
    value = int(digits[:_DIGITS] or "0")
    if value <= most:
        return value
    many = f"... ({len(digits)} digits)" if len(digits) > _DIGITS else ""
    tasks.wrong(line, f"{digits[:_DIGITS]}{many}", rule, "a smaller number")
    return instead


def _check_rank(tasks: _Tasks, line: int, rank: int, begun: int | None) -> None:
    if begun is not None:
        rule = f"begins in line {begun} already"
        tasks.wrong(line, f"rank {rank}", rule, "one block for a rank; is this another one's?")
    if rank >= tasks.ranks:
        fix = f"write num_ranks {rank + 1} or more above"
        tasks.wrong(line, f"rank {rank}", f"there are {tasks.ranks} ranks", fix)


def _depend(tasks: _Tasks, line: int, found: re.Match[str], labels: dict[str, int]) -> None:
    both = found["later"], found["earlier"]
    for label in both:
        if label not in labels:
            fix = "give a line above this label"
            tasks.wrong(line, f'label "{label}"', "no line of this rank has it", fix)
            labels[label] = _TOLD
    later, earlier = (labels[label] for label in both)
    if _TOLD not in (later, earlier):
        tasks.edges.append((later, earlier, found["kind"] == "irequires"))


def _operate(tasks: _Tasks, line: int, rank: int, found: re.Match[str]) -> None:
    verb = found["verb"] or "calc"
    rule = "bytes and nanoseconds are at most 10^15"
    amount = _number(tasks, line, found["size"] or found["calc"], _MOST, rule)
    peer = _number(tasks, line, found["peer"] or "-1", _NAMES, "a rank has 32 bits")
    tag = _number(tasks, line, found["tag"] or "0", _NAMES, "a tag has 32 bits")
    if verb != "calc":
        if (verb == "send") != (found["word"] == "to"):
            fix = f"write {verb} {'to' if verb == 'send' else 'from'}"
            tasks.wrong(line, f"{verb} {found['word']}", "one sends to, and receives from", fix)
        if "-1" in {found["peer"], found["tag"]}:
            rule = "any source and any tag depend on the times of one machine"
            tasks.wrong(line, "a receive from anyone", rule, "name rank and tag")
        elif not 0 <= peer < tasks.ranks:
            fix = f"0 to {tasks.ranks - 1} exist"
            tasks.wrong(line, f"rank {peer}", f"there are {tasks.ranks} ranks", fix)
    tasks.rank.append(rank)
    tasks.line.append(line)
    tasks.verb.append(verb)
    tasks.amount.append(amount)
    tasks.peer.append(peer)
    tasks.tag.append(tag)


def _matched(tasks: _Tasks) -> list[int]:
    """Return the receive of each send and the send of each receive."""
    partner = [-1] * len(tasks.rank)
    waiting: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    for task, verb in enumerate(tasks.verb):
        if verb == "send":
            waiting[tasks.rank[task], tasks.peer[task], tasks.tag[task]].append(task)
    for task, verb in enumerate(tasks.verb):
        if verb != "recv":
            continue
        queue = waiting[tasks.peer[task], tasks.rank[task], tasks.tag[task]]
        if not queue:
            fix = f"rank {tasks.peer[task]} must send it, with the same tag"
            tasks.wrong(tasks.line[task], tasks.name(task), "is sent by nobody", fix)
            continue
        send = queue.popleft()
        partner[task], partner[send] = send, task
        if tasks.amount[send] > tasks.amount[task]:
            found = f"{tasks.amount[task]} bytes"
            rule = f"line {tasks.line[send]} sends {tasks.amount[send]}"
            tasks.wrong(tasks.line[task], found, rule, "receive as much")
    for queue in waiting.values():
        for task in queue:
            fix = f"rank {tasks.peer[task]} must receive it, with the same tag"
            tasks.wrong(tasks.line[task], tasks.name(task), "is received by nobody", fix)
    return partner


def _graph(tasks: _Tasks, partner: list[int]) -> TaskGraph:
    count = len(tasks.rank)
    edges = np.array(sorted(tasks.edges), np.int64).reshape(-1, 3)
    amount = np.array(tasks.amount, np.int64)
    computes = np.array([verb == "calc" for verb in tasks.verb], np.bool_)
    return TaskGraph(
        ranks=tasks.ranks,
        rank=np.array(tasks.rank, np.int64),
        sends=np.array([verb == "send" for verb in tasks.verb], np.bool_),
        partner=np.array(partner, np.int64),
        size=np.where(computes, 0, amount),
        delay=np.where(computes, amount * _NANOSECOND, 0),
        start=np.searchsorted(edges[:, 0], np.arange(count + 1)).astype(np.int64),
        after=edges[:, 1].copy(),
        begun=edges[:, 2] > 0,
    )


def _refuse_cycles(tasks: _Tasks, graph: TaskGraph) -> None:
    """Raise for tasks that wait for each other; a receive also waits for its send."""
    waits_for = [
        graph.after[graph.start[task] : graph.start[task + 1]].tolist()
        + ([int(graph.partner[task])] if tasks.verb[task] == "recv" else [])
        for task in range(len(tasks.rank))
    ]
    follows: dict[int, list[int]] = defaultdict(list)
    missing = [len(before) for before in waits_for]
    for task, before in enumerate(waits_for):
        for earlier in before:
            follows[earlier].append(task)
    ready = [task for task, count in enumerate(missing) if not count]
    while ready:
        for task in follows[ready.pop()]:
            missing[task] -= 1
            if not missing[task]:
                ready.append(task)
    stuck = {task for task, count in enumerate(missing) if count}
    if stuck:
        _deadlock(tasks, waits_for, stuck)


def _deadlock(tasks: _Tasks, waits_for: list[list[int]], stuck: set[int]) -> NoReturn:
    """Raise for one cycle among the tasks that are ``stuck``."""
    path = [min(stuck)]
    while path.count(path[-1]) < 2:
        path.append(next(task for task in waits_for[path[-1]] if task in stuck))
    cycle = path[path.index(path[-1]) : -1]
    names = [tasks.name(task) for task in cycle]
    raise InputError(
        Problem(
            file=tasks.path,
            line=tasks.line[cycle[0]],
            found=" waits for ".join([*names, names[0]]),
            rule="such tasks wait for ever (a deadlock)",
            fix="take one of the dependencies away",
        )
    )


def switches_of(text: Text) -> str | None:
    """Return which ranks stand for switches that add, as the file says where artery wrote it."""
    found = _SWITCHES.search(text.head)
    return None if found is None else found[1]


def _sure(text: Text) -> float:
    head = _COMMENT.sub("", text.head).strip()
    if _COUNT.search(head) and _RANK.search(head):
        return 0.95
    first = head.partition("\n")[0].strip()
    return 0.6 if _COUNT.fullmatch(first) else 0.0  # no rank does anything: told by line


def _reading(text: Text) -> Reading:
    graph = task_graph(text)
    sends = int(graph.sends.sum())
    computes = int((graph.partner < 0).sum())
    size = int(graph.size[graph.sends].sum())
    return Reading(
        format="goal",
        kind="trace",
        summary=(
            f"{graph.ranks} ranks, {sends} messages of {size} bytes in all",
            f"{computes} computations, {len(graph.after)} dependencies",
        ),
        fields={
            "ranks": graph.ranks,
            "messages": sends,
            "bytes": size,
            "computations": computes,
            "compute_s": float(graph.delay.sum()) * 1e-12,
        },
    )


FORMAT: Final = Format("goal", "trace", _sure, _reading, ending=".goal")
