"""Volcano Jobs: tasks, policies, plugins, volumes, and an update that may change almost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainyard.upstream.apiserver import core
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.core import defaults as core_defaults
from trainyard.upstream.apiserver.core.amounts import NANO, nanos
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import rewritten
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.decoded import is_zero
from trainyard.upstream.apiserver.webhooks.volcano import templates
from trainyard.upstream.apiserver.webhooks.volcano.policies import check_policies, check_timeouts

JOB = Rule(
    "webhook/volcano-job",
    "volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go",
    title="A Volcano Job has tasks with unique names and valid counts.",
    fix="give each task its own name; keep minAvailable at or below the replicas",
    may_warn=True,
)
VOLUMES = Rule(
    "webhook/volcano-volumes",
    "volcano v1.15.1 pkg/webhooks/admission/jobs/validate/util.go",
    title="Volumes of a Volcano Job have unique mount paths and one claim each.",
    fix="give each volume its own mountPath, and either volumeClaim or volumeClaimName",
    may_warn=True,
)

_CORE, _CORE_SINCE_15 = "1.34", "1.35"
"""The Kubernetes whose pod validation is built into Volcano 1.14, and into 1.15 (go.mod of v1.14.4 and v1.15.1)."""
_GANG_KEPT = ("1.14.3", "1.15.1")
"""Releases of two lines since which partitions without minPartitions leave minAvailable to the replicas."""
_PLUGINS = ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")
_RETRY = 3
_SPEC: Path = ("spec",)


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Volcano Job."""
    if review.old is not None:
        yield from _check_update(review)
        return
    spec = review.spec
    yield from _check_mpi(spec, workers=not review.since("volcano", "1.15.0"))
    yield from _check_network(spec, _SPEC)
    yield from _check_tasks(spec, review)
    if detail := names.label_key(review.name):
        yield JOB.invalid(("metadata", "name"), review.name, detail)
    yield from check_policies(spec, _SPEC)
    yield from check_timeouts(spec, _SPEC)
    for plugin in inner(spec, "plugins"):
        if plugin not in _PLUGINS:
            yield JOB.unsupported(("spec", "plugins", plugin), plugin, _PLUGINS, of_key=True)
    yield from _check_volumes(spec)
    yield from _check_queue(spec, review)
    if not _acyclic(spec):
        yield JOB.invalid(
            ("spec", "tasks"),
            _task_names(spec),
            "tasks depend on each other in a circle, or on a task that does not exist",
        )


def default(review: Review) -> None:
    """Fill in what the webhook does, which it does on create alone."""
    filled = child(review.value, "spec")
    if filled is None:
        return
    _encode(filled, review.kind)
    for index, task in each(filled, "tasks"):
        if is_zero(task, "name", of=str):
            task["name"] = f"default{index}"
        if task.get("minAvailable") is None:
            policy = child(task, "partitionPolicy")
            parts = number(policy, "minPartitions") or 0 if policy else 0
            counted = policy is not None and (parts > 0 or not review.since("volcano", *_GANG_KEPT))
            size = number(policy, "partitionSize") or 0 if policy else 0
            task["minAvailable"] = parts * size if counted else replicas_of(task)
        if is_zero(task, "maxRetry", of=int):
            task["maxRetry"] = _RETRY
        pod = inner(task, "template", "spec")
        if pod.get("hostNetwork") is True and not pod.get("dnsPolicy"):
            pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    for field, standard in (("queue", "default"), ("schedulerName", "volcano"), ("maxRetry", _RETRY)):
        if is_zero(filled, field, of=type(standard)):
            filled[field] = standard
    if is_zero(filled, "minAvailable", of=int):
        filled["minAvailable"] = sum(number(task, "minAvailable") or 0 for _, task in each(filled, "tasks"))


def _encode(spec: Object, kind: Kind | None) -> None:
    """Write the parts that the webhook replaces whole: the tasks, where one lacks something, and the plugins."""
    if kind is None:
        return
    fields = kind.schema["properties"]["spec"]["properties"]
    lacking = any(
        is_zero(task, "name", of=str) or task.get("minAvailable") is None or is_zero(task, "maxRetry", of=int)
        for _, task in each(spec, "tasks")
    )
    for name in ("tasks", "plugins") if lacking else ("plugins",):
        if isinstance(spec.get(name), (dict, list)):
            spec[name] = rewritten.encode_value(spec[name], fields[name])
            rewritten.write(spec[name], fields[name], name)


def replicas_of(task: Object) -> int:
    """How many pods a task has; without the field, none."""
    return number(task, "replicas") or 0


def _task_names(spec: Object) -> list[str]:
    return [text(task, "name") for _, task in each(spec, "tasks")]


