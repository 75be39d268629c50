"""Checks of numbers that must fit together: nodes, processes, GPUs, retries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.diagnoser.lint.rule import Check, Found
from artery.formats.launch.file import NUMBER, Command, LaunchFile, Object, Pod, Setting
from artery.formats.launch.manifest import line_of, tables_in

_AT_LEAST: Final[Mapping[str, int]] = {
    "parallelism": 1,
    "completions": 1,
    "replicas": 1,
    "minReplicas": 1,
    "maxReplicas": 1,
    "minAvailable": 1,
    "minMember": 1,
    "numNodes": 1,
    "backoffLimit": 0,
    "backoffLimitPerIndex": 0,
    "maxRestarts": 0,
    "activeDeadlineSeconds": 1,
    "ttlSecondsAfterFinished": 0,
    "terminationGracePeriodSeconds": 0,
}
"""The least that a key of a job may hold (Kubernetes API, batch/v1 and core/v1; Kubeflow, Volcano).
Of pods none at all is legal, and starts nothing."""

_SERVICES: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
"""What serves may be scaled to nothing."""

_LAUNCHERS: Final = ("torchrun", "torch.distributed.launch")


def impossible(file: LaunchFile) -> Iterator[Found]:
    """Numbers below what makes sense, and no whole numbers."""
    for one in file.objects:
        if not one.pods or one.kind in _SERVICES:
            continue
        for table in tables_in(one.root):
            for key, least in _AT_LEAST.items():
                value = table.get(key)
                if value is None or isinstance(value, (Mapping, list)):
                    continue
                whole = isinstance(value, int) and not isinstance(value, bool)
                if not whole or value < least:
                    yield Found(line_of(table, key, one.line), f"{key}: {value}"[:160])


def gpus_not_whole(file: LaunchFile) -> Iterator[Found]:
    """None at all, or parts of one."""
    for pod in file.pods:
        for container in pod.containers:
            table = container.get("resources")
            limits = table.get("limits") if isinstance(table, Mapping) else None
            for name, amount in limits.items() if isinstance(limits, Mapping) else ():
                wrong = not NUMBER.fullmatch(str(amount)) or int(str(amount)) == 0
                if str(name).endswith(".com/gpu") and wrong:
                    yield Found(line_of(limits, name, pod.line), f"{name}: {amount}"[:160])


def _policies(one: Object) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the specifications of batch jobs, each with that of its pods."""
    for table in tables_in(one.root):
        template = table.get("template")
        pods = template.get("spec") if isinstance(template, Mapping) else None
        job = "backoffLimit" in table or "podFailurePolicy" in table or one.kind == "Job"
        if job and isinstance(pods, Mapping) and "containers" in pods:
            yield table, pods


def retries(file: LaunchFile) -> Iterator[Found]:
    """Restarts that are asked for in one place and ruled out in another."""
    for one in file.objects:
        if not str(one.root.get("apiVersion", "batch/")).startswith(("batch/", "jobset.")):
            continue
        for job, pods in _policies(one):
            again = pods.get("restartPolicy")
            line = line_of(pods, "restartPolicy", one.line)
            if again in (None, "Always"):
                said = again or "Always (the default)"
                yield Found(line, f"{one.kind} with restartPolicy: {said}")
            if again == "OnFailure" and job.get("backoffLimit") == 0:
                yield Found(line, "restartPolicy: OnFailure beside backoffLimit: 0")
            if again != "Never" and "podFailurePolicy" in job:
                yield Found(line, f"podFailurePolicy beside restartPolicy: {again}")
            by_index = "backoffLimitPerIndex" in job
            if by_index and job.get("completionMode") != "Indexed":
                where = line_of(job, "backoffLimitPerIndex", one.line)
                yield Found(where, "backoffLimitPerIndex without completionMode: Indexed")
            if "maxFailedIndexes" in job and not by_index:
                where = line_of(job, "maxFailedIndexes", one.line)
                yield Found(where, "maxFailedIndexes without backoffLimitPerIndex")


def elastic_range(file: LaunchFile) -> Iterator[Found]:
    """A range that holds nothing, or not what the job starts with."""
    for one in file.objects:
        policy = one.spec.get("elasticPolicy")
        if not isinstance(policy, Mapping):
            continue
        least, most = policy.get("minReplicas"), policy.get("maxReplicas")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            line = line_of(policy, "minReplicas", one.line)
            yield Found(line, f"minReplicas {least}, maxReplicas {most}")
        elif policy.get("maxRestarts") == 0 and least != most:
            yield Found(line_of(policy, "maxRestarts", one.line), "elasticPolicy, maxRestarts 0")


