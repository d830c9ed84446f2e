"""A large role without GPUs that takes a node with GPUs is found, where the queue has a pool without."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_run
from trainyard.judge.preflight.job.cpu_roles import CPU_ROLE
from trainyard.judge.preflight.jobs import check_run

LARGE: dict[str, Any] = {"cpusPerNode": 12, "memoryPerNode": "32Gi", "command": ["./replay"]}
JOB: dict[str, Any] = {"launcher": "python", "processesPerNode": 1}
QUEUE = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}
SLACK = {"gpu": {"shape": "dgx-h100", "nodes": 4, "slack": {"cpus": 16, "memory": "128Gi"}}}
CPU = make_cluster().model_dump(by_alias=True, exclude_unset=True)["pools"]["cpu"]


def found(role: dict[str, Any], **changes: Any) -> list[tuple[str | None, str]]:
    """Return place and message of what is said of a role."""
    findings = check_run(make_run(**{**JOB, "roles": {"replay": role}, **changes}))[1]
    assert not [finding for finding in findings if finding.is_error]
    return [(finding.path, finding.message) for finding in findings if finding.rule == CPU_ROLE.id]


def test_a_role_that_takes_a_node_with_gpus_is_told_where_to_go():
    """The warning names the pool without GPUs."""
    message = "role 'replay' has no GPUs, but takes 12 CPUs of a GPU node of pool 'gpu'; set pool: cpu"
    assert found(LARGE) == [("roles.replay", message)]


SILENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "on CPUs": ({**LARGE, "pool": "cpu"}, {}),
    "on the pool that it names": ({**LARGE, "pool": "gpu"}, {}),
    "a small head": ({**LARGE, "cpusPerNode": 4, "memoryPerNode": "16Gi"}, {}),
    "with GPUs": ({"gpusPerNode": 8, "command": ["./replay"]}, {}),
    "no pool of CPUs in the queue": (LARGE, {"cluster": make_cluster(queues=QUEUE)}),
    "room beside the workers": (LARGE, {"cpusPerNode": 100, "memoryPerNode": "500Gi"}),
    "in the slack": (LARGE, {"cluster": make_cluster(pools={**SLACK, "cpu": CPU})}),
    "more than a node of CPUs has": ({**LARGE, "cpusPerNode": 200}, {}),
}


@pytest.mark.parametrize(("role", "changes"), SILENT.values(), ids=SILENT)
def test_other_roles_are_left_alone(role, changes):
    """They are small, fit beside the workers, or have nowhere else to go."""
    assert found(role, **changes) == []