def _check_mpi(spec: Object, *, workers: bool) -> Iterator[Problem]:
    """The MPI plugin needs the tasks of its master and, before 1.15, its workers, by default called so."""
    plugins = inner(spec, "plugins")
    if "mpi" not in plugins:
        return
    roles = {"master": "master", "worker": "worker"}
    arguments = iter(argument for _, argument in texts(plugins, "mpi"))
    for argument in arguments:
        name, equals, value = argument.lstrip("-").partition("=")
        if not argument.startswith("-") or name not in (*roles, "port"):
            break
        value = value if equals else next(arguments, "")
        if name in roles:
            roles[name] = value
    for role, task in roles.items():
        if (role == "master" or workers) and task not in _task_names(spec):
            yield JOB.missing(("spec", "plugins", "mpi"), task, f"must be the task of the MPI {role}")


def _check_network(holder: Object, path: Path) -> Iterator[Problem]:
    topology = inner(holder, "networkTopology")
    if topology.get("highestTierAllowed") is not None and text(topology, "highestTierName"):
        detail = "highestTierAllowed and highestTierName cannot both be set"
        yield JOB.forbidden((*path, "networkTopology"), detail)


def _check_tasks(spec: Object, review: Review) -> Iterator[Problem]:
    seen: set[str] = set()
    total = 0
    if not spec.get("tasks"):
        yield JOB.required(("spec", "tasks"), "a Job without tasks starts no pods")
    for index, task in each(spec, "tasks"):
        path: Path = ("spec", "tasks", index)
        name, replicas = text(task, "name"), replicas_of(task)
        total += replicas
        if (number(task, "minAvailable") or 0) > replicas:
            yield JOB.invalid((*path, "minAvailable"), task["minAvailable"], f"is greater than the {replicas} replicas")
        if name in seen:
            yield JOB.duplicate((*path, "name"), name)
            break
        seen.add(name)
        yield from check_policies(task, path)
        pod = f"{review.name}-{name}-{index}"
        if detail := names.label_key(pod):
            yield JOB.invalid((*path, "name"), pod, f"the name of its pods {detail}")
        yield from _check_template(task, path, review)
        yield from _check_partition(task, path, review)
    if (least := number(spec, "minAvailable") or 0) > total:
        yield JOB.invalid(("spec", "minAvailable"), least, f"must not be greater than the {total} pods of all tasks")


def _check_template(task: Object, path: Path, review: Review) -> Iterator[Problem]:
    """The template is judged as the core kind PodTemplate is, by the task's name, with every gate off.

    What a pod asks for as a whole is then not looked at; since 1.15 it is.
    """
    newer = review.since("volcano", "1.15.0")
    kubernetes = _CORE_SINCE_15 if newer else _CORE
    name = text(task, "name")
    if detail := names.dns_subdomain(name):
        yield JOB.invalid((*path, "name"), name, detail)
    value = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": name, "namespace": review.namespace},
        "template": deepcopy(inner(task, "template")),
    }
    pod = inner(value, "template", "spec")
    if not newer:
        pod.pop("resources", None)
    problems = list(templates.check_strict(pod))
    failed = False
    for problem in (*core.check(core_defaults.apply(value, kubernetes), kubernetes=kubernetes), *problems):
        failed = True
        yield Problem((*path, *problem.path), JOB.id, problem.message, f"{JOB.source}; {problem.source}")
    if not failed and text(task, "topologyPolicy") not in ("", "none"):
        yield from _check_numa(task, path)


def _check_numa(task: Object, path: Path) -> Iterator[Problem]:
    pod = inner(task, "template", "spec")
    for kind in ("containers", "initContainers"):
        for index, container in each(pod, kind):
            resources = inner(container, "resources")
            requests = inner(resources, "requests") or inner(resources, "limits")
            cpus = nanos(requests.get("cpu")) or 0
            if cpus <= 0 or cpus % NANO:
                at: Path = (*path, "template", "spec", kind, index, "resources", "requests", "cpu")
                yield JOB.invalid(at, requests.get("cpu"), "must be whole for a topology policy")


def _check_partition(task: Object, path: Path, review: Review) -> Iterator[Problem]:
    policy = child(task, "partitionPolicy")
    if policy is None:
        return
    at: Path = (*path, "partitionPolicy")
    total, size = number(policy, "totalPartitions") or 0, number(policy, "partitionSize") or 0
    least, available = number(policy, "minPartitions") or 0, number(task, "minAvailable")
    if total <= 0:
        yield JOB.invalid((*at, "totalPartitions"), total, "must be greater than 0")
    elif size <= 0:
        yield JOB.invalid((*at, "partitionSize"), size, "must be greater than 0")
    elif replicas_of(task) != total * size:
        yield JOB.invalid((*path, "replicas"), replicas_of(task), f"must be {total} partitions of {size}")
    elif least <= 0 and review.since("volcano", *_GANG_KEPT):
        pass  # minAvailable is then that of the replicas
    elif available is not None and least * size != available:
        yield JOB.invalid((*path, "minAvailable"), available, f"must be {least} partitions of {size}")
    yield from _check_network(policy, at)


