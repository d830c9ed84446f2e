"""JobSet: one replicated Job a role, which start, fail and restart together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.kinds.base import Kind
from trainyard.kinds.job import indexed
from trainyard.launchers import Role, Wiring
from trainyard.sizing import Sizing
from trainyard.workloads.job import INDEX_LABEL, INDEX_VARIABLE

BY_POLICY = "PodFailurePolicy"
TOO_LATE = "DeadlineExceeded"
"""Reasons of a failed Job (kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go)."""

DISRUPTION = "has condition DisruptionTarget"
"""In the message of a Job that its policy ended (kubernetes v1.35 pkg/controller/job/pod_failure_policy.go)."""

RULES = (
    {
        "name": "disruption",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": [BY_POLICY],
        "onJobFailureMessagePatterns": [DISRUPTION],
    },
    {"name": "hopeless", "action": "FailJobSet", "onJobFailureReasons": [BY_POLICY]},
    {"name": "deadline", "action": "FailJobSet", "onJobFailureReasons": [TOO_LATE]},
)
"""The first match counts; what matches none restarts the gang (jobset v0.12.0 pkg/controllers/failure_policy.go)."""


class JobSet(Kind):
    """A JobSet: the operator makes the headless Service and restarts all Jobs when one fails.

    A restart waits until every pod of the last attempt is gone, so that no name and no volume is there twice.
    """

    name = "JobSet"

    def wiring(self) -> Wiring:
        """Return names below the operator's Service, which is called as the JobSet."""
        run = self.run.name
        return Wiring(
            host=lambda role, index: f"{self.workload.host(run, role, index)}.{run}",
            rank=INDEX_VARIABLE,
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
            injected=self.workload.injected,
        )

    def build(self, sizing: Sizing, roles: Sequence[Role]) -> None:
        """Add the JobSet and the files."""
        policy = {"maxRestarts": self.run.job.restarts, "restartStrategy": "BlockingRecreate", "rules": list(RULES)}
        spec = {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "failurePolicy": policy,
            "replicatedJobs": [self.replicated(sizing, role) for role in roles],
        }
        self.add_workload(spec, sizing=sizing)
        self.add_files()

    def replicated(self, sizing: Sizing, role: Role) -> dict[str, Any]:
        """Return one role as a replicated job: any failure of a pod fails it, and so restarts the gang."""
        spec = indexed(self, sizing, role, backoff=0, disrupted="FailJob")
        return {"name": role.name, "replicas": 1, "template": self.patched("Job", role.name, {"spec": spec})}
