"""What a job's `patches` may touch: objects that the run has, and never what identifies them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.labels import GIVE_DEVICES, PRIORITY, QUEUE, is_of
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED, RUN, Planned
from trainyard.render.kinds import Kind, Resolved
from trainyard.render.tenancy.allowance import schedulers
from trainyard.specs import Patch
from trainyard.upstream.workloads import LISTS as KEYED

PATCH = Rule(
    id="run/patch",
    title="A patch changes an object of the run, but not its name, team, queue or priority.",
    why="a patch that matches no object has no effect; another queue or priority takes nodes from other teams",
    fix="name an object and a role of the run, and do not patch name, queue, priority or host devices",
    source="docs/jobs.md",
    layer="run",
)

SIZE = Rule(
    id="run/patch-count",
    title="A patch does not change the number of pods.",
    why="world size and quota follow from nodes, so ranks would wait for pods that never start",
    fix="set nodes, roles or array",
    source="docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)
SCHEDULER = Rule(
    id="run/scheduler",
    title="Pods use a scheduler that the cluster has.",
    why="no scheduler binds the pods: they stay pending without an event and hold their quota",
    fix="remove schedulerName",
    source="kubernetes v1.35 pkg/scheduler/eventhandlers.go responsibleForPod",
    layer="run",
)
PULL = Rule(
    id="sec-pullpolicy",
    title="Nodes may pull the image of a run.",
    why="with Never a pod fails on every node that does not have the image yet",
    fix="remove imagePullPolicy",
    source="kubernetes v1.35 pkg/kubelet/images/image_manager.go ErrImageNeverPull",
    layer="run",
    severity=Severity.WARNING,
)
ENDS = Rule(
    id="run/patch-grace",
    title="A patch does not change terminationGracePeriodSeconds.",
    why=(
        "the program reads CHECKPOINT_GRACE_SECONDS, which follows from graceSeconds, and would be killed while it "
        "saves"
    ),
    fix="set graceSeconds",
    source="docs/programs.md",
    layer="run",
    severity=Severity.WARNING,
)

COUNTS = frozenset({"replicas", "parallelism", "completions", "numNodes", "minAvailable", "minReplicas", "maxReplicas"})
"""Fields of kinds that say how many pods there are."""

IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "generateName"))
"""Fields that say which object it is: a patch of them would make another one."""


def check_any(run: Resolved) -> Iterator[Finding]:
    """Yield the problems with the patches of a run that cannot be built: all objects that its kind may make count."""
    return patch_problems(run, frozenset(item.rpartition("/")[2] for item in run.kind.objects) | run.kind.inner)


@RESOLVED.check(
    after=("kind", "plugins.check_launcher", "plugins.check_sized", "size.check_roles"), otherwise=check_any
)
def check(run: Resolved) -> Iterator[Finding]:
    """Yield patches of objects or roles that the run does not have, and of fields that stay derived."""
    return patch_problems(run, patchable(run)) if run.run.job.patches else iter(())


def patch_problems(run: Resolved, objects: frozenset[str]) -> Iterator[Finding]:
    """Yield the problems with patches of a run that has these objects."""
    roles = tuple(role.name for role in run.roles)
    for index, patch in enumerate(run.run.job.patches):
        if patch.object not in objects:
            message = (
                f"patch names object {patch.object!r}, which this run does not have; "
                f"{did_you_mean(patch.object, objects)}"
            )
            yield finding(run, message, (index, "object"))
        if patch.role is not None and patch.role not in roles:
            message = f"patch names role {patch.role!r}, which the job does not have; {did_you_mean(patch.role, roles)}"
            yield finding(run, message, (index, "role"))
        if patch.role is not None and patch.object in objects and not has_roles(patch, run.kind):
            message = (
                f"patch of {patch.object!r} names role {patch.role!r}, but the object belongs to all roles; remove role"
            )
            yield finding(run, message, (index, "role"))
        for path in refused_paths(patch.merge, queue=queue_field(patch, run)):
            message = f"patch sets {format_path(path)}, which identifies the object or its owner; remove it"
            yield finding(run, message, (index, "merge", *path))
        yield from beyond(run, patch, ("patches", index, "merge"))
        for path in ranked_fields(patch.merge):
            message = f"patch sets {format_path(path)[:80]}, which decides scheduling priority; remove it"
            yield finding(run, message, (index, "merge", *path))
        for path in injected_annotations(patch.merge):
            message = f"patch sets {format_path(path)[:80]}, which gives pods host devices; remove it"
            yield finding(run, message, (index, "merge", *path))
        for path in () if patch.object in run.kind.inner else lost_paths(patch):
            message = (
                f"patch sets {format_path(path)}, but only labels and annotations of metadata can be patched; remove it"
            )
            yield finding(run, message, (index, "merge", *path))


MAPS = frozenset({"spec", "metadata", "template", "labels", "annotations", "securityContext", "resources", "limits"})
LISTS = frozenset(KEYED)
"""Fields of Kubernetes' objects, wherever they stand, that hold maps, and lists of maps."""


@RUN.check()
def check_shapes(run: Planned) -> Iterator[Finding]:
    """Yield values of patches that are no maps or lists where every object has those, or that remove what it needs."""
    for index, patch in enumerate(run.run.job.patches):
        for path, said in fields(patch.merge):
            name, inside = path[-1], path[-2:-1]
            if inside and inside[0] in {"labels", "annotations", "limits", "requests", "data"}:
                continue
            if name in MAPS and not isinstance(said, Mapping) and (said is not None or name in {"spec", "metadata"}):
                wanted = "a map"
            elif name in LISTS and not is_list_of_maps(said) and (said is not None or name == "containers"):
                wanted = "a list of maps"
            else:
                continue
            message = f"patch sets {format_path(path)[:80]}, which must be {wanted}; correct or remove it"
            yield finding(run, message, (index, "merge", *path))


