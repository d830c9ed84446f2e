"""Kubeflow's jobs in a queue of Volcano's: their operators make the groups, and nothing of Kueue's is in them."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_job_file, make_repository, make_resolved, make_source, make_specs, make_team
from trainyard.judge.admission.job_workloads import group
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.cluster.volcano_operators import check
from trainyard.render.kinds import build
from trainyard.render.operators.install import sites
from trainyard.render.operators.kueue import frameworks
from trainyard.render.operators.mpi_operator import OPERATOR as MPI_OPERATOR
from trainyard.render.operators.training_operator import OPERATOR as TRAINING_OPERATOR
from trainyard.render.tenancy import allowance, breaches

LEFT = {"scheduler": "volcano"}
VOLCANO = {"volcano": {"version": "1.15.1"}}
TRAINING = {"training-operator": {"version": "1.9.4", **LEFT}}
MPI = {"mpi-operator": {"version": "0.8.0", **LEFT}}
KUEUE = {"kueue": {"version": "0.19.2"}}
OWN = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
HOLDING = OWN + "manageJobsWithoutQueueName: true\nintegrations: {frameworks: [batch/job, kubeflow.org/pytorchjob]}\n"
IDLE = OWN + "manageJobsWithoutQueueName: false\n"


def cluster(operators: dict[str, Any], **queue: Any) -> Any:
    """Return a cluster with one queue, which is Volcano's unless it says otherwise."""
    own = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}, **LEFT, **queue}
    return make_cluster(topology=None, operators=operators, queues={"research": own})


def configured(text: str, **choice: Any) -> dict[str, Any]:
    """Return a Kueue with a configuration of the file's own."""
    values = {"managerConfig": {"controllerManagerConfigYaml": text}}
    return {"kueue": {"version": "0.19.2", "values": values, **choice}}


ALONE = cluster({**VOLCANO, **TRAINING, **MPI})
"""A cluster without Kueue."""

POLICIES: dict[str, tuple[dict[str, Any], int, str | None, int]] = {
    "a Master and its Workers": ({"kind": "PyTorchJob", "nodes": 4}, 4, None, 4),
    "an elastic job starts with its fewest": ({"kind": "PyTorchJob", "nodes": 4, "min_nodes": 1}, 1, None, 1),
    "a launcher comes when its workers are ready, and its place is kept": (
        {"kind": "MPIJob", "launcher": "mpirun", "nodes": 4},
        4,
        "826",
        5,
    ),
    "elastic workers and their launcher": (
        {"kind": "MPIJob", "launcher": "horovod", "nodes": 4, "min_nodes": 2},
        2,
        "414",
        3,
    ),
}


@pytest.mark.parametrize(("job", "least", "cpus", "pods"), POLICIES.values(), ids=POLICIES)
def test_the_policy_of_a_group(job, least, cpus, pods):
    """The group is what has to start together, in the job's queue; every pod that comes then has to find a node."""
    run = make_resolved(cluster=ALONE, **job)
    value = next(item.value() for item in build(run))
    policy = dict(value["spec"]["runPolicy"]["schedulingPolicy"])
    assert policy.pop("minResources", {}).get("cpu") == cpus
    assert policy == {"queue": "research", "priorityClass": "normal", "minAvailable": least}
    assert not [label for label in value["metadata"]["labels"] if "kueue" in label]
    roles = value["spec"][run.kind.field].values()
    assert {role["template"]["spec"]["schedulerName"] for role in roles} == {"volcano"}
    assert group(value, run.kind.carrier)["spec"]["least"] == pods


def test_the_operators_make_groups_and_kueue_lets_them():
    """Each operator has its flag where its jobs are left to Volcano alone, and Kueue no integration that holds them."""
    beside = cluster({**VOLCANO, **KUEUE, **TRAINING, "mpi-operator": {"version": "0.8.0"}})
    flags = {}
    for where in (ALONE, beside):
        there = {site.name: site for site in sites(where)}
        for operator in (TRAINING_OPERATOR, MPI_OPERATOR):
            (container,) = next(iter(operator.changes(there[operator.name])))["spec"]["template"]["spec"]["containers"]
            flags[where is ALONE, operator.name] = [flag for flag in container.get("args", ()) if "gang" in flag]
    assert flags == {
        (True, "training-operator"): ["--gang-scheduler-name=volcano"],
        (True, "mpi-operator"): ["--gang-scheduling=volcano"],
        (False, "training-operator"): ["--gang-scheduler-name=volcano"],
        (False, "mpi-operator"): [],
    }
    assert frameworks(beside) == ["batch/job", "kubeflow.org/mpijob"]


