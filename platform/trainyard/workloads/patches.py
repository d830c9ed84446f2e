"""What a job's `patches` may touch: objects that the run has, and never what identifies them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, did_you_mean
from trainyard.specs import Patch
from trainyard.specs.run import Run
from trainyard.workloads.base import Workload

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "generateName"))
"""Fields that say which object it is: a patch of them would make another one."""

TEMPLATES = frozenset({"Pod", "Job"})
"""What a patch can reach inside the workload, role by role."""


def check(run: Run, workload: Workload) -> Iterator[Finding]:
    """Yield patches of objects or roles that the run does not have, and of fields that stay derived."""
    objects = workload.patchable(run.job)
    roles = ("worker", *run.job.roles)
    for index, patch in enumerate(run.job.patches):
        if patch.object not in objects:
            message = f"patch of {patch.object!r}, which this run does not have; {did_you_mean(patch.object, objects)}"
            yield finding(run, message, (index, "object"))
        if patch.role is not None and patch.role not in roles:
            message = f"patch of role {patch.role!r}, which the job does not have; {did_you_mean(patch.role, roles)}"
            yield finding(run, message, (index, "role"))
        if patch.role is not None and patch.object in objects and not has_roles(patch, workload):
            message = f"patch of {patch.object!r} names role {patch.role!r}, but it belongs to all roles; remove role"
            yield finding(run, message, (index, "role"))
        for path in refused(patch.merge):
            message = f"patch of {format_path(path)}, which says whose and what the object is; remove it"
            yield finding(run, message, (index, "merge", *path))


def has_roles(patch: Patch, workload: Workload) -> bool:
    """Whether the object that a patch names exists once a role."""
    return patch.object in TEMPLATES or (patch.object == workload.kind and not workload.several_roles)


def refused(merge: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the paths in a merge that no patch may have: identity, and the queue label or null for its parents."""
    for path in IDENTITY:
        if present(merge, path):
            yield path
    for path in (("metadata",), ("metadata", "labels")):
        if present(merge, path) and not isinstance(value(merge, path), Mapping):
            yield path
            return
    if present(merge, ("metadata", "labels", QUEUE_LABEL)):
        yield ("metadata", "labels", QUEUE_LABEL)


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


def finding(run: Run, message: str, path: Path) -> Finding:
    """Return an error at a patch of the job."""
    full = ("patches", *path)
    return Finding("run/patch", "run", message, run.source.location(full), path=format_path(full))
