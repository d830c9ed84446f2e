"""The pod of a role: one container that trains, complete by construction, and the job's own containers beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.labels import JOB, MAY_BE_FORCED, RUN, TEAM
from trainyard.base.pools import node_terms
from trainyard.render.parts import buckets, ceph_buckets, identity, mounts, network, security, storage
from trainyard.render.parts.containers import Process, complete_container, trainer
from trainyard.render.sizing import WORKER, RoleSize, Sizing
from trainyard.render.sizing.companions import before_training
from trainyard.specs import Cluster
from trainyard.specs.accounts import account_of
from trainyard.specs.run import Run

KEEP = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
STAY = {**KEEP, "karpenter.sh/do-not-disrupt": "true"}
"""What keeps autoscalers from moving a rank (cluster-autoscaler and Karpenter documentation)."""

GONE = {MAY_BE_FORCED: "true"}
"""Lets a run go on that has lost a node.

The pod of a node that does not answer stays Terminating, and neither a Job nor a JobSet goes on while it is there
(kubernetes v1.35 pkg/controller/job/job_controller.go enactJobFinished).
"""


def staying(run: Run) -> dict[str, str]:
    """Return the annotations by which autoscalers leave the pods alone.

    On spot nodes of Karpenter none for it: it would not evict such pods when a node is interrupted, so that they were
    killed without a signal (kubernetes-sigs/karpenter v1.14.1 pkg/controllers/node/termination/terminator/eviction.go).
    """
    pools = ((name, run.cluster.pools[name]) for name in run.pools)
    ends = any(pool.spot and run.cluster.is_karpenters(name) for name, pool in pools)
    return KEEP if ends else STAY


@dataclass(frozen=True, slots=True)
class Placing:
    """What a pod says of its way to a node, where the scheduler of Kubernetes and Kueue alone do not lead it there."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of its spec: another scheduler, tolerations that no flavor adds."""
    labels: Mapping[str, str] = field(default_factory=dict)
    by_kueue: bool = True
    """Whether Kueue places it, and so reads how close to the others it is to be."""


BY_KUEUE = Placing()


def labels(run: Run) -> dict[str, str]:
    """Return the labels of every object and pod of a run; the job's own come first."""
    ours = {JOB: run.job_name, RUN: run.name, TEAM: run.team_name}
    return {**run.job.labels, **ours}


def template(
    run: Run,
    sizing: Sizing,
    size: RoleSize,
    process: Process,
    *,
    container: str,
    subdomain: str | None = None,
    restart: str = "Never",
    deadline: int | None = None,
    grace: int | None = None,
    placing: Placing = BY_KUEUE,
) -> dict[str, Any]:
    """Return the PodTemplateSpec of a role.

    `subdomain` names the Service under which the pods find each other, where the kind does not say so itself; `restart`
    is the pod's restart policy, `deadline` the seconds after which the kubelet ends it, and `grace` those in which it
    ends where it saves nothing. Only pods with ranks are placed near each other.
    """
    annotations = {
        **run.job.annotations,
        **(buckets.pod_annotations(run) if size.trains else {}),
        **staying(run),
        **GONE,
        **size.fabric.annotations,
        **network.limits(run, size, container),
    }
    if sizing.topology is not None and size.ranks and placing.by_kueue:
        annotations |= sizing.topology.value.annotations(size.nodes.value)
    own = {"restartPolicy": restart, "subdomain": subdomain, "activeDeadlineSeconds": deadline, **placing.fields}
    body = {**own, **spec(run, sizing, size, process, container)}
    if grace is not None:
        body["terminationGracePeriodSeconds"] = grace
    seen = identity.pod_labels(run)
    return {
        "metadata": {"labels": sort({**labels(run), **seen, **placing.labels}), "annotations": sort(annotations)},
        "spec": drop_empty(body),
    }


def spec(run: Run, sizing: Sizing, size: RoleSize, process: Process, container: str) -> dict[str, Any]:
    """Return the PodSpec of a role, whichever kind carries it."""
    job, worker = run.job, size.name == WORKER
    name = account_of(run)
    account = {"serviceAccountName": name} if name else {}
    return {
        **account,
        **network.of_node(size),
        "automountServiceAccountToken": job.service_account is not None,
        "enableServiceLinks": False,
        **on_pools(run.cluster, size),
        "terminationGracePeriodSeconds": sizing.grace.value,
        "imagePullSecrets": [{"name": name} for name in job.image_pull_secrets],
        "securityContext": security.pod(
            security.who(run), security.device_groups(run, size), owns=not storage.has_squashed_volume(run)
        ),
        "initContainers": [
            *map(dict, size.fabric.sidecars),
            *(complete_container(run, own) for own in before_training(job, size, run.folder)),
        ],
        "containers": [trainer(run, size, process, name=container)],
        "volumes": [
            *storage.volumes(run, size, process.files),
            *(mounts.volumes(job, worker=worker) if worker or size.trains else ()),
            *(buckets.volumes(run) if size.trains else ()),
            *(ceph_buckets.volumes(run) if process.contract else ()),
        ],
        "resourceClaims": [
            {"name": name, "resourceClaimTemplateName": template} for name, template in size.fabric.claims.items()
        ],
    }


def on_pools(cluster: Cluster, size: RoleSize) -> dict[str, Any]:
    """Return the fields that keep a pod on its pool, or on any of several.

    Kueue gives the pods of several the flavor of one, of those whose labels match the affinity, and selects its nodes
    as they start (kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go flavorSelector).
    """
    if not size.pools:
        return {"nodeSelector": cluster.selector_of(size.pool)}
    terms = node_terms(map(cluster.selector_of, size.pools))
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


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
    if isinstance(value, (list, tuple)):
        return [item if isinstance(item, str) else drop_empty(item) for item in value]
    if isinstance(value, (dict, Mapping)):
        found: dict[Any, Any] = {}
        for key, item in value.items():
            kept = item if isinstance(item, str) else drop_empty(item)
            if kept or key in KEPT_EMPTY or not empty(kept):
                found[key] = kept
        return found
    return value


def empty(value: Any) -> bool:
    """Whether a value says nothing."""
    return value is None or (not value and isinstance(value, (str, dict, list, Iterable)))
