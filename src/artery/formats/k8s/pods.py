"""Kubernetes pods and events (``kubectl get pods,events -o json``): when a run waited and ran.

A pod is created, scheduled, started (its image pulled before), and ends; its container may have
ended before and been started again (``lastState``). Events tell the same where pods are gone: they
are kept for an hour by default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.cloud.accounting import Activity, Span
from artery.errors import InputError, Problem
from artery.formats.k8s.documents import Object, kinds_in, name_of, objects_in
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.json_text import inside, tables
from artery.formats.syntax.stamps import stamp
from artery.formats.text import Text
from artery.formats.wording import counted

_BAD: Final = ("Evicted", "OOMKilled", "BackOff", "FailedScheduling", "NodeNotReady", "Preempted",
               "TaintManagerEviction", "FailedMount", "Unhealthy")  # fmt: skip


def _recognise(text: Text) -> float:
    kinds = kinds_in(text)
    return 0.85 if kinds & {"Pod", "Event"} and "Node" not in kinds else 0.0


def _read(text: Text) -> Reading:
    objects = objects_in(text)
    pods = [_pod(one) for one in objects if one.get("kind") == "Pod"]
    events = [_event(one) for one in objects if one.get("kind") == "Event"]
    if not pods and not events:
        rule = "a list of pods or events has objects of kind Pod or Event"
        fix = "send the output of kubectl get pods,events -o json"
        raise InputError(Problem(file=text.path, found="no pod", rule=rule, fix=fix))
    known = {pod["name"] for pod in pods}
    spans = [*_pod_spans(pods), *_event_spans([e for e in events if e["pod"] not in known])]
    fields = _fields(pods, events)
    others = len(objects) - len(pods) - len(events)
    ignored = (Ignored(1, others, "objects that are no pods or events"),) if others else ()
    return Reading("k8s-pods", "log", tuple(_summary(fields)), fields, tuple(_warnings(fields)),
                   ignored, spans=tuple(spans))  # fmt: skip


def _time(value: object) -> float | None:
    return stamp(value, 1970) if isinstance(value, str) else None


def _pod(one: Object) -> dict[str, Any]:
    status = one.get("status")
    conditions = tables(inside(status, "conditions"))
    scheduled = next((c for c in conditions if c.get("type") == "PodScheduled"), {})
    runs: list[tuple[float, float | None]] = []
    reasons = []
    for container in tables(inside(status, "containerStatuses")):
        for state in (container.get("lastState"), container.get("state")):
            running = _time(inside(state, "running", "startedAt"))
            began = _time(inside(state, "terminated", "startedAt"))
            reasons.append(inside(state, "terminated", "reason"))
            if running is not None:
                runs.append((running, None))
            elif began is not None:
                runs.append((began, _time(inside(state, "terminated", "finishedAt"))))
    return {
        "name": name_of(one),
        "node": inside(one, "spec", "nodeName"),
        "phase": inside(status, "phase"),
        "created": _time(inside(one, "metadata", "creationTimestamp")),
        "scheduled": _time(scheduled.get("lastTransitionTime")),
        "runs": sorted(runs),
        "reasons": [reason for reason in reasons if isinstance(reason, str)],
        "restarts": sum(
            count
            for each in tables(inside(status, "containerStatuses"))
            if isinstance(count := each.get("restartCount"), int)
        ),
    }


def _event(one: Object) -> dict[str, Any]:
    times = (one.get("eventTime"), one.get("firstTimestamp"), one.get("lastTimestamp"))
    return {
        "pod": inside(one, "involvedObject", "name"),
        "kind": inside(one, "involvedObject", "kind"),
        "reason": str(one.get("reason") or ""),
        "at": next((at for each in times if (at := _time(each)) is not None), None),
    }


def _pod_spans(pods: list[dict[str, Any]]) -> Iterator[Span]:
    """Yield each pod's wait, start and runs; a pod that came after another's end replaces it."""
    first = min((pod["created"] for pod in pods if pod["created"] is not None), default=None)
    for pod in pods:
        lane, created, scheduled = pod["name"], pod["created"], pod["scheduled"]
        if created is not None and scheduled is not None:
            late = first is not None and created - first > _TOGETHER
            waits: Activity = "reschedule" if late else "queue"
            yield from _one(created, scheduled, waits, lane)
        before = scheduled
        for attempt, (start, end) in enumerate(pod["runs"]):
            if before is not None:
                yield from _one(before, start, "start", lane, attempt)
            if end is not None:
                yield from _one(start, end, "running", lane, attempt)
            before = end


_TOGETHER: Final = 60.0
"""Assumed: the pods of one start are created within a minute."""


def _event_spans(events: list[dict[str, Any]]) -> Iterator[Span]:
    """Yield waits and starts of pods that are known by their events only."""
    last: dict[str, tuple[str, float]] = {}
    for event in sorted((e for e in events if e["at"] is not None), key=lambda e: e["at"]):
        pod, reason, at = event["pod"], event["reason"], event["at"]
        if event["kind"] != "Pod" or not isinstance(pod, str):
            continue
        was = last.get(pod)
        if was is not None and (activity := _BETWEEN.get((was[0], reason))) is not None:
            yield from _one(was[1], at, activity, pod)
        if reason in _STATES and not (was and was[0] == reason == "FailedScheduling"):
            last[pod] = (reason, at)


_STATES: Final = frozenset({"FailedScheduling", "Scheduled", "Started", "Killing"})
_BETWEEN: Final[dict[tuple[str, str], Activity]] = {
    ("FailedScheduling", "Scheduled"): "queue",
    ("Scheduled", "Started"): "start",
    ("Started", "Killing"): "running",
    ("Killing", "Scheduled"): "reschedule",
    ("Killing", "Started"): "start",
}


def _one(
    start: float, end: float, activity: Activity, lane: str, attempt: int | None = None
) -> Iterator[Span]:
    if end > start:
        yield Span(start, end, activity, lane, attempt=attempt)


def _fields(pods: list[dict[str, Any]], events: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "pods": pods,
        "phases": dict(Counter(pod["phase"] for pod in pods if pod["phase"])),
        "restarts": sum(pod["restarts"] for pod in pods),
        "events": len(events),
        "reasons": dict(Counter(event["reason"] for event in events if event["reason"])),
        "ended": dict(Counter(reason for pod in pods for reason in pod["reasons"])),
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    phases = ", ".join(f"{count} {phase}" for phase, count in fields["phases"].items())
    yield f"{counted(len(fields['pods']), 'pod')}{': ' if phases else ''}{phases}"
    if fields["events"]:
        often = sorted(fields["reasons"].items(), key=lambda item: -item[1])[:4]
        named = ", ".join(f"{count} {reason}" for reason, count in often)
        yield f"{counted(fields['events'], 'event')}: {named}"
    if fields["restarts"]:
        yield f"containers started again {fields['restarts']} times"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    bad = {**fields["reasons"], **fields["ended"]}
    for reason in _BAD:
        if reason in bad:
            yield f"{reason}: {bad[reason]} times"


_UNTESTED: Final = "written from the API's fields; no real file was at hand"

FORMAT: Final = Format("k8s-pods", "log", _recognise, _read, tested=False, notes=(_UNTESTED,))
