"""The objects of a run as a kind makes them: what it queues, its files, its pod templates, with the job's patches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.labels import MAX_TIME, PRIORITY, QUEUE
from trainyard.render.kinds import hangs
from trainyard.render.kinds.base import Resolved
from trainyard.render.launchers import Role
from trainyard.render.parts import contract, links, pods, storage
from trainyard.render.parts.containers import Process
from trainyard.render.parts.objects import Resource
from trainyard.upstream.workloads.merge import merge

AFTER_DEADLINE = 600
"""Seconds after the Job's own deadline at which Kueue ends the whole run, restarts and preemptions included.

The Job's own end comes first, since that is a failure that Argo CD shows; Kueue's leaves the run suspended.
"""


def make_object(
    run: Resolved,
    api_version: str,
    kind: str,
    *,
    at: Path = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **fields: Any,
) -> Resource:
    """Return an object called as the run, patched; `at` is the job's field that it comes from."""
    job = run.run.job
    metadata = {
        "labels": {**pods.labels(run.run), **(labels or {})},
        "annotations": {**job.annotations, **(annotations or {})},
    }
    body = apply_patches(run, kind, None, {"metadata": metadata, **fields})
    metadata = body.pop("metadata")
    return Resource(
        api_version,
        kind,
        run.run.name,
        at,
        run.run.namespace,
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        fields=body,
        source="job",
    )


def queued(run: Resolved, spec: Mapping[str, Any], *, annotations: Mapping[str, str] | None = None) -> Resource:
    """Return the object that Kueue queues; where Volcano does, nothing of Kueue's is in its labels."""
    kind, job, late = run.kind, run.run.job, run.sizing.deadline_seconds
    labels = {}
    if kind.admitted_by(run.run.cluster) == "kueue":
        labels[QUEUE] = job.queue
        if job.priority is not None:
            labels[PRIORITY] = job.priority
        if late is not None:
            labels[MAX_TIME] = str(late + AFTER_DEADLINE)
    notes = {**kind.annotations, **links.notes(run.run), **(annotations or {})}
    return make_object(run, kind.api_version, kind.object_kind, labels=labels, annotations=notes, spec=spec)


def files(run: Resolved) -> Iterator[Resource]:
    """Yield the ConfigMap of the job's small files and the launcher's, if there are any."""
    data = storage.config_map(run.run, run.launch.files)
    if data:
        yield make_object(run, "v1", "ConfigMap", at=("files",), immutable=True, data=data)


def from_fields(run: Resolved, role: Role) -> dict[str, str]:
    """Return the variables of a role from its pods' fields: the launcher's, and those of the kind that it refers to."""
    fields = run.wiring.fields.items()
    used = {
        name: path for name, path in fields if any(f"$({name})" in text or f"${name}" in text for text in role.texts)
    }
    told = contract.fields(run.run, run.wiring.rank_field) if role.size.trains else {}
    return {**told, **used, **role.fields}


def begun(role: Role) -> tuple[str, ...]:
    """Return the command of a role's container, after the script that sets the environment of its fabric.

    The shell reads the script and is then replaced, so that signals reach the program. Where an operator adds the
    command itself, what it adds runs in the same shell.
    """
    profile = role.size.fabric.profile
    if not profile:
        return role.command
    if not role.command:
        return ("source", profile)
    return ("bash", "-c", f'source {profile} && exec "$@"', role.command[0], *role.command)


def pod(
    run: Resolved,
    role: Role,
    *,
    subdomain: str | None = None,
    restart: str = "Never",
    deadline: int | None = None,
    grace: int | None = None,
    probes: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return a role's pod template, with annotations of the kind's own (`notes`), patched.

    `probes` are those of its training container, by field.

    An operator that says itself when pods restart wants no `restart`, and one that keeps time itself no `deadline`. A
    `grace` of its own has a pod that has nothing to save.
    """
    env = {name: sized.value for name, sized in role.env.items()}
    injected = run.kind.injected(role.name)
    told = {name: sized.value for name, sized in run.contract(role).items()}
    seen = {**hangs.probe(run.run, role.size), **(probes or {})}
    files = tuple(run.launch.files)
    process = Process(begun(role), role.args, env, from_fields(run, role), injected, files, told, seen)
    template = pods.template(
        run.run,
        run.sizing,
        role.size,
        process,
        container=run.kind.container,
        subdomain=subdomain,
        restart=restart,
        deadline=deadline,
        grace=grace,
        placing=run.kind.placing(run, role),
    )
    metadata = template["metadata"]
    metadata["annotations"] = pods.sort({**metadata["annotations"], **(notes or {})})
    return apply_patches(run, "Pod", role.name, template)


def apply_patches(run: Resolved, kind: str, role: str | None, body: dict[str, Any]) -> dict[str, Any]:
    """Return an object, or a part of one, with the job's patches for it."""
    for patch in run.run.job.patches:
        if patch.object == kind and patch.role in {None, role}:
            body = merge(body, patch.merge, lists=run.kind.lists)
    return body