def _check_volumes(spec: Object) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, volume in each(spec, "volumes"):
        path: Path = ("spec", "volumes", index)
        mount, name, claim = text(volume, "mountPath"), text(volume, "volumeClaimName"), child(volume, "volumeClaim")
        if not mount:
            yield VOLUMES.required((*path, "mountPath"))
        elif mount in seen:
            yield VOLUMES.duplicate((*path, "mountPath"), mount)
        elif claim is None and not name:
            yield VOLUMES.required(path, "exactly one of volumeClaim and volumeClaimName")
        elif name and claim is not None:
            yield VOLUMES.forbidden(path, "volumeClaim and volumeClaimName cannot both be set")
        elif name and (detail := names.dns_subdomain(name)):
            yield VOLUMES.invalid((*path, "volumeClaimName"), name, detail)
        seen.add(mount)


def _check_queue(spec: Object, review: Review) -> Iterator[Problem]:
    """Jobs go to queues at the ends of the tree; without its queue a job cannot be judged."""
    queue = text(spec, "queue")
    path: Path = ("spec", "queue")
    if queue == "root":
        yield JOB.invalid(path, queue, "jobs cannot be submitted to the root queue")
        return
    known = queue == "default" or review.around.find("scheduling.volcano.sh", "Queue", queue) is not None
    if not known:
        yield review.absent(JOB, path, "Queue", queue)
    queues = review.around.of("scheduling.volcano.sh", "Queue")
    children = [
        inner(one_queue, "metadata").get("name")
        for one_queue in queues
        if text(inner(one_queue, "spec"), "parent") == queue
    ]
    if children:
        yield JOB.invalid(path, queue, f"has child queues, such as {children[0]!r}; use one of them")


def _acyclic(spec: Object) -> bool:
    """Whether tasks can be put in an order in which each comes after those it depends on."""
    waits = {text(task, "name"): {name for _, name in _depends(task)} for _, task in each(spec, "tasks")}
    if not any(child(task, "dependsOn") is not None for _, task in each(spec, "tasks")):
        return True
    done: set[str] = set()
    while ready := [name for name, needs in waits.items() if name not in done and needs <= done]:
        done.update(ready)
    return len(done) == len(waits)


def _depends(task: Object) -> Any:
    return texts(inner(task, "dependsOn"), "name")


def _check_update(review: Review) -> Iterator[Problem]:
    """Only replicas, minAvailable and the priority class may change.

    Server-side apply of a manifest takes the webhook's defaults out again where they stand in lists, and the webhook
    compares: a manifest must spell out what was filled in on create (v1.14.1 validateJobUpdate).
    """
    now, before = deepcopy(review.spec), deepcopy(review.old_spec)
    total = 0
    for index, task in each(now, "tasks"):
        path: Path = ("spec", "tasks", index)
        replicas, least = replicas_of(task), number(task, "minAvailable")
        if least is not None and not 0 <= least <= replicas:
            yield JOB.invalid((*path, "minAvailable"), least, f"must be between 0 and the {replicas} replicas")
        yield from _check_partition(task, path, review)
        total += replicas
    if not 0 <= (least := number(now, "minAvailable") or 0) <= total:
        yield JOB.invalid(("spec", "minAvailable"), least, f"must be between 0 and the {total} pods of all tasks")
    yield from _check_network(now, _SPEC)
    tasks, old_tasks = each(now, "tasks"), each(before, "tasks")
    if len(tasks) != len(old_tasks):
        yield JOB.forbidden(("spec", "tasks"), "tasks can be neither added nor removed")
        return
    for (_, task), (_, stored) in zip(tasks, old_tasks, strict=True):
        task["replicas"], task["minAvailable"] = stored.get("replicas"), stored.get("minAvailable")
    for spec in (now, before):
        spec.pop("minAvailable", None)
        spec.pop("priorityClassName", None)
        for _, volume in each(spec, "volumes"):
            if child(volume, "volumeClaim") is not None:
                volume.pop("volumeClaimName", None)
    for field in sorted({*now, *before}):
        if differs(now.get(field), before.get(field), field):
            detail = "only minAvailable, tasks[*].replicas and priorityClassName may change; spell out the defaults"
            yield JOB.invalid(("spec", field), _short(now.get(field)), detail)


def _short(value: Any) -> Any:
    return value if isinstance(value, (str, int, type(None))) else "…"
