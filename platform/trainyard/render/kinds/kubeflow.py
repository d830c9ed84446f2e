"""What holds for a job of Kubeflow's as a whole: its run policy, its health, and what Argo CD must not compare."""

from __future__ import annotations

from typing import Any

from trainyard.render.kinds.base import Resolved
from trainyard.render.parts.health import by_conditions

GROUP = "kubeflow.org"

INDEX_LABEL = "training.kubeflow.org/replica-index"
"""Of every pod of a replica type (training-operator v1.9.4, mpi-operator v0.8.2: their labels)."""


def health(field: str) -> str:
    """Return the health script of a kind whose replicas are in a field: pods that run, of those that are asked for."""
    return by_conditions(
        f"""\
local wanted, active = 0, 0
for _, replica in pairs(obj.spec.{field} or {{}}) do
  wanted = wanted + (replica.replicas or 1)
end
for _, replica in pairs(status.replicaStatuses or {{}}) do
  active = active + (replica.active or 0) + (replica.succeeded or 0)
end
""",
        '  hs.message = active .. " of " .. wanted .. " pods running"\n',
        done="Succeeded",
        holder="(obj.spec.runPolicy or {})",
    )


def ignored_fields(kind: str, field: str) -> dict[str, Any]:
    """Return the fields that Argo CD must not compare: those that Kueue writes into jobs (measured, argo-cd v3.2.6)."""
    template = f".spec.{field}[].template.spec"
    return {
        "group": GROUP,
        "kind": kind,
        "jsonPointers": ["/spec/runPolicy/suspend"],
        "jqPathExpressions": [f"{template}.tolerations", f"{template}.nodeSelector"],
    }


WHOLE_SINCE = "3.6.0"
"""The first Argo CD whose sync fails for good where a field inside a map of objects is ignored.

It reads the type of a custom object to keep ignored fields, and knows no map there: `expected kind, but got map`
(argo-cd v3.6.1 controller/sync.go normalizeTargetResources, #24197; seen with MPIJob and PyTorchJob). One live run of
such a kind would hold up all later runs of its team.
"""


def ignored_whole(kind: str, field: str) -> dict[str, Any]:
    """Return the fields as above with all replica types as one: what somebody changes there by hand is not seen."""
    return {"group": GROUP, "kind": kind, "jsonPointers": ["/spec/runPolicy/suspend", f"/spec/{field}"]}


def allowed_restarts(run: Resolved) -> int:
    """Return how many restarts of containers a gang may have: each of its own restarts is one of every pod.

    The operator fails a job as soon as their sum is the limit, and at the first where the limit is 0 (training-operator
    v1.9.4 pkg/core/job.go PastBackoffLimit).
    """
    restarts = run.sizing.restarts.value
    return restarts * sum(role.pods for role in run.roles) + 1 if restarts else 0


def run_policy(run: Resolved, *, backoff: int) -> dict[str, Any]:
    """Return the run policy of the whole job; when the job ends, pods that still run are deleted."""
    late = run.sizing.deadline_seconds
    return {"cleanPodPolicy": "Running", "backoffLimit": backoff, "activeDeadlineSeconds": late}
