"""Job: indexed pods of one role, found by name through a headless Service; no operator.

Facts: kubernetes v1.35 pkg/controller/job, staging/src/k8s.io/api/batch/v1/types.go; kueue v0.19.2
pkg/controller/jobs/job; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import JOB_INDEX, JOB_NAME
from trainyard.render.kinds.base import NOT_WORTH_A_RETRY, Kind, Resolved
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.kinds.objects import files, make_object, pod, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.parts import gang, network
from trainyard.render.parts.health import by_conditions
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.roles import at_once
from trainyard.specs import Array
from trainyard.specs.run import Run

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
"""What the Job controller adds to every container of an Indexed Job."""

INDEX_FIELD = f"metadata.labels['{JOB_INDEX}']"

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"
"""Annotations of partial admission (kueue v0.19.2 pkg/controller/jobs/job/job_controller.go)."""

FIRST = {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]}
"""Ends a Job as done when its first pod is (kubernetes v1.35 pkg/controller/job/success_policy.go; stable in 1.33)."""

HEALTH = by_conditions(
    'local pods = (status.ready or 0) .. " of " .. (obj.spec.parallelism or 1) .. " pods ready"\n',
    "  hs.message = pods\n",
    done="Complete",
)
"""Argo CD calls a Job Healthy as soon as it carries a condition Suspended, of whatever status: while it runs."""


class Job(Kind):
    """A Job of Kubernetes itself, for clusters without JobSet.

    It replaces failed pods one by one. A gang restarts nevertheless: when a rank is gone, the collectives of the
    others fail, at once with Gloo, after the watchdog's time with NCCL, and each of them is replaced. So one restart
    costs a failure of every pod, and the limit is restarts times pods; a disruption of a node costs none.
    """

    name = "Job"
    group = "batch"
    version = "v1"
    gives = frozenset({"rank", "master", "hosts", "array", "elastic"})
    objects = frozenset({"batch/Job", "/Service", "/ConfigMap"})
    health = HEALTH
    behaviour = Behaviour(
        fails="its pod is created again; other ranks lose their peer, fail, and are created again too",
        drained="the same, but drained pods do not count",
        counts="as many failures as there are pods",
        done="all pods have ended with 0; for an elastic job, the first",
    )
    ignore = (
        {
            "group": "batch",
            "kind": "Job",
            "jsonPointers": ["/spec/suspend", "/spec/parallelism", "/spec/completions"],
            "jqPathExpressions": [
                ".spec.template.spec.tolerations",
                ".spec.template.spec.nodeSelector",
                ".spec.template.spec.schedulingGates",
                ".spec.template.metadata.labels",
                ".spec.template.metadata.annotations",
            ],
        },
    )

    def host(self, run: str, _role: str, index: int) -> str:
        """Return `<job>-<index>`."""
        return f"{run}-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the Service, which is called as the Job."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank=INDEX_VARIABLE,
            rank_field=INDEX_FIELD,
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the Job, the Service where there are several pods, and the files."""
        (role,) = run.roles
        name, several = run.run.name, role.pods > 1
        if run.run.job.array is not None:
            spec = independent(run, role, run.run.job.array)
        else:
            backoff = run.sizing.restarts.value * role.pods
            spec = indexed_job(run, role, backoff=backoff, disrupted="Ignore", subdomain=name if several else None)
            spec |= gang.native(run.run, role.pods)
        if run.launch.led:
            spec["successPolicy"] = FIRST
        yield queued(run, spec, annotations=partial_admission(run))
        if several:
            port = self.wiring(run.run).port
            yield make_object(run, "v1", "Service", at=("nodes",), spec=network.headless({JOB_NAME: name}, port))
        yield from files(run)


def partial_admission(run: Resolved) -> dict[str, str]:
    """Return the annotations with which Kueue may start an elastic job with fewer pods than it asks for."""
    least = run.run.job.min_nodes
    if least is None or least >= run.run.job.nodes:
        return {}
    return {MIN_PARALLELISM: str(least), EQUAL_COMPLETIONS: "true"}


def independent(run: Resolved, role: Role, array: Array) -> dict[str, Any]:
    """Return the spec of a Job whose pods have nothing to do with each other.

    Each index is tried again as often as a run of its own would be; one that has failed for good leaves the others
    alone, and the Job has then failed when all have ended. A limit for all of them together would end healthy ones.
    """
    spec = indexed_job(run, role, backoff=0, disrupted="Ignore")
    disrupted, codes = spec["podFailurePolicy"]["rules"]
    del spec["backoffLimit"]
    return spec | {
        "parallelism": at_once(run.run.job),
        "completions": array.of,
        "backoffLimitPerIndex": run.sizing.restarts.value,
        "podFailurePolicy": {"rules": [disrupted, codes | {"action": "FailIndex"}]},
    }


def indexed_job(
    run: Resolved, role: Role, *, backoff: int, disrupted: str, subdomain: str | None = None
) -> dict[str, Any]:
    """Return the spec of a Job whose pods have ranks; `disrupted` is what a drained or preempted pod means for it.

    That rule comes first: such a pod ends by SIGTERM, which a rule on exit codes would take for a failure. A pod is
    replaced when it is gone and not before, so that no name and no volume is there twice.
    """
    codes = {"containerName": run.kind.container, "operator": "In", "values": list(NOT_WORTH_A_RETRY)}
    rules = [
        {"action": disrupted, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": codes},
    ]
    return {
        "parallelism": role.pods,
        "completions": role.pods,
        "completionMode": "Indexed",
        "backoffLimit": backoff,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {"rules": rules},
        "activeDeadlineSeconds": run.sizing.deadline_seconds,
        "template": pod(run, role, subdomain=subdomain),
    }


KIND = Job()
