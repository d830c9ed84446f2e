"""The container that trains, and the job's own containers beside it, completed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.render.parts import buckets, ceph_buckets, mounts, security, storage, tracking
from trainyard.render.sizing import RoleSize, resources
from trainyard.specs import Pool
from trainyard.specs.run import Run
from trainyard.specs.shapes import is_known_shape

REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
"""What the kubelet reads in a text (kubernetes v1.35 third_party/forked/golang/expansion/expand.go)."""

HIDDEN = {"NVIDIA_VISIBLE_DEVICES": "void"}
"""What a container without GPUs says, so that an image's own variable shows it none."""


@dataclass(frozen=True, slots=True)
class Process:
    """What the training container runs: the launcher's part of the pod."""

    command: tuple[str, ...]
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    """Variables from the pod's own fields: name to fieldPath."""
    injected: frozenset[str] = frozenset()
    """Variables that the operator sets, and that the template leaves to it."""
    files: tuple[str, ...] = ()
    """Names of the launcher's own files, which every pod gets."""
    contract: Mapping[str, str] = field(default_factory=dict)
    """What the program is told of its run."""
    probes: Mapping[str, Any] = field(default_factory=dict)
    """How the kubelet sees that it is well, by field of the container."""


def trainer(run: Run, size: RoleSize, process: Process, *, name: str) -> dict[str, Any]:
    """Return the container that trains: requests are limits, so that the pod is Guaranteed, unless it is untied."""
    return {
        "name": name,
        "image": run.job.image_name,
        "imagePullPolicy": "IfNotPresent",
        "command": list(process.command),
        "args": list(process.args),
        "workingDir": run.job.working_dir,
        "env": environment(run, size, process),
        "envFrom": mounts.variables(run.job) if size.trains else [],
        "resources": {
            "requests": size.requests(),
            "limits": size.limits(),
            "claims": [{"name": name} for name in size.fabric.claims],
        },
        "volumeMounts": [
            *storage.mounts(run, size, process.files),
            *(mounts.mounts(run.job) if size.trains else ()),
            *(buckets.mounts(run) if size.trains else ()),
            *(ceph_buckets.mounts(run) if process.contract else ()),
        ],
        "securityContext": security.container(security.who(run), privileged=size.fabric.host),
        **process.probes,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def environment(run: Run, size: RoleSize, process: Process) -> list[dict[str, Any]]:
    """Return the variables: derived ones, the launcher's, and the job's, which may override what a launcher lets it.

    Those from fields of the pod come first and what the program is told of its run next, since a value may refer to
    variables before it and to no others. A Secret's comes before the values where one of them refers to it.
    """
    derived = {
        **process.contract,
        "HOME": security.HOME,
        "USER": security.who(run).name,
        "PYTHONUNBUFFERED": "1",
        **hidden_gpus(run, size.pool, size.gpus.value),
        **{name: sized.value for name, sized in size.env.items()},
    }
    role = run.job.roles.get(size.name)
    values = {**derived, **process.env, **run.job.env, **(role.env if role else {})}
    given = {**tracking.secrets(run), **ceph_buckets.secrets(run)} if process.contract else {}
    named = {**given, **run.job.secrets}
    elsewhere = {*process.fields, *named, *process.injected}
    plain: list[dict[str, Any]] = [
        {"name": name, "value": value} for name, value in values.items() if name not in elsewhere
    ]
    own = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in process.fields.items()
        if name not in process.injected
    ]
    first = referred(value for name, value in values.items() if name not in elsewhere)
    secrets = {name: secret(name, reference) for name, reference in named.items()}
    before = [variable for name, variable in secrets.items() if name in first]
    return [*own, *before, *plain, *(variable for name, variable in secrets.items() if name not in first)]


def referred(values: Iterable[str]) -> frozenset[str]:
    """Return the names of the variables that values refer to by `$(NAME)`; `$$` is a dollar sign."""
    return frozenset(found[1] for value in values for found in REFERENCE.finditer(value) if found[1])


def secret(name: str, reference: str) -> dict[str, Any]:
    """Return a variable whose value stands in a Secret: `secret/key`."""
    of, _, key = reference.partition("/")
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": of, "key": key}}}


def hidden_gpus(run: Run, pool: str, gpus: int) -> dict[str, str]:
    """Return the variable that hides a node's GPUs from a container without any (k8s-device-plugin v0.20.0 README).

    Pods of several pools select none of them, so the cluster's policies ask it of them wherever NVIDIA's GPUs are.
    """
    if is_nvidia(run.cluster.pools[pool]):
        return {} if gpus else HIDDEN
    return HIDDEN if len(run.pools) > 1 and any(map(is_nvidia, run.cluster.pools.values())) else {}


def is_nvidia(pool: Pool) -> bool:
    """Say whether nodes of a pool have GPUs of NVIDIA."""
    gpus = pool.node.gpus if is_known_shape(pool.shape) else None
    return gpus is not None and gpus.vendor == "nvidia"


def complete_container(run: Run, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a container of the job's own, completed: requests equal limits, Pod Security restricted, no GPUs seen."""
    amounts = resources(given)
    asks = any(name.startswith("nvidia.com/") for name in amounts)
    listed = given.get("env")
    env = list(listed) if isinstance(listed, (list, tuple)) else []
    named = {variable.get("name") for variable in env if isinstance(variable, Mapping)}
    hidden = {} if asks else hidden_gpus(run, run.pool_name, 0)
    context = given.get("securityContext")
    return {
        "imagePullPolicy": "IfNotPresent",
        **given,
        "env": [*env, *({"name": name, "value": value} for name, value in hidden.items() if name not in named)],
        "resources": {"requests": amounts, "limits": dict(amounts)},
        "securityContext": {
            **security.container(security.who(run)),
            **(context if isinstance(context, Mapping) else {}),
        },
    }
