"""What controllers do when pods end, told one end after another."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.faces.local import work_of
from trainyard.faces.local.lives import Exit, Life, life_of

POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["x"]}]}}
DRAINED = Exit(143, "main", disrupted=True)


def thing(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    """Return an object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", "namespace": "nlp"}, "spec": spec}


def job(count: int = 2, **spec: Any) -> dict[str, Any]:
    """Return an indexed Job."""
    counts = {"completions": count, "parallelism": count, "completionMode": "Indexed"}
    return thing("batch/v1", "Job", **{**counts, "template": POD, **spec})


def jobset(*, of_job: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a JobSet of a driver and two workers."""
    jobs = [
        {"name": name, "template": {"spec": {"template": POD, "parallelism": n, "completions": n, **(of_job or {})}}}
        for name, n in (("driver", 1), ("worker", 2))
    ]
    return thing("jobset.x-k8s.io/v1alpha2", "JobSet", replicatedJobs=jobs, **spec)


def kubeflow(kind: str, field: str, container: str, spec: dict[str, Any] | None = None, **roles: Any) -> dict[str, Any]:
    """Return a job of the training operator: of each role its number, or all it says."""
    template = {"spec": {"containers": [{"name": container, "image": "x", "command": ["x"]}]}}
    found = {
        role: {"template": template, **(said if isinstance(said, dict) else {"replicas": said})}
        for role, said in roles.items()
    }
    return thing("kubeflow.org/v1", kind, **{field: found, **(spec or {})})


def torch(spec: dict[str, Any] | None = None, **roles: Any) -> dict[str, Any]:
    """Return a PyTorchJob."""
    return kubeflow("PyTorchJob", "pytorchReplicaSpecs", "pytorch", spec, **roles)


def tf(spec: dict[str, Any] | None = None, **roles: Any) -> dict[str, Any]:
    """Return a TFJob."""
    return kubeflow("TFJob", "tfReplicaSpecs", "tensorflow", spec, **roles)


def boost(worker: dict[str, Any]) -> dict[str, Any]:
    """Return an XGBoostJob of a master and a worker."""
    return kubeflow("XGBoostJob", "xgbReplicaSpecs", "xgboost", Master=1, Worker=worker)


def mpi(**spec: Any) -> dict[str, Any]:
    """Return an MPIJob."""
    replicas = {"Launcher": {"template": POD, "restartPolicy": "Never"}, "Worker": {"replicas": 1, "template": POD}}
    return {**thing("kubeflow.org/v2beta1", "MPIJob", mpiReplicaSpecs=replicas, **spec)}


def volcano(policies: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Volcano Job of a master and two workers."""
    tasks = [{"name": name, "replicas": n, "template": POD} for name, n in (("master", 1), ("worker", 2))]
    return thing("batch.volcano.sh/v1alpha1", "Job", tasks=tasks, policies=policies or [], **spec)


def ray() -> dict[str, Any]:
    """Return a RayJob without workers."""
    head = {"rayStartParams": {}, "template": {"spec": {"containers": [{"name": "head", "image": "x"}]}}}
    return thing("ray.io/v1", "RayJob", entrypoint="x", rayClusterSpec={"headGroupSpec": head})


def life(value: dict[str, Any]) -> Life:
    """Return the life of an object, begun."""
    (work,) = work_of([value])
    found = life_of(work.value, work.objects, [pod.pod for pod in work.pods])
    list(found.begin())
    return found


def after(value: dict[str, Any], *ends: tuple[str, int | Exit]) -> str:
    """Return what follows the last of some ends: `well`, `badly`, `all again`, the pods that start, or `nothing`."""
    found = life(value)
    said = "nothing"
    for who, end in ends:
        pod = next(one_pod for one_pod in found.pods if f"{one_pod.role}-{one_pod.index}" == who)
        step = found.finished(pod, end if isinstance(end, Exit) else Exit(end, pod.spec["containers"][0]["name"]))
        started = [f"{one_pod.role}-{one_pod.index}" for one_pod in found.pods if one_pod.name in step.start]
        said = "all again" if step.all_again else " ".join(started) or "nothing"
        if step.all_again:
            found.again()
            list(found.begin())
        if step.over is not None:
            return "well" if step.over else "badly"
    return said


FAIL_ON_42 = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
FAIL_ON_DRAIN = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
RULES = [
    {
        "name": "disruption",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"],
        "onJobFailureMessagePatterns": ["has condition DisruptionTarget"],
    },
    {"name": "hopeless", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]},
]
STRICT = {"backoffLimit": 0}
ON_FAILURE = {"restartPolicy": "OnFailure"}
W0, W1 = "worker-0", "worker-1"

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, int | Exit]], str]] = {
    "a Job ends when all have": (job(), [(W0, 0)], "nothing"),
    "a Job has ended well": (job(), [(W0, 0), (W1, 0)], "well"),
    "a Job makes a failed pod anew": (job(), [(W1, 1)], "worker-1"),
    "a Job bears its limit": (job(backoffLimit=1), [(W1, 1)], "worker-1"),
    "a Job fails past its limit": (job(backoffLimit=1), [(W1, 1), (W1, 1)], "badly"),
    "a Job fails at once with a limit of 0": (job(backoffLimit=0), [(W0, 1)], "badly"),
    "a failure policy's code ends the Job": (job(podFailurePolicy=FAIL_ON_42), [(W0, 42)], "badly"),
    "another code does not": (job(podFailurePolicy=FAIL_ON_42), [(W0, 41)], "worker-0"),
    "a drained pod costs nothing": (job(podFailurePolicy=IGNORE, **STRICT), [(W0, DRAINED)], "worker-0"),
    "a drained pod's code is not asked": (
        job(podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [143]}}]}),
        [(W0, DRAINED)],
        "worker-0",
    ),
    "indices fail alone": (job(backoffLimitPerIndex=0), [(W0, 1)], "nothing"),
    "a Job with a failed index has failed": (job(backoffLimitPerIndex=0), [(W0, 1), (W1, 0)], "badly"),
    "an index has retries of its own": (job(backoffLimitPerIndex=1), [(W0, 1)], "worker-0"),
    "too many failed indices end a Job": (job(3, backoffLimitPerIndex=0, maxFailedIndexes=0), [(W0, 1)], "badly"),
    "an array runs a few at once": (job(4, parallelism=2), [(W0, 0)], "worker-2"),
    "a success policy ends a Job early": (
        job(successPolicy={"rules": [{"succeededIndexes": "0"}]}),
        [(W0, 0)],
        "well",
    ),
    "a success policy counts": (job(3, successPolicy={"rules": [{"succeededCount": 2}]}), [(W1, 0)], "nothing"),
    "a success policy is met": (job(3, successPolicy={"rules": [{"succeededCount": 2}]}), [(W1, 0), (W0, 0)], "well"),
    "a JobSet without a policy fails with a Job": (jobset(of_job=STRICT), [(W0, 1)], "badly"),
    "a JobSet begins again": (jobset(of_job=STRICT, failurePolicy={"maxRestarts": 1}), [(W0, 1)], "all again"),
    "a JobSet's restarts are spent": (
        jobset(of_job=STRICT, failurePolicy={"maxRestarts": 1}),
        [(W0, 1), (W1, 1)],
        "badly",
    ),
    "a drain does not count": (
        jobset(of_job={**STRICT, "podFailurePolicy": FAIL_ON_DRAIN}, failurePolicy={"maxRestarts": 0, "rules": RULES}),
        [(W0, DRAINED), (W0, DRAINED)],
        "all again",
    ),
    "a hopeless failure ends a JobSet": (
        jobset(of_job={**STRICT, "podFailurePolicy": FAIL_ON_42}, failurePolicy={"maxRestarts": 9, "rules": RULES}),
        [(W0, 42)],
        "badly",
    ),
    "a rule restarts one Job alone": (
        jobset(of_job=STRICT, failurePolicy={"maxRestarts": 2, "rules": [{"name": "a", "action": "RestartJob"}]}),
        [(W1, 1)],
        "worker-0 worker-1",
    ),
    "a JobSet waits for all": (jobset(), [(W0, 0), (W1, 0)], "nothing"),
    "a JobSet has ended well": (jobset(), [(W0, 0), (W1, 0), ("driver-0", 0)], "well"),
    "a JobSet's driver decides": (
        jobset(successPolicy={"operator": "All", "targetReplicatedJobs": ["driver"]}),
        [("driver-0", 0)],
        "well",
    ),
    "any Job decides": (jobset(successPolicy={"operator": "Any"}), [("driver-0", 0)], "well"),
    "a master ends a PyTorchJob": (torch(Master=1, Worker=2), [("master-0", 0)], "well"),
    "a worker does not": (torch(Master=1, Worker=2), [(W0, 0), (W1, 0)], "nothing"),
    "all workers end one without": (torch(Worker=2), [(W0, 0)], "nothing"),
    "any worker ends an elastic one": (torch({"elasticPolicy": {"minReplicas": 1}}, Worker=2), [(W1, 0)], "well"),
    "restart policy Never fails": (
        torch(Master=1, Worker={"replicas": 1, "restartPolicy": "Never"}),
        [(W0, 1)],
        "badly",
    ),
    "a retryable code starts a pod anew": (
        torch(Master=1, Worker={"replicas": 1, "restartPolicy": "ExitCode"}),
        [(W0, 137)],
        "worker-0",
    ),
    "another code fails": (torch(Master=1, Worker={"replicas": 1, "restartPolicy": "ExitCode"}), [(W0, 1)], "badly"),
    "a chief ends a TFJob": (tf(Chief=1, PS=1, Worker=1), [("chief-0", 0)], "well"),
    "the first worker ends one without": (tf(PS=1, Worker=2), [(W0, 0)], "well"),
    "another worker does not": (tf(PS=1, Worker=2), [(W1, 0)], "nothing"),
    "all workers, where the policy says so": (
        tf({"successPolicy": "AllWorkers"}, PS=1, Worker=2),
        [(W0, 0)],
        "nothing",
    ),
    "a drained pod of a PyTorchJob is made anew": (torch(Master=1, Worker=2), [("master-0", DRAINED)], "master-0"),
    "a drained pod that is never restarted ends it": (
        torch(Master=1, Worker={"replicas": 1, "restartPolicy": "Never"}),
        [(W0, DRAINED)],
        "badly",
    ),
    "a chief that fails is made anew": (tf(Chief=ON_FAILURE, Worker=ON_FAILURE), [("chief-0", 1)], "chief-0"),
    "a drained chief ends a TFJob": (
        tf({"enableDynamicWorker": True}, Chief=ON_FAILURE, Worker=ON_FAILURE),
        [("chief-0", DRAINED)],
        "badly",
    ),
    "a drained dynamic worker does not": (
        tf({"enableDynamicWorker": True}, Chief=ON_FAILURE, Worker=ON_FAILURE),
        [(W0, DRAINED)],
        "worker-0",
    ),
    "a drained worker of fixed number does": (tf(Chief=ON_FAILURE, Worker=ON_FAILURE), [(W0, DRAINED)], "badly"),
    "a killed worker of an XGBoostJob is made anew": (boost(ON_FAILURE), [(W0, 137)], "worker-0"),
    "a drained one ends the job": (boost(ON_FAILURE), [(W0, DRAINED)], "badly"),
    "a drained one with ExitCode does not": (boost({"restartPolicy": "ExitCode"}), [(W0, DRAINED)], "worker-0"),
    "a launcher ends an MPIJob": (mpi(), [("launcher-0", 0)], "well"),
    "a worker that fails waits for the launcher": (mpi(), [("worker-0", 1)], "nothing"),
    "a launcher is tried again": (mpi(runPolicy={"backoffLimit": 1}), [("launcher-0", 1)], "launcher-0"),
    "a launcher's tries are spent": (mpi(runPolicy={"backoffLimit": 0}), [("launcher-0", 1)], "badly"),
    "a Volcano Job waits for all": (volcano(), [("master-0", 0), (W0, 0)], "nothing"),
    "enough pods end it well": (volcano(minAvailable=2), [("master-0", 0), (W0, 0), (W1, 1)], "well"),
    "too few do not": (volcano(minAvailable=3), [("master-0", 0), (W0, 0), (W1, 1)], "badly"),
    "a policy completes it": (
        volcano([{"event": "TaskCompleted", "action": "CompleteJob"}]),
        [("master-0", 0)],
        "well",
    ),
    "a task is complete when all of it is": (
        volcano([{"event": "TaskCompleted", "action": "CompleteJob"}]),
        [(W0, 0)],
        "nothing",
    ),
    "a policy restarts it": (volcano([{"event": "PodFailed", "action": "RestartJob"}]), [(W0, 1)], "all again"),
    "its retries are spent": (
        volcano([{"event": "PodFailed", "action": "RestartJob"}], maxRetry=1),
        [(W0, 1), (W0, 1)],
        "badly",
    ),
    "a code has a policy": (volcano([{"exitCode": 3, "action": "RestartTask"}]), [(W1, 3)], "worker-0 worker-1"),
    "a submitter ends a RayJob": (ray(), [("submitter-0", 0)], "well"),
    "a submitter is tried again": (ray(), [("submitter-0", 1)], "submitter-0"),
}


