"""Every kind that trains and ends says so in one way, which its health script reads too."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.render.kinds import kinds
from trainyard.upstream.workloads import carrier, carriers


def conditions(*types: str, status: str = "True") -> dict[str, Any]:
    """Return the status of an object with these conditions."""
    return {"status": {"conditions": [{"type": kind, "status": status, "reason": "why"} for kind in types]}}


ENDS: dict[str, tuple[str, str, Any, str | None]] = {
    "a Job that is done": ("batch", "Job", conditions("SuccessCriteriaMet", "Complete"), "succeeded"),
    "a Job whose last pods are going": ("batch", "Job", conditions("SuccessCriteriaMet"), None),
    "a Job that fails, whose last pods are going": ("batch", "Job", conditions("FailureTarget"), None),
    "a Job that failed": ("batch", "Job", conditions("FailureTarget", "Failed"), "failed"),
    "a JobSet that is done": ("jobset.x-k8s.io", "JobSet", conditions("Completed"), "succeeded"),
    "a TrainJob that is done": ("trainer.kubeflow.org", "TrainJob", conditions("Complete"), "succeeded"),
    "a PyTorchJob that is done": ("kubeflow.org", "PyTorchJob", conditions("Created", "Succeeded"), "succeeded"),
    "an MPIJob that runs": ("kubeflow.org", "MPIJob", conditions("Created", "Running"), None),
    "a condition that is false": ("kubeflow.org", "MPIJob", conditions("Failed", status="False"), None),
    "a RayJob that is done": ("ray.io", "RayJob", {"status": {"jobDeploymentStatus": "Complete"}}, "succeeded"),
    "a RayJob that waits": ("ray.io", "RayJob", {"status": {"jobDeploymentStatus": "Suspended"}}, None),
    "a Volcano Job that is done": (
        "batch.volcano.sh",
        "Job",
        {"status": {"state": {"phase": "Completed"}}},
        "succeeded",
    ),
    "one that was aborted": ("batch.volcano.sh", "Job", {"status": {"state": {"phase": "Aborted"}}}, "failed"),
    "an AppWrapper that is done": (
        "workload.codeflare.dev",
        "AppWrapper",
        {"status": {"phase": "Succeeded"}},
        "succeeded",
    ),
    "an AppWrapper that starts again": (
        "workload.codeflare.dev",
        "AppWrapper",
        {"status": {"phase": "Resetting"}},
        None,
    ),
    "no status at all": ("batch", "Job", {}, None),
    "a status that is none": ("batch", "Job", {"status": {"conditions": [None, 1, {"type": []}]}}, None),
}


@pytest.mark.parametrize(("group", "kind", "value", "result"), ENDS.values(), ids=ENDS)
def test_an_object_says_that_it_ended(group, kind, value, result):
    """Only what a controller writes at the very end is one."""
    row = carrier(group, kind)
    assert row is not None
    assert row.ending is not None
    end = row.ending.of(value)
    assert (end.result if end else None) == result


def test_what_trains_says_its_end_or_has_none():
    """A Ray cluster and a group of leaders and workers run until they are removed; all others end."""
    endless = {row.kind for row in carriers().values() if row.trains and row.ending is None}
    assert endless == {"RayCluster", "LeaderWorkerSet"}


@pytest.mark.parametrize("name", [name for name, kind in kinds().items() if kind.health and kind.carrier.ending])
def test_health_scripts_read_the_same_word(name):
    """Argo CD and `retire --finished` must not differ on what is done."""
    kind = kinds()[name]
    ending = kind.carrier.ending
    assert ending is not None
    assert f' == "{ending.done}"' in str(kind.health)
