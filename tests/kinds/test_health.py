"""Health of kinds as Argo CD should show it, and what it must not compare."""

from __future__ import annotations

from typing import Any

import pytest

import lua51
from trainyard.render.kinds import kinds


def condition(kind: str, status: str = "True", **fields: str) -> dict[str, Any]:
    """Return a status condition."""
    return {"type": kind, "status": status, **fields}


def live(kind: str, *conditions: dict[str, Any], suspend: bool = False, **status: Any) -> tuple[str, dict[str, Any]]:
    """Return an object as the cluster has it."""
    spec = {"suspend": suspend, "parallelism": 2, "replicatedJobs": [{"name": "worker", "replicas": 1}]}
    return kind, {"spec": spec, "status": {"conditions": list(conditions), **status}}


def kubeflow(
    kind: str, *conditions: dict[str, Any], suspend: bool = False, **status: Any
) -> tuple[str, dict[str, Any]]:
    """Return one of Kubeflow's objects as the cluster has it: three pods of two roles."""
    field = {"TFJob": "tfReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}[kind]
    spec = {"runPolicy": {"suspend": suspend}, field: {"Worker": {"replicas": 2}, "Launcher": {}}}
    return kind, {"spec": spec, "status": {"conditions": list(conditions), **status}}


def volcano(phase: str | None = None, **status: Any) -> tuple[str, dict[str, Any]]:
    """Return one of Volcano's Jobs as the cluster has it: two tasks, three pods."""
    found = {"state": {"phase": phase}, **status} if phase else {}
    return "VolcanoJob", {"spec": {"tasks": [{"replicas": 1}, {"replicas": 2}]}, "status": found}


def group(*conditions: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a LeaderWorkerSet as the cluster has it."""
    return "LeaderWorkerSet", {"spec": {}, "status": {"conditions": list(conditions)}}


QUEUED, RESUMED = condition("Suspended", message="Job suspended"), condition("Suspended", "False")
HEALTH = {
    "Job just made": (("Job", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "Job just made in a queue": (("Job", {"spec": {"suspend": True}}), "Suspended", "Queued or stopped"),
    "Job queued": (live("Job", QUEUED, suspend=True), "Suspended", "Job suspended"),
    "Job starting": (live("Job", RESUMED, ready=0), "Progressing", "0 of 2 pods ready"),
    "Job running after a wait": (live("Job", RESUMED, ready=2), "Progressing", "2 of 2 pods ready"),
    "Job failed": (live("Job", RESUMED, condition("Failed", message="too many")), "Degraded", "too many"),
    "Job done": (live("Job", RESUMED, condition("Complete", message="all there")), "Healthy", "all there"),
    "Job about to fail": (live("Job", condition("FailureTarget"), ready=1), "Progressing", "1 of 2 pods ready"),
    "JobSet just made": (("JobSet", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "JobSet queued": (live("JobSet", QUEUED, suspend=True), "Suspended", "Job suspended"),
    "JobSet starting": (
        live("JobSet", RESUMED, replicatedJobsStatus=[{"name": "worker", "ready": 0, "succeeded": 0}]),
        "Progressing",
        "0 of 1 jobs ready",
    ),
    "JobSet running again": (
        live("JobSet", RESUMED, replicatedJobsStatus=[{"name": "worker", "ready": 1, "succeeded": 0}], restarts=2),
        "Progressing",
        "1 of 1 jobs ready, restart 2",
    ),
    "JobSet failed": (live("JobSet", RESUMED, condition("Failed", reason="FailedJobs")), "Degraded", "FailedJobs"),
    "JobSet done": (live("JobSet", RESUMED, condition("Completed")), "Healthy", "Completed"),
    "TrainJob just made": (("TrainJob", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "TrainJob queued": (live("TrainJob", QUEUED, suspend=True), "Suspended", "Job suspended"),
    "TrainJob running": (
        live("TrainJob", RESUMED, jobsStatus=[{"name": "launcher", "ready": 1}, {"name": "node", "ready": 0}]),
        "Progressing",
        "1 of 2 jobs ready",
    ),
    "TrainJob failed": (live("TrainJob", RESUMED, condition("Failed", message="no more")), "Degraded", "no more"),
    "TrainJob done": (live("TrainJob", RESUMED, condition("Complete")), "Healthy", "Complete"),
    "TFJob just made": (("TFJob", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "TFJob just made in a queue": (
        ("TFJob", {"spec": {"runPolicy": {"suspend": True}}}),
        "Suspended",
        "Queued or stopped",
    ),
    "TFJob running": (
        kubeflow("TFJob", condition("Running"), replicaStatuses={"Worker": {"active": 2}}),
        "Progressing",
        "2 of 3 pods running",
    ),
    "TFJob done": (kubeflow("TFJob", condition("Succeeded", message="all done")), "Healthy", "all done"),
    "MPIJob failed": (
        kubeflow("MPIJob", condition("Running", "False"), condition("Failed", reason="Evicted")),
        "Degraded",
        "Evicted",
    ),
    "Volcano's Job just made": (volcano(), "Progressing", "Waiting for the controller"),
    "Volcano's Job queued": (volcano("Pending"), "Suspended", "Queued"),
    "Volcano's Job starting": (volcano("Pending", pending=3), "Progressing", "Pending, 0 of 3 pods running"),
    "Volcano's Job running": (
        volcano("Running", running=2, succeeded=1),
        "Progressing",
        "Running, 3 of 3 pods running",
    ),
    "Volcano's Job starting again": (
        volcano("Restarting", terminating=3),
        "Progressing",
        "Restarting, 0 of 3 pods running",
    ),
    "Volcano's Job done": (volcano("Completed", succeeded=3), "Healthy", "Completed"),
    "Volcano's Job failed": (volcano("Failed", failed=1), "Degraded", "Failed"),
    "Volcano's Job without hope": (volcano("Terminated", failed=1), "Degraded", "Terminated"),
    "LeaderWorkerSet just made": (("LeaderWorkerSet", {"spec": {}}), "Progressing", "Waiting for the controller"),
    "LeaderWorkerSet queued or starting": (
        group(condition("Progressing", message="Replicas are progressing"), condition("Available", "False")),
        "Progressing",
        "Replicas are progressing",
    ),
    "LeaderWorkerSet running": (group(condition("Available", message="All ready")), "Healthy", "All ready"),
}


@pytest.mark.parametrize(("shown", "status", "message"), HEALTH.values(), ids=HEALTH)
def test_health(shown, status, message):
    """What queues is Suspended, what runs is Progressing, and only the end is Healthy or Degraded."""
    kind, value = shown
    assert lua51.health(kinds()[kind].health or "", value) == (status, message)


@pytest.mark.parametrize("kind", sorted(name for name, kind in kinds().items() if kind.carrier.suspend))
def test_argo_cd_leaves_alone_what_kueue_writes(kind):
    """What Kueue sets to hold a job is no difference, and a rule is about its own kind."""
    known = kinds()[kind]
    held = "/" + "/".join(map(str, known.carrier.suspend or ()))
    assert known.ignore
    for rule in known.ignore:
        assert (rule["group"], rule["kind"]) == (known.group, known.name)
        assert held in rule["jsonPointers"]


def test_a_jobset_is_applied_by_the_server():
    """Argo CD's own apply would replace the list of replicated jobs, which the webhook refuses."""
    assert kinds()["JobSet"].annotations == {"argocd.argoproj.io/sync-options": "ServerSideApply=true"}