@pytest.mark.parametrize(("value", "ends", "expected"), CASES.values(), ids=CASES)
def test_what_follows_an_end(value, ends, expected):
    """Every kind has its own words for who decides, who starts again, and how often."""
    assert after(value, *ends) == expected


SPARED = {
    "a dynamic worker": (tf({"enableDynamicWorker": True}, Chief=1, Worker=1), W0, False),
    "a chief": (tf({"enableDynamicWorker": True}, Chief=ON_FAILURE, Worker=1), "chief-0", True),
    "a worker of an XGBoostJob": (boost(ON_FAILURE), W0, True),
    "a worker of a PyTorchJob": (torch(Worker=2), W1, False),
    "a worker that no end is mended of": (boost({"restartPolicy": "Never"}), W0, False),
}


@pytest.mark.parametrize(("value", "who", "more"), SPARED.values(), ids=SPARED)
def test_what_a_drain_does_and_a_kill_does_not_is_said(value, who, more):
    """Whoever kills a pod that a drain would end the job by learns that the two are not the same."""
    found = life(value)
    (pod,) = (one_pod for one_pod in found.pods if f"{one_pod.role}-{one_pod.index}" == who)
    assert bool(found.spared(pod)) is more
    assert (after(value, (who, DRAINED)) == "badly" and after(value, (who, 137)) != "badly") is more


