"""Checks of manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.diagnoser.lint.rule import Check, Found
from artery.formats.launch.file import NUMBER, LaunchFile, Object, Pod
from artery.formats.launch.manifest import line_of, tables_in

GRACE: Final = 30
"""Seconds: the default terminationGracePeriodSeconds."""

_GANGS: Final = frozenset({"Job", "JobSet", "PyTorchJob", "MPIJob", "TrainJob", "TFJob",
                           "LeaderWorkerSet", "RayJob", "TrainingRuntime",
                           "ClusterTrainingRuntime"})  # fmt: skip
_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_ELASTIC: Final = "kueue.x-k8s.io/elastic-job"


def _gangs(file: LaunchFile) -> Iterator[Pod]:
    """Yield the pods with GPUs of which several must run at once."""
    return (pod for pod in file.pods if pod.gang > 1 and pod.gpus and pod.owner in _GANGS)


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _volumes(pod: Pod) -> list[Mapping[str, Any]]:
    found = pod.spec.get("volumes")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def elastic_static(file: LaunchFile) -> Iterator[Found]:
    """The operator may start fewer pods than the launcher waits for."""
    for one in file.objects:
        if not isinstance(one.spec.get("elasticPolicy"), Mapping):
            continue
        for command in (each for pod in one.pods for each in pod.commands):
            given = command.option("nnodes")
            if given is not None and ":" not in given.value:
                yield Found(given.line, f"elasticPolicy beside --nnodes={given.value}")


def shared_memory(file: LaunchFile) -> Iterator[Found]:
    """64 MiB of /dev/shm for NCCL and the data loader."""
    for pod in file.pods:
        if not pod.gpus or pod.spec.get("hostIPC") is True:
            continue
        mounts = {
            str(mount.get("name"))
            for container in pod.containers
            for mount in (container.get("volumeMounts") or ())
            if isinstance(mount, Mapping) and str(mount.get("mountPath")).rstrip("/") == "/dev/shm"  # noqa: S108
        }
        if not mounts:
            yield Found(pod.line, f"{pod.gpus} GPU(s), nothing mounted on /dev/shm")


def shared_memory_host(file: LaunchFile) -> Iterator[Found]:
    """The node's own /dev/shm, which nobody empties."""
    for pod in file.pods:
        for volume in _volumes(pod):
            path = volume.get("hostPath")
            if isinstance(path, Mapping) and str(path.get("path")).startswith("/dev/shm"):  # noqa: S108
                yield Found(line_of(volume, "hostPath", pod.line), "hostPath /dev/shm")


def rdma_memlock(file: LaunchFile) -> Iterator[Found]:
    """Cards for RDMA, and no right to lock memory."""
    for pod in file.pods:
        names = [name for name, _ in pod.resources("limits")]
        cards = [one for one in names if one.startswith("rdma/") or one.endswith("/efa")]
        if not cards:
            continue
        added = {
            str(name)
            for table in tables_in(pod.spec)
            if isinstance(table.get("capabilities"), Mapping)
            for name in table["capabilities"].get("add") or ()
        }
        free = any(table.get("privileged") is True for table in tables_in(pod.spec))
        if not free and not added & {"IPC_LOCK", "ALL", "CAP_IPC_LOCK"}:
            yield Found(pod.line, f"{cards[0]} without the capability IPC_LOCK")


def gang_restarts(file: LaunchFile) -> Iterator[Found]:
    """Pods restart one by one, while their peers time out at different moments."""
    for one in file.objects:
        elastic = isinstance(one.spec.get("elasticPolicy"), Mapping)
        if one.kind not in _GANGS or elastic or not any(pod.gang > 1 for pod in one.pods):
            continue
        for table in tables_in(one.root):
            if _text(table, "restartPolicy") == "OnFailure":
                line = line_of(table, "restartPolicy", one.line)
                yield Found(line, "restartPolicy: OnFailure")


def _jobs(one: Object) -> Iterator[Mapping[str, Any]]:
    """Yield the specifications of batch jobs in an object."""
    if one.kind == "Job":
        yield one.spec
    for table in tables_in(one.root):
        template = table.get("template")
        inner = template.get("spec") if isinstance(template, Mapping) else None
        if one.kind == "JobSet" and isinstance(inner, Mapping) and "template" in inner:
            yield inner


def _many(job: Mapping[str, Any]) -> bool:
    count = job.get("parallelism")
    return isinstance(count, int) and count > 1


def backoff(file: LaunchFile) -> Iterator[Found]:
    """Single pods are replaced, up to six times, in a gang that needs all at once."""
    for one in file.objects:
        for job in _jobs(one):
            limit = job.get("backoffLimit")
            if _many(job) and limit not in {0, 2147483647}:
                line = line_of(job, "backoffLimit", line_of(job, "parallelism", one.line))
                said = "left at 6" if limit is None else str(limit)
                yield Found(line, f"backoffLimit {said}")


def not_indexed(file: LaunchFile) -> Iterator[Found]:
    """Pods without a number of their own."""
    for one in file.objects:
        for job in _jobs(one):
            if _many(job) and job.get("completionMode") != "Indexed":
                yield Found(line_of(job, "parallelism", one.line), "completionMode is not Indexed")