def is_list_of_maps(value: Any) -> bool:
    """Whether a value is a list of maps alone."""
    return isinstance(value, (list, tuple)) and all(isinstance(element, Mapping) for element in value)


def beyond(run: Resolved, patch: Patch, at: Path) -> Iterator[Finding]:
    """Yield fields of a patch that other fields of the job say, or that leave pods where they never start."""
    source, grace = run.run.source, run.sizing.grace.value
    there = {*schedulers(run.run.cluster)}
    for path, said in fields(patch.merge):
        last = path[-1]
        if last in COUNTS and patch.object == run.kind.object_kind and said is not None:
            message = f"{last} is {said!r}, but the number of pods follows from nodes; set nodes, and remove it"
            yield SIZE.at(source, (*at, *path), message)
        elif last == "schedulerName" and said not in {None, "default-scheduler", *there}:
            message = (
                f"schedulerName is {said!r}, which is not installed on cluster {run.run.cluster_name!r}; remove it"
            )
            yield SCHEDULER.at(source, (*at, *path), message)
        elif last == "imagePullPolicy" and said == "Never":
            yield PULL.at(
                source, (*at, *path), ("imagePullPolicy is 'Never', so pods fail on nodes without the image; remove it")
            )
        elif last == "terminationGracePeriodSeconds" and isinstance(said, int) and said < grace:
            message = (
                f"terminationGracePeriodSeconds is {said}, but the program reads {grace} seconds; set graceSeconds "
                "instead"
            )
            yield ENDS.at(source, (*at, *path), message)


def patchable(run: Resolved) -> frozenset[str]:
    """Return the kinds of object that a run is made of, and what a patch can reach inside the workload."""
    plain = replace(run, run=replace(run.run, job=run.run.job.model_copy(update={"patches": ()})))
    return frozenset(resource.kind for resource in run.kind.build(plain)) | run.kind.inner


def has_roles(patch: Patch, kind: Kind) -> bool:
    """Whether the object that a patch names exists once a role."""
    return patch.object in kind.inner or (
        patch.object == kind.object_kind and kind.replicas is not None and len(kind.replicas) == 1
    )


def queue_field(patch: Patch, run: Resolved) -> tuple[str, ...]:
    """Return where the object of a patch names Volcano's queue, which others do by a label; else empty.

    Kubeflow's jobs name it in the policy by which their operator makes the group: all of it follows from the job.
    """
    kind = run.kind
    if kind.admitted_by(run.run.cluster) != "volcano" or patch.object != kind.object_kind:
        return ()
    return ("spec", "queue") if kind.scheduler == "volcano" else ("spec", "runPolicy", "schedulingPolicy")


def refused_paths(merge: Mapping[str, Any], *, queue: tuple[str, ...]) -> Iterator[Path]:
    """Yield the paths in a merge that no patch may have: identity, and Kueue's labels or null for their parents.

    `queue` is where the object's spec names its queue; empty where a label does.
    """
    for path in (*IDENTITY, *([queue] if queue else [])):
        if present(merge, path):
            yield path
    if (parent := queue[:-1]) not in {(), ("spec",)} and present(merge, parent) and value(merge, parent) is None:
        yield parent
    for path in (("metadata",), ("metadata", "labels")):
        if present(merge, path) and not isinstance(value(merge, path), Mapping):
            yield path
            return
    for label in (QUEUE, PRIORITY):
        if present(merge, ("metadata", "labels", label)):
            yield ("metadata", "labels", label)


def ranked_fields(merge: Any) -> Iterator[Path]:
    """Yield the fields anywhere in a merge that name a PriorityClass: its pods would preempt those of other teams.

    Kubeflow's schedulingPolicy names it by `priorityClass` (training-operator v1.9.4 pkg/apis/kubeflow.org/v1).
    """
    for path, _ in fields(merge):
        if path[-1] == "priorityClassName" or path[-2:] == ("schedulingPolicy", "priorityClass"):
            yield path


def injected_annotations(merge: Any) -> Iterator[Path]:
    """Yield annotations anywhere in a merge by which the node's software would give pods its devices."""
    for path, inner in fields(merge):
        key = path[-1]
        if path[-2:-1] == ("annotations",) and isinstance(key, str) and inner is not None and is_of(key, GIVE_DEVICES):
            yield path


def fields(merge: Any, above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every field of a merge with its path, those inside lists too."""
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(merge, Mapping):
        parts = merge.items()
    elif isinstance(merge, list):
        parts = enumerate(merge)
    for key, inner in parts:
        yield (*above, key), inner
        yield from fields(inner, (*above, key))


def lost_paths(patch: Patch) -> Iterator[Path]:
    """Yield the paths in a merge's metadata that no object of a run has."""
    metadata = value(patch.merge, ("metadata",))
    for key in metadata if isinstance(metadata, Mapping) else ():
        if key not in {"labels", "annotations"} and ("metadata", key) not in IDENTITY:
            yield ("metadata", key)


def present(merge: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether the merge says something at the path, null included."""
    parent = value(merge, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent


def value(merge: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the value at the path, None where there is none."""
    found: Any = merge
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def finding(run: Resolved | Planned, message: str, path: Path) -> Finding:
    """Return an error at a patch of the job."""
    return PATCH.at(run.run.source, ("patches", *path), message)
