"""What ``torchrun`` and the ranks under it print when a job dies: who failed first, and why.

The agent's own lines (``failed (exitcode: 1) local_rank: 1``), its ``ChildFailedError`` block with
"Root Cause (first observed failure)", and the ranks' own tracebacks (``[rank1]: RuntimeError``).
The first failure that the agent observed is not always the cause: a rank that waits for another
reports a timeout or a closed connection, while the one that stalls says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.text import Text
from artery.formats.training.log import reports
from artery.formats.training.run_spans import program_spans

_AGENT: Final = re.compile(r"torch[/.]distributed[/.](?:elastic|run|launcher|agent)")
_LOGGED: Final = re.compile(
    r"(?m)^[^\n]{0,120}?(?:[IWEF]\d{4} \d\d:\d\d:\d\d|(?:INFO|WARNING|ERROR)[:\]]|File \")"
    r"[^\n]{0,400}?torch[/.]distributed[/.](?:elastic|run|launcher|agent)"
)
"""A line of the agent's log, or of its traceback; its modules alone are named elsewhere too."""
_RAISED: Final = re.compile(r"(?m)(?:^|[\s.])ChildFailedError:")
_FAILED: Final = re.compile(
    r"failed \(exitcode: (-?\d{1,5})\) local_rank: (\d{1,5}) \(pid: (\d{1,9})\)"
)
_SECTION: Final = re.compile(r"(?<!\S)(Root Cause \(|Failures:)")
_ENTRY: Final = re.compile(
    r"(?<!\S)(time|host|rank|exitcode|error_file|traceback)\s*:\s*(.{0,400})$"
)
_RANK: Final = re.compile(r"(\d{1,7}) \(local_rank: (\d{1,5})\)")
_CODE: Final = re.compile(r"(-?\d{1,5}) \(pid: (\d{1,9})\)")
_SAID: Final = re.compile(
    r"(?<!\S)(?:\[default\d{1,7}\]:\s?)?\[(?:default|rank)(\d{1,7})\]:\s?([\w.]{1,120}(?:Error|Exception|Interrupt|Exit)\b.{0,600})"
)
_WORLD: Final = re.compile(r"\brank (\d{1,7})/(\d{1,7})\b")
_TIMEOUT: Final = re.compile(r"[Tt]im(?:ed|eout)\b.{0,60}?(\d{1,9})\s?ms|Timeout\(ms\)=(\d{1,9})")

_OF_A_PEER: Final = re.compile(
    r"Connection (?:closed|reset) by peer|Broken pipe|closed the connection|remote process exited"
    r"|recvBytes|NCCL communicator was aborted|Socket Timeout|store.*(?:closed|down)"
)
_WAITED: Final = re.compile(r"[Tt]imed? ?out|Timeout\(ms\)|Watchdog caught collective")
_MEMORY: Final = re.compile(r"out of memory|OutOfMemoryError|MemoryError")

SIGNALS: Final = {-9: "SIGKILL", -15: "SIGTERM", -11: "SIGSEGV", -6: "SIGABRT", -7: "SIGBUS"}
_MEANING: Final = {
    -9: "killed from outside, most often by the kernel for lack of host memory",
    -15: "ended by the agent after another rank failed: a consequence",
    -11: "a crash in native code",
    -6: "an abort in native code (NCCL's watchdog ends a rank so)",
    -7: "a bus error, most often too little shared memory (/dev/shm)",
    1: "an exception in Python",
}


def _recognise(text: Text) -> float:
    if _RAISED.search(text.content) or _FAILED.search(text.content):
        return 0.85
    return 0.6 if _LOGGED.search(text.head) else 0.0


def _read(text: Text) -> Reading:
    said, used = _said(text)
    blocks, more = _blocks(text)
    agent = [
        {"exit_code": int(one[1]), "local_rank": int(one[2]), "pid": int(one[3])}
        for one in map(_FAILED.search, text.lines)
        if one
    ]
    if not (said or blocks or agent or _AGENT.search(text.content)):
        rule = "torchrun names the rank that failed"
        fix = "send the end of the log of every node"
        raise InputError(Problem(file=text.path, found="no failure", rule=rule, fix=fix))
    fields = _fields(text, said, blocks, agent)
    used |= more
    for count, line in enumerate(text.lines, 1):
        if _AGENT.search(line) or _WORLD.search(line):
            used.add(count)
    known = re.compile(r'\s*(?:\[rank\d+\]:|Traceback|File "|[=\-]{10,}|\^)')
    ignored = passed_over(text, used, known, "the program's own output")
    return Reading(
        "torchrun", "log", tuple(_summary(fields)), fields, tuple(_warnings(fields)), ignored,
        spans=program_spans(text.lines, reports(text)),
    )  # fmt: skip


def _said(text: Text) -> tuple[list[dict[str, Any]], set[int]]:
    """Return the last line of every rank's traceback, in the order of the file."""
    found: list[dict[str, Any]] = []
    used: set[int] = set()
    for count, line in enumerate(text.lines, 1):
        one = _SAID.search(line)
        if one is not None:
            words = one[2].strip()
            timeout = _TIMEOUT.search(words)
            wait = number(next(filter(None, timeout.groups()))) if timeout else None
            found.append(
                {
                    "rank": int(one[1]),
                    "error": words,
                    "line": count,
                    "about": _about(words),
                    "timeout_s": wait / 1000 if wait is not None else None,
                }
            )
            used.add(count)
    return found, used