def gang_partial(file: LaunchFile) -> Iterator[Found]:
    """Fewer pods than the job needs are enough to start it."""
    for one in file.objects:
        tasks = one.spec.get("tasks")
        if not isinstance(tasks, list):
            continue
        counts = [task.get("replicas") for task in tasks if isinstance(task, Mapping)]
        total = sum(count for count in counts if isinstance(count, int))
        least = one.spec.get("minAvailable")
        if isinstance(least, int) and 0 < least < total:
            line = line_of(one.spec, "minAvailable", one.line)
            yield Found(line, f"minAvailable {least} of {total} pods")


def _gpus(file: LaunchFile, pod: Pod | None) -> int | None:
    """Return the GPUs that one node or pod has, ``None`` if nobody says."""
    if pod is not None:
        return pod.gpus or None
    for name in ("gpus_per_node", "gres"):
        asked = file.sbatch.get(name)
        parts = asked.value.split(",")[0].split(":") if asked is not None else []
        if parts and NUMBER.fullmatch(parts[-1]) and (name != "gres" or parts[0] == "gpu"):
            return int(parts[-1])
    return None


def _launches(file: LaunchFile) -> Iterator[tuple[Command, Pod | None]]:
    """Yield the launchers with the pod that they run in."""
    for pod in file.pods:
        yield from ((one, pod) for one in pod.commands if one.program in _LAUNCHERS)
    if not file.pods:
        yield from ((one, None) for one in file.programs(*_LAUNCHERS))


def processes(file: LaunchFile) -> Iterator[Found]:
    """More processes than GPUs, or GPUs that nobody uses."""
    launches = list(_launches(file))
    for one, pod in launches:
        asked, gpus = one.option("nproc_per_node"), _gpus(file, pod)
        count = asked.number if asked is not None else None
        idle = len(launches) == 1 and count is not None and gpus is not None and count < gpus
        if count is not None and gpus is not None and (count > gpus or idle):
            yield Found(one.line, f"--nproc-per-node={count}, {gpus} GPU(s) a node")


def _fixed(given: Setting | None) -> int | None:
    return given.number if given is not None else None


def nodes(file: LaunchFile) -> Iterator[Found]:
    """The launcher waits for another number of nodes than the scheduler gives."""
    step = next((one for one in file.programs("srun") if one.option("nodes") is not None), None)
    for one, pod in _launches(file):
        wanted = _fixed(one.option("nnodes"))
        given = pod.gang if pod is not None else _fixed(file.sbatch.get("nodes"))
        if pod is not None and any(not other.commands for other in file.pods):
            continue  # pods of another image, whose command is not in the file
        if wanted is None or given is None or wanted == given or step is not None:
            continue
        if not (pod is not None and _elastic(file)) and max(wanted, given) > 1:
            yield Found(one.line, f"--nnodes={wanted}, {given} node(s) or pod(s)")


def _elastic(file: LaunchFile) -> bool:
    return any(isinstance(one.spec.get("elasticPolicy"), Mapping) for one in file.objects)


def segments(file: LaunchFile) -> Iterator[Found]:
    """Nodes that are no whole number of segments."""
    asked = file.sbatch.get("segment")
    total, size = _fixed(file.sbatch.get("nodes")), _fixed(asked)
    if asked is not None and total and size and total % size:
        yield Found(asked.line, f"--nodes={total}, --segment={size}")


def killed(file: LaunchFile) -> Iterator[Found]:
    """Slurm ends a job when one of its nodes fails, however elastic it is."""
    if file.kind != "sbatch" or "no_kill" in file.sbatch:
        return
    for one in file.programs("torchrun"):
        given = one.option("nnodes")
        if given is not None and re.fullmatch(r"\d{1,7}:\d{1,7}", given.value):
            yield Found(one.line, f"--nnodes={given.value} without #SBATCH --no-kill")


CHECKS: Final[Mapping[str, Check]] = {
    "impossible-numbers": impossible,
    "gpus-not-whole": gpus_not_whole,
    "retries-contradict": retries,
    "elastic-range": elastic_range,
    "gang-partial": gang_partial,
    "processes-differ": processes,
    "nodes-differ": nodes,
    "segments-uneven": segments,
    "elastic-killed": killed,
}