RESTARTS: dict[str, tuple[dict[str, Any], int, bool | None]] = {
    "a PyTorchJob bears restarts below its limit": (torch({"runPolicy": {"backoffLimit": 3}}, Worker=2), 2, None),
    "a PyTorchJob fails at its limit": (torch({"runPolicy": {"backoffLimit": 3}}, Worker=2), 3, False),
    "a limit of 0 bears none": (torch({"runPolicy": {"backoffLimit": 0}}, Worker=2), 1, False),
    "without a limit there is none": (torch(Worker=2), 1000, None),
}


@pytest.mark.parametrize(("value", "restarts", "over"), RESTARTS.values(), ids=RESTARTS)
def test_restarts_in_pods_are_counted(value, restarts, over):
    """Containers that the kubelet starts again count against the job's limit."""
    found = life(value)
    assert found.restarted(found.pods[0], restarts).over is over


def test_a_replicated_job_waits_for_what_it_depends_on():
    """What starts counts as ready; what is to be complete must have ended well."""
    found = jobset()
    found["spec"]["replicatedJobs"][1]["dependsOn"] = [{"name": "driver", "status": "Complete"}]
    (work,) = work_of([found])
    lived = life_of(work.value, work.objects, [pod.pod for pod in work.pods])
    driver, *workers = (pod.pod for pod in work.pods)
    assert list(lived.begin()) == [driver.name]
    assert list(lived.finished(driver, Exit(0)).start) == [worker.name for worker in workers]


VERDICTS = {"succeeded": True, "failed": False, "was stopped": False}


@pytest.mark.parametrize(("verdict", "well"), VERDICTS.items(), ids=VERDICTS)
def test_a_rayjob_ends_as_its_program_does(verdict, well):
    """The submitter ends with 0 whatever the program did; what it writes of it counts."""
    found = life(ray())
    (submitter,) = (pod for pod in found.pods if pod.role == "submitter")
    found.read_line(submitter, f"Job 'it-abcde' {verdict}")
    assert found.finished(submitter, Exit(0)).over is well


def test_a_rayjob_is_tried_again_with_a_new_cluster():
    """Its own backoffLimit counts programs that fail."""
    value = ray()
    value["spec"]["backoffLimit"] = 1
    found = life(value)
    (submitter,) = (pod for pod in found.pods if pod.role == "submitter")
    found.read_line(submitter, "Job 'it-abcde' failed")
    assert found.finished(submitter, Exit(0)).all_again
    found.again()
    found.read_line(submitter, "Job 'it-abcde' failed")
    assert found.finished(submitter, Exit(0)).over is False
