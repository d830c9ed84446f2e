"""The pod of a role: one container that trains, complete by construction, and the job's own containers beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.parts import network, security, storage
from trainyard.sizing import WORKER, RoleSize, Sizing, resources
from trainyard.specs.run import Run

PREFIX = "trainyard.dev"
POOL = f"{PREFIX}/pool"
"""Node label, and the only node selector of a queued run."""

STAY = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
"""What keeps autoscalers from moving a rank (cluster-autoscaler and Karpenter documentation)."""


@dataclass(frozen=True, slots=True)
class Process:
    """What the training container runs: the launcher's part of the pod."""

    command: tuple[str, ...]
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    """Variables from the pod's own fields: name to fieldPath."""


def labels(run: Run) -> dict[str, str]:
    """Return the labels of every object and pod of a run; the job's own come first."""
    ours = {"job": run.job_name, "run": run.name, "team": run.team_name}
    return {**run.job.labels, **{f"{PREFIX}/{name}": value for name, value in ours.items()}}


def template(
    run: Run, sizing: Sizing, size: RoleSize, process: Process, *, container: str, subdomain: str | None = None
) -> dict[str, Any]:
    """Return the PodTemplateSpec of a role.

    `subdomain` names the Service under which the pods find each other, where the kind does not say so itself.
    """
    annotations = {**run.job.annotations, **STAY, **network.attachments(size)}
    if sizing.topology is not None:
        annotations[sizing.topology.value.annotation] = sizing.topology.value.label
    return {
        "metadata": {"labels": sort(labels(run)), "annotations": sort(annotations)},
        "spec": drop_empty(spec(run, sizing, size, process, container=container, subdomain=subdomain)),
    }


def spec(
    run: Run, sizing: Sizing, size: RoleSize, process: Process, *, container: str, subdomain: str | None
) -> dict[str, Any]:
    """Return the PodSpec of a role."""
    job, worker = run.job, size.name == WORKER
    identity = {"serviceAccountName": job.service_account} if job.service_account else {}
    return {
        "restartPolicy": "Never",
        "subdomain": subdomain,
        **identity,
        "automountServiceAccountToken": job.service_account is not None,
        "enableServiceLinks": False,
        "nodeSelector": {POOL: size.pool},
        "terminationGracePeriodSeconds": sizing.grace.value,
        "imagePullSecrets": [{"name": name} for name in job.image_pull_secrets],
        "securityContext": security.pod(),
        "initContainers": [beside(run, each) for each in job.init_containers] if worker else [],
        "containers": [
            trainer(run, size, process, name=container),
            *(beside(run, each) for each in job.containers if worker),
        ],
        "volumes": [*storage.volumes(run, size), *(job.volumes if worker else ())],
    }


def trainer(run: Run, size: RoleSize, process: Process, *, name: str) -> dict[str, Any]:
    """Return the container that trains: requests are limits, so that the pod is Guaranteed."""
    amounts = size.requests()
    return {
        "name": name,
        "image": run.job.image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(process.command),
        "args": list(process.args),
        "workingDir": run.job.working_dir,
        "env": environment(run, size, process),
        "resources": {"requests": amounts, "limits": dict(amounts)},
        "volumeMounts": storage.mounts(run),
        "securityContext": security.container(locks_memory=network.locks_memory(run, size)),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def environment(run: Run, size: RoleSize, process: Process) -> list[dict[str, Any]]:
    """Return the variables: derived ones, the launcher's, and the job's, which may override what a launcher lets it."""
    derived = {
        "HOME": security.HOME,
        "USER": security.USER_NAME,
        "PYTHONUNBUFFERED": "1",
        **hidden_gpus(run, size.pool, size.gpus.value),
        **{name: sized.value for name, sized in size.env.items()},
        **storage.environment(run),
    }
    values = {**derived, **process.env, **run.job.env}
    elsewhere = {*process.fields, *run.job.secrets}
    plain: list[dict[str, Any]] = [
        {"name": name, "value": value} for name, value in values.items() if name not in elsewhere
    ]
    own = [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in process.fields.items()]
    return [*plain, *own, *(secret(name, reference) for name, reference in run.job.secrets.items())]


def secret(name: str, reference: str) -> dict[str, Any]:
    """Return a variable whose value stands in a Secret: `secret/key`."""
    of, _, key = reference.partition("/")
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": of, "key": key}}}


def hidden_gpus(run: Run, pool: str, gpus: int) -> dict[str, str]:
    """Return what keeps a container without GPUs from seeing those of its node (k8s-device-plugin v0.20.0 README)."""
    shape = run.cluster.pools[pool].node.gpus
    return {"NVIDIA_VISIBLE_DEVICES": "void"} if shape and shape.vendor == "nvidia" and not gpus else {}


def beside(run: Run, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a container of the job's own, completed: requests equal limits, Pod Security restricted, no GPUs seen."""
    amounts = resources(given)
    asks = any("/" in name for name in amounts)
    listed = given.get("env")
    env = list(listed) if isinstance(listed, (list, tuple)) else []
    named = {each.get("name") for each in env if isinstance(each, Mapping)}
    hidden = {} if asks else hidden_gpus(run, run.job.pool, 0)
    context = given.get("securityContext")
    return {
        "imagePullPolicy": "IfNotPresent",
        **given,
        "env": [*env, *({"name": name, "value": value} for name, value in hidden.items() if name not in named)],
        "resources": {"requests": amounts, "limits": dict(amounts)},
        "securityContext": {**security.container(), **(context if isinstance(context, Mapping) else {})},
    }


def sort(values: Mapping[str, str]) -> dict[str, str]:
    """Return labels or annotations in the order of their keys."""
    return dict(sorted(values.items()))


KEPT_EMPTY = frozenset({"emptyDir"})
"""Fields whose empty value says something."""


def drop_empty(value: Any) -> Any:
    """Return a copy without None, empty text, empty lists and empty maps.

    A controller that writes an object back drops them, and where a field is immutable the write is refused
    (measured: a TrainJob with `value: ""` is admitted by Kueue 0.19.2 and never starts).
    """
    if isinstance(value, Mapping):
        pairs = ((key, drop_empty(item)) for key, item in value.items())
        return {key: item for key, item in pairs if key in KEPT_EMPTY or not empty(item)}
    if isinstance(value, (list, tuple)):
        return [drop_empty(item) for item in value]
    return value


def empty(value: Any) -> bool:
    """Whether a value says nothing."""
    return value is None or (isinstance(value, (str, Iterable)) and not value)
