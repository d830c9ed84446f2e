"""Job: indexed pods of one role, found by name through a headless Service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.kinds.base import NOT_WORTH_A_RETRY, Kind
from trainyard.launchers import Role, Wiring
from trainyard.parts import network
from trainyard.sizing import Sizing
from trainyard.workloads.job import INDEX_LABEL, INDEX_VARIABLE, NAME_LABEL

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"
"""Annotations of partial admission (kueue v0.19.2 pkg/controller/jobs/job/job_controller.go)."""


class Job(Kind):
    """A Job of Kubernetes itself, for clusters without JobSet.

    It replaces failed pods one by one. A gang restarts nevertheless: when a rank is gone, the collectives of the
    others fail, at once with Gloo, after the watchdog's time with NCCL, and each of them is replaced. So one restart
    costs a failure of every pod, and the limit is restarts times pods; a disruption of a node costs none.
    """

    name = "Job"

    def wiring(self) -> Wiring:
        """Return names below the Service, which is called as the Job."""
        run = self.run.name
        return Wiring(
            host=lambda role, index: f"{self.workload.host(run, role, index)}.{run}",
            rank=INDEX_VARIABLE,
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            injected=self.workload.injected,
        )

    def build(self, sizing: Sizing, roles: Sequence[Role]) -> None:
        """Add the Job, the Service where there are several pods, and the files."""
        (role,) = roles
        several = role.pods > 1
        subdomain = self.run.name if several else None
        backoff = self.run.job.restarts * role.pods
        spec = indexed(self, sizing, role, backoff=backoff, disrupted="Ignore", subdomain=subdomain)
        self.add_workload(spec, sizing=sizing, annotations=self.partial_admission())
        if several:
            selector = {NAME_LABEL: self.run.name}
            self.add("v1", "Service", at=("nodes",), spec=network.headless(selector, self.wiring().port))
        self.add_files()

    def partial_admission(self) -> dict[str, str]:
        """Return what lets Kueue start an elastic job with fewer pods than it asks for."""
        least = self.run.job.min_nodes
        return (
            {}
            if least is None or least >= self.run.job.nodes
            else {MIN_PARALLELISM: str(least), EQUAL_COMPLETIONS: "true"}
        )


def indexed(
    kind: Kind, sizing: Sizing, role: Role, *, backoff: int, disrupted: str, subdomain: str | None = None
) -> dict[str, Any]:
    """Return the spec of a Job whose pods have ranks; `disrupted` is what a drained or preempted pod means for it.

    That rule comes first: such a pod ends by SIGTERM, which a rule on exit codes would take for a failure. A pod is
    replaced when it is gone and not before, so that no name and no volume is there twice.
    """
    codes = {"containerName": kind.container, "operator": "In", "values": list(NOT_WORTH_A_RETRY)}
    rules = [
        {"action": disrupted, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": codes},
    ]
    deadline = {"activeDeadlineSeconds": sizing.deadline.value} if sizing.deadline else {}
    return {
        "parallelism": role.pods,
        "completions": role.pods,
        "completionMode": "Indexed",
        "backoffLimit": backoff,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {"rules": rules},
        **deadline,
        "template": kind.pod(sizing, role, subdomain=subdomain),
    }
