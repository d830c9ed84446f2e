"""Kubeflow's v1 kinds: who is the Master, how restarts are counted, and what the real operator makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import TESTS
from make import make_cluster, make_job_file, make_resolved, make_specs, make_team
from trainyard.judge import preflight
from trainyard.render.kinds import build, kinds

SEEN = [json.loads(line) for line in (TESTS / "data" / "kubeflow.jsonl").read_text().splitlines()]
"""What training-operator 1.9.4 and Kueue 0.19.2 made of rendered jobs on Kubernetes 1.35.4, kind by kind."""

V1 = ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
UNMANAGED = make_cluster(
    operators={"kueue": {"version": "0.19.2"}, "training-operator": {"version": "1.9.4", "managed": False}}
)


def spec(kind: str, **job: Any) -> dict[str, Any]:
    """Return what the object of a run says."""
    run = make_resolved(kind=kind, **{"launcher": {"TFJob": "tensorflow"}.get(kind, "torchrun"), **job})
    found: dict[str, Any] = next(iter(build(run))).value()["spec"]
    return found


def replicas(kind: str, **job: Any) -> dict[str, Any]:
    """Return the replica types of a run."""
    found: dict[str, Any] = spec(kind, **job)[kinds()[kind].carrier.templates[0].collection[-1]]
    return found


@pytest.mark.parametrize("kind", ["PyTorchJob", "XGBoostJob"])
@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_the_first_worker_is_the_master(kind, nodes):
    """There is one Master, and Workers only where there are more pods; all of them run the same."""
    found = replicas(kind, nodes=nodes)
    assert {name: value["replicas"] for name, value in found.items()} == (
        {"Master": 1, "Worker": nodes - 1} if nodes > 1 else {"Master": 1}
    )
    assert len({json.dumps(item["template"]["spec"]) for item in found.values()}) == 1


@pytest.mark.parametrize("kind", ["JAXJob", "PaddleJob"])
def test_other_kinds_have_workers_alone(kind):
    """A Master would be a parameter server to Paddle, and nothing to JAX."""
    assert {name: replica["replicas"] for name, replica in replicas(kind, nodes=3).items()} == {"Worker": 3}


def test_an_elastic_pytorchjob_has_workers_alone():
    """The operator takes the bounds and starts as many workers as the job begins with."""
    found = spec("PyTorchJob", nodes=4, min_nodes=2, max_nodes=8)
    assert found["elasticPolicy"] == {"rdzvBackend": "c10d", "minReplicas": 2, "maxReplicas": 8}
    assert {
        name: pytorch_replica_spec["replicas"] for name, pytorch_replica_spec in found["pytorchReplicaSpecs"].items()
    } == {"Worker": 4}
    assert spec("PyTorchJob", nodes=4, min_nodes=2)["elasticPolicy"]["maxReplicas"] == 4
    assert "elasticPolicy" not in spec("PyTorchJob", nodes=4)


def test_the_world_counts_processes():
    """By default the operator counts pods."""
    assert spec("PyTorchJob", nodes=2)["nprocPerNode"] == "8"
    assert spec("PyTorchJob", nodes=2, launcher="python")["nprocPerNode"] == "1"


NOTES = ("kueue.x-k8s.io/podset-group-name", "kueue.x-k8s.io/pod-index-offset")


@pytest.mark.parametrize("kind", ["PyTorchJob", "XGBoostJob"])
def test_master_and_workers_are_placed_together(kind):
    """Where a topology is asked for they are one group, whose Workers' ranks begin where the operator's do."""
    found = replicas(kind, nodes=3, topology={"required": "rack"})
    notes = {name: value["template"]["metadata"]["annotations"] for name, value in found.items()}
    assert [notes["Master"].get(name) for name in NOTES] == ["gang", None]
    assert [notes["Worker"].get(name) for name in NOTES] == ["gang", "-1"]
    for job in ({"nodes": 1, "topology": {"required": "rack"}}, {"nodes": 3, "cluster": make_cluster(topology=None)}):
        for replica in replicas(kind, **job).values():
            assert not set(NOTES) & set(replica["template"]["metadata"]["annotations"])


@pytest.mark.parametrize("kind", V1)
@pytest.mark.parametrize(("restarts", "limit"), [(0, 0), (1, 4), (3, 10)])
def test_a_gang_may_start_again_as_often_as_said(kind, restarts, limit):
    """The operator sums restarts of containers up, and fails the job as soon as that is the limit."""
    policy = spec(kind, nodes=3, restarts=restarts)["runPolicy"]
    assert (policy["backoffLimit"], policy["cleanPodPolicy"]) == (limit, "Running")


@pytest.mark.parametrize("kind", V1)
def test_containers_restart_in_their_place_and_pods_keep_time(kind):
    """With ExitCode a program that fails by an exception would end the job; the operator looks at no clock."""
    for replica in replicas(kind, nodes=3, max_hours=1).values():
        assert replica["restartPolicy"] == "OnFailure"
        assert replica["template"]["spec"]["activeDeadlineSeconds"] == 3600
        assert "restartPolicy" not in replica["template"]["spec"]


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen['kind']}-{seen['launcher']}-{seen['job']['nodes']}")
def test_the_operator_does_what_the_wiring_says(seen):
    """Pods and their Services are called as the wiring says, and have the variables that the kind leaves to it."""
    run = make_resolved("p", kind=seen["kind"], launcher=seen["launcher"], **seen["job"])
    names = [pod["name"].replace("RUN", run.run.name) for pod in seen["pods"]]
    assert [run.wiring.host("worker", index) for index in range(len(names))] == names
    assert [service.replace("RUN", run.run.name) for service in seen["services"]] == sorted(names)
    (role,) = run.roles
    for index, pod in enumerate(seen["pods"]):
        assert set(pod["env"]) <= run.kind.injected("worker")
        assert pod["ports"] == [run.wiring.port]
        label = pod["labels"]["training.kubeflow.org/replica-index"]
        assert str(index) == (label if run.wiring.rank_field else pod["env"][run.wiring.rank])
        if run.wiring.rank in pod["env"]:
            assert pod["env"][run.wiring.rank] == str(index)
        if "WORLD_SIZE" in pod["env"] and seen["launcher"] != "xgboost":
            assert pod["env"]["WORLD_SIZE"] == str(role.pods * role.processes)


def test_ranks_follow_the_topology():
    """Seen on the real Kueue: four pods over two racks, rank by rank."""
    (seen,) = (item for item in SEEN if item["job"].get("topology") == {"preferred": "rack"})
    nodes = [pod["node"] for pod in seen["pods"]]
    assert len(set(nodes)) == 4
    assert nodes == sorted(nodes)


LEVELS = {"restricted": "error", "baseline": "warning"}


@pytest.mark.parametrize(("level", "severity"), LEVELS.items())
def test_an_operator_of_somebody_else_puts_its_container_into_workers(level, severity):
    """It has no security context, so that no Worker starts where Pod Security is restricted."""

    def found(**job: Any) -> list[tuple[str, str]]:
        file = make_job_file(kind="PyTorchJob", **job)
        cluster = job.pop("cluster", UNMANAGED)
        specs = make_specs(file, clusters={"test": cluster}, teams={"nlp": make_team(pod_security=level)})
        _, findings = preflight.jobs.check(specs, file)
        return [(finding.rule, str(finding.severity.value)) for finding in findings if finding.rule == "to1-init-image"]

    assert found() == [("to1-init-image", severity)]
    assert found(nodes=1) == []


def test_a_kind_that_is_gone_says_so():
    """MXJob is no misspelling of another kind."""
    specs = make_specs(make_job_file(kind="MXJob"))
    _, findings = preflight.jobs.check(specs, specs.jobs[0])
    assert [finding.message for finding in findings if finding.rule == "run/kind"] == [
        "kind 'MXJob' is gone since training-operator 1.9, as MXNet is; start its roles in a JobSet by exec"
    ]


@pytest.mark.parametrize("kind", ["MPIJobV1", "mpijob-v1", "kubeflow.org/v1 MPIJob", "MPIJob.v1"])
def test_an_mpijob_of_the_training_operator_is_another_kind(kind):
    """One that Kueue does not see is refused with the way out, however it is asked for."""
    specs = make_specs(make_job_file(kind=kind))
    _, findings = preflight.jobs.check(specs, specs.jobs[0])
    (found,) = [finding for finding in findings if finding.rule == "run/kind"]
    assert "write MPIJob, which is v2beta1" in found.message