CASES: dict[str, tuple[Any, list[str]]] = {
    "no Kueue": (ALONE, []),
    "a derived Kueue beside the training operator": (cluster({**VOLCANO, **KUEUE, **TRAINING}), []),
    "an operator without such a flag": (
        cluster({"volcano": {"version": "1.15.1", "scheduler": "kueue"}}),
        ["vc-operator: volcano has scheduler 'kueue', but only mpi-operator and training-operator have one; remove it"],
    ),
    "no queue of Volcano's": (
        cluster({**KUEUE, **TRAINING}, scheduler="kueue"),
        [
            (
                "vc-operator: training-operator is left to Volcano, but no queue has scheduler: volcano; add one, or "
                "remove scheduler"
            )
        ],
    ),
    "a launcher that Kueue suspends": (
        cluster({**VOLCANO, **KUEUE, **MPI}),
        [
            (
                "vc-launcher: Kueue suspends the launchers of mpi-operator's jobs, which are Jobs without a queue; "
                "remove scheduler"
            )
        ],
    ),
    "a launcher beside a Kueue that holds nothing": (cluster({**VOLCANO, **configured(IDLE), **MPI}), []),
    "jobs that Kueue suspends": (
        cluster({**VOLCANO, **configured(HOLDING), **TRAINING}),
        [
            (
                "vc-suspended: Kueue has the integration kubeflow.org/pytorchjob, so it suspends jobs that are left to "
                "Volcano; remove one"
            )
        ],
    ),
    "left to Kueue in so many words": (
        cluster({**KUEUE, "mpi-operator": {"version": "0.8.0", "scheduler": "kueue"}}, scheduler="kueue"),
        [],
    ),
}


@pytest.mark.parametrize(("where", "expected"), CASES.values(), ids=CASES)
def test_operators_that_are_left_to_volcano(where, expected):
    """They can group pods, some queue takes their jobs, and no Kueue holds these."""
    found = check(where, make_source("platform/clusters/test.yaml", {}))
    assert [f"{item.rule}: {item.message}" for item in found] == expected


JOBS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "its own queue": ({"kind": "PyTorchJob"}, []),
    "the default kind of ssh": ({"launcher": "mpirun"}, []),
    "a kind that Kueue alone admits": ({"kind": "Job"}, ["run/queue-kind"]),
    "a queue that does not exist": ({"kind": "PyTorchJob", "queue": "spech"}, ["spec/unknown-queue"]),
    "a topology": ({"kind": "PyTorchJob", "topology": {"preferred": "rack"}}, ["vc-topology"]),
    "another queue by a patch": (
        {"kind": "PyTorchJob", "patches": [{"object": "PyTorchJob", "reason": "x", "merge": {"spec": {"runPolicy": {
            "schedulingPolicy": {"queue": "default"}}}}}]},
        ["run/patch"],
    ),
    "no queue by a patch": (
        {"kind": "PyTorchJob", "patches": [{"object": "PyTorchJob", "reason": "x", "merge": {"spec": {
            "runPolicy": None}}}]},
        ["run/patch"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("job", "expected"), JOBS.values(), ids=JOBS)
def test_jobs_of_a_queue_of_volcanos(job, expected):
    """Kinds whose operator is left to Volcano are admitted there, and say nothing that it cannot do."""
    where = make_cluster(operators=ALONE.operators, queues=ALONE.queues)
    specs = make_specs(make_job_file(**job), clusters={"test": where})
    _run, found = jobs.check(specs, specs.jobs[0])
    rules = {item.rule for item in found if item.severity.value == "error"}
    assert set(expected) <= rules
    assert bool(rules) == bool(expected)
    assert ("run/queue-kind" in rules) == ("run/queue-kind" in expected)


def test_no_run_leaves_its_queue_on_the_cluster():
    """The label of Kueue does not stand for Volcano's queue, without which the job is in one that has no bound."""
    team = allowance.of(make_repository(), "test", ALONE, "nlp", make_team())
    assert "kubeflow.org/PyTorchJob" in team.lists["grouped"]
    job = next(item.value() for item in build(make_resolved(cluster=ALONE, kind="PyTorchJob")))
    name = job["metadata"]["name"]
    assert "queue" not in {breach.subject for breach in breaches(job, team, run=name)}
    del job["spec"]["runPolicy"]["schedulingPolicy"]
    job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "research"
    assert "queue" in {breach.subject for breach in breaches(job, team, run=name)}
