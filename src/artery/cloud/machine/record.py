"""Events and actions as JSON, one a line: what a real run met can be played again, and compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy

SCHEMA: Final = "artery.recovery/1"
_EVENTS: Final = {kind.__name__: kind for kind in events.Event.__args__}


def opening(policy: Policy, saved: Iterable[int]) -> str:
    """Return the first line of a record: the policy, and the steps whose states there were."""
    return json.dumps({"schema": SCHEMA, "policy": asdict(policy), "saved": list(saved)})


def line(thing: events.Event | actions.Action) -> str:
    """Return one event or action as JSON."""
    kind = "event" if type(thing).__name__ in _EVENTS else "action"
    return json.dumps({kind: type(thing).__name__, **asdict(thing)})


def played_again(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Feed the recorded events to a new machine.

    Yields for each event its line, the lines of the actions recorded after it, and the lines of
    the actions that the machine wants now.
    """
    rows = iter(lines)
    first = json.loads(next(rows))
    machine = Machine(Policy(**first["policy"]), tuple(first["saved"]))
    for event, recorded in _grouped(rows):
        wanted = machine.handle(_event(json.loads(event)))
        yield event, tuple(recorded), tuple(line(action) for action in wanted)


def _grouped(rows: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each event with the actions after it."""
    event, following = "", list[str]()
    for row in rows:
        text = row.strip()
        if "event" in json.loads(text):
            if event:
                yield event, following
            event, following = text, []
        else:
            following.append(text)
    if event:
        yield event, following


def _event(row: dict[str, Any]) -> events.Event:
    made: events.Event = _EVENTS[row.pop("event")](**row)
    return made