def completions(file: LaunchFile) -> Iterator[Found]:
    """More or fewer work items than pods that run at once: no gang."""
    for one in file.objects:
        for job in _jobs(one):
            done = job.get("completions")
            if _many(job) and done != job.get("parallelism"):
                line = line_of(job, "parallelism", one.line)
                yield Found(line, f"parallelism {job.get('parallelism')}, completions {done}")


def grace(file: LaunchFile) -> Iterator[Found]:
    """Too little time to finish a step and save."""
    for pod in _gangs(file):
        given = pod.spec.get("terminationGracePeriodSeconds")
        if given is None or (isinstance(given, int) and given <= GRACE):
            line = line_of(pod.spec, "terminationGracePeriodSeconds", pod.line)
            said = f"{GRACE} (the default)" if given is None else str(given)
            yield Found(line, f"terminationGracePeriodSeconds {said}")


def gpu_amounts(file: LaunchFile) -> Iterator[Found]:
    """GPUs cannot be overcommitted: a request that differs is refused."""
    for pod in file.pods:
        limits = dict(pod.resources("limits"))
        for name, amount in pod.resources("requests"):
            if name.endswith(".com/gpu") and limits.get(name) != amount:
                yield Found(pod.line, f"{name}: requests {amount}, limits {limits.get(name)}")


def host_names(file: LaunchFile) -> Iterator[Found]:
    """On the host's network the cluster's names are not found."""
    for pod in file.pods:
        named = _text(pod.spec, "dnsPolicy") == "ClusterFirstWithHostNet"
        if pod.spec.get("hostNetwork") is True and not named:
            yield Found(line_of(pod.spec, "hostNetwork", pod.line), "hostNetwork: true")


def no_gang(file: LaunchFile) -> Iterator[Found]:
    """Nothing holds the pods back until all can run: two jobs may wait for each other."""
    for one in file.objects:
        named = one.root.get("metadata")
        labels = named.get("labels") if isinstance(named, Mapping) else None
        queued = isinstance(labels, Mapping) and _QUEUE in labels
        if queued or not any(pod.gang > 1 and pod.gpus for pod in one.pods):
            continue
        held = any(
            _text(pod.spec, "schedulerName") not in {"", "default-scheduler"}
            or any("pod-group" in str(key) for key in pod.annotations)
            for pod in one.pods
        )
        if one.kind in _GANGS and not held:
            yield Found(one.line, f"{one.kind} {one.name}: no queue, no pod group")


def privileged(file: LaunchFile) -> Iterator[Found]:
    """All rights, where one capability would do."""
    for pod in file.pods:
        for table in tables_in(pod.spec):
            if table.get("privileged") is True:
                yield Found(line_of(table, "privileged", pod.line), "privileged: true")


def names_late(file: LaunchFile) -> Iterator[Found]:
    """Workers cannot find the first pod before it is ready, which waits for them."""
    for one in file.objects:
        found = one.spec.get("network") if one.kind == "JobSet" else None
        network = found if isinstance(found, Mapping) else {}
        if network.get("publishNotReadyAddresses") is False:
            line = line_of(network, "publishNotReadyAddresses", one.line)
            yield Found(line, "publishNotReadyAddresses: false")
        headless = one.kind == "Service" and str(one.spec.get("clusterIP")) == "None"
        if headless and one.spec.get("publishNotReadyAddresses") is not True:
            yield Found(line_of(one.spec, "clusterIP", one.line), "a headless Service without "
                        "publishNotReadyAddresses")  # fmt: skip


def elastic_placed(file: LaunchFile) -> Iterator[Found]:
    """Kueue places elastic jobs without regard to topology."""
    for one in file.objects:
        named = one.root.get("metadata")
        notes = named.get("annotations") if isinstance(named, Mapping) else None
        if not isinstance(notes, Mapping) or str(notes.get(_ELASTIC)).casefold() != "true":
            continue
        if any("podset-" in str(key) and "topology" in str(key)
               for pod in one.pods for key in pod.annotations):  # fmt: skip
            yield Found(line_of(notes, _ELASTIC, one.line), "elastic-job beside a topology request")


def shared_cpus(file: LaunchFile) -> Iterator[Found]:
    """Parts of a processor, or limits that differ: no processor of one's own."""
    for pod in file.pods:
        limits, asked = dict(pod.resources("limits")), dict(pod.resources("requests"))
        cpu = limits.get("cpu")
        if not pod.gpus or cpu is None:
            continue
        if not NUMBER.fullmatch(cpu) or asked.get("cpu", cpu) != cpu:
            yield Found(pod.line, f"cpu: requests {asked.get('cpu', cpu)}, limits {cpu}")


CHECKS: Final[Mapping[str, Check]] = {
    "elastic-static-nnodes": elastic_static,
    "shared-memory-missing": shared_memory,
    "shared-memory-of-host": shared_memory_host,
    "rdma-memlock": rdma_memlock,
    "gang-restarts-alone": gang_restarts,
    "backoff-limit": backoff,
    "not-indexed": not_indexed,
    "completions-differ": completions,
    "grace-period-short": grace,
    "gpu-amounts-differ": gpu_amounts,
    "host-network-names": host_names,
    "no-gang-scheduling": no_gang,
    "privileged-pod": privileged,
    "names-published-late": names_late,
    "elastic-and-topology": elastic_placed,
    "cpus-shared": shared_cpus,
}