def _about(words: str) -> str:
    """Return what an error is about: memory, a peer's end, waiting, or its own exception."""
    if _MEMORY.search(words):
        return "memory"
    if _OF_A_PEER.search(words):
        return "peer"
    return "waited" if _WAITED.search(words) else "own"


def _blocks(text: Text) -> tuple[list[dict[str, Any]], set[int]]:
    """Return the entries of the ``ChildFailedError`` blocks."""
    found: list[dict[str, Any]] = []
    used: set[int] = set()
    section = ""
    for count, line in enumerate(text.lines, 1):
        head = _SECTION.search(line)
        if head is not None:
            section = head[1]
            used.add(count)
        entry = _ENTRY.search(line)
        if entry is None or not section:
            continue
        used.add(count)
        if entry[1] == "time":
            found.append({"root": section == "Root Cause (", "time": entry[2].strip()})
        if not found:
            continue
        if entry[1] == "rank" and (rank := _RANK.search(entry[2])):
            found[-1] |= {"rank": int(rank[1]), "local_rank": int(rank[2])}
        elif entry[1] == "exitcode" and (code := _CODE.search(entry[2])):
            found[-1] |= {"exit_code": int(code[1]), "pid": int(code[2])}
        elif entry[1] == "host":
            found[-1]["host"] = entry[2].strip()
    return [one for one in found if "rank" in one], used


def _fields(
    text: Text,
    said: list[dict[str, Any]],
    blocks: list[dict[str, Any]],
    agent: list[dict[str, Any]],
) -> dict[str, Any]:
    observed = next((one for one in blocks if one["root"]), None)
    worlds = [int(one[2]) for one in _WORLD.finditer(text.content)]
    culprit, why = _culprit(said, observed)
    code = (observed or {}).get("exit_code", agent[0]["exit_code"] if agent else None)
    return {
        "world_size": max(worlds, default=None),
        "errors": said,
        "failures": blocks,
        "agent_failures": agent,
        "first_observed_rank": (observed or {}).get("rank"),
        "first_observed_local_rank": (observed or {}).get("local_rank"),
        "exit_code": code,
        "exit_meaning": _MEANING.get(code) if code is not None else None,
        "signal": SIGNALS.get(code) if code is not None else None,
        "root_cause_rank": culprit,
        "root_cause": why,
        "consequences": _consequences(said, blocks, why),
        "waiting_ranks": sorted({one["rank"] for one in said if one["about"] == "waited"}),
        "silent_ranks": _silent(said, worlds),
        "timeout_s": next((one["timeout_s"] for one in said if one["timeout_s"]), None),
    }


def _consequences(said: list[dict[str, Any]], blocks: list[dict[str, Any]], why: str) -> list[int]:
    """Return the ranks that failed because another did; in a hang those ended may be to blame."""
    ended = [] if why == "hang" else [one for one in blocks if one.get("exit_code") == -15]
    return sorted({one["rank"] for one in [*said, *ended] if one.get("about", "peer") == "peer"})


def _silent(said: list[dict[str, Any]], worlds: list[int]) -> list[int]:
    """Return the ranks without an error of their own, where some waited in vain."""
    if not worlds or max(worlds) > 100_000 or not any(one["about"] == "waited" for one in said):
        return []
    loud = {one["rank"] for one in said}
    return [rank for rank in range(max(worlds)) if rank not in loud]


def _culprit(said: list[dict[str, Any]], observed: dict[str, Any] | None) -> tuple[int | None, str]:
    """Return the rank that is the cause, if the log can tell, and in what sense."""
    own = [one for one in said if one["about"] in {"own", "memory"}]
    if own:
        return own[0]["rank"], "out of memory" if own[0]["about"] == "memory" else "exception"
    if any(one["about"] == "waited" for one in said):
        return None, "hang"
    if observed is not None and observed.get("exit_code") in {-9, -11, -6, -7}:
        return observed["rank"], SIGNALS[observed["exit_code"]]
    return (observed["rank"] if observed is not None and not said else None), "unknown"


def _listed(ranks: list[int]) -> str:
    more = f" and {len(ranks) - 16} more" if len(ranks) > 16 else ""
    return ", ".join(map(str, ranks[:16])) + more


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    if fields["world_size"]:
        yield f"a job of {fields['world_size']} ranks"
    rank, why = fields["root_cause_rank"], fields["root_cause"]
    if why == "hang":
        yield f"a hang: ranks {_listed(fields['waiting_ranks'])} waited in vain and reported it"
        if fields["silent_ranks"]:
            yield f"silent: ranks {_listed(fields['silent_ranks'])}"
    elif rank is not None:
        yield f"rank {rank} is the root cause: {why}"
    if fields["exit_code"] is not None:
        meaning = fields["exit_meaning"] or "the program chose it"
        yield f"first exit code {fields['exit_code']}: {meaning}"
    for one in fields["errors"][:1]:
        yield f"rank {one['rank']}: {one['error'][:160]}"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    if fields["root_cause"] == "hang":
        yield (
            "the ranks that time out are the victims; look at the silent ones (py-spy dump, "
            "NCCL flight recorder), torchrun's root cause is only the first to exit"
        )
    first, cause = fields["first_observed_rank"], fields["root_cause_rank"]
    if cause is not None and first is not None and first != cause:
        yield f"torchrun names rank {first} first, but rank {cause} has an error of its own"
    if fields["consequences"]:
        others = _listed(fields["consequences"])
        yield f"ranks {others} failed as a consequence (peer gone, or SIGTERM)"
    if fields["exit_code"] == -9:
        yield "exit code -9: see dmesg for the OOM killer, and the memory limit of the job"


FORMAT: Final = Format("torchrun", "log", _recognise, _read)
