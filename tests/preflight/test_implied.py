"""A pod that nobody wrote is a pod: it is sized, named, queued, counted in the quota and finds room like all others."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_job_file, make_resolved, make_specs
from trainyard.base.findings import Finding
from trainyard.base.quantities import Quantity
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.job.ceiling import needed_amounts
from trainyard.render.kinds import build, kinds
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Quota

OPERATORS = {
    **CLUSTER["operators"],
    "mpi-operator": {"version": "0.8.0", "managed": False},
    "training-operator": {"version": "1.9.4", "managed": False},
}
FABRIC = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16"}
PS: dict[str, Any] = {"pool": "cpu", "nodes": 2, "cpusPerNode": 2, "memoryPerNode": "4Gi"}
IMPLIED: dict[str, tuple[str, dict[str, Any]]] = {
    "the launcher of an MPIJob": ("launcher", {"kind": "MPIJob", "launcher": "mpirun"}),
    "the chief of a TFJob": ("chief", {"kind": "TFJob", "launcher": "tensorflow", "roles": {"ps": PS}}),
    "the chief of a JobSet": ("chief", {"kind": "JobSet", "launcher": "tensorflow", "roles": {"ps": PS}}),
}


def findings(job: dict[str, Any], **cluster: Any) -> list[Finding]:
    """Return what is wrong with a job on a cluster with Kubeflow's operators."""
    on = make_cluster(**{"operators": OPERATORS, **cluster})
    specs = make_specs(make_job_file(**job), clusters={"test": on})
    return jobs.check(specs, specs.jobs[0])[1]


@pytest.mark.parametrize(("role", "job"), IMPLIED.values(), ids=IMPLIED)
def test_kueue_counts_it(role, job):
    """What the queue must have is the sum of the requests in the object, the implied pod's among them."""
    run = make_resolved(**job, nodes=4, cluster=make_cluster(fabric=FABRIC))
    value = next(build(run)).value()
    total: dict[str, Decimal] = {}
    for pod_set in kinds()[run.kind.name].carrier.pod_sets(value):
        template: Any = value
        for part in pod_set.template:
            template = template[part]
        for name, text in template["spec"]["containers"][0]["resources"]["requests"].items():
            total[name] = total.get(name, Decimal(0)) + Quantity.parse(text).amount * pod_set.count
    wanted: dict[str, Decimal] = {}
    for amounts_ in needed_amounts(run).values():
        for name, amount in amounts_.items():
            wanted[name] = wanted.get(name, Decimal(0)) + amount
    assert total == wanted
    assert run.sizing.pods == sum(pod_set.count for pod_set in kinds()[run.kind.name].carrier.pod_sets(value))
    assert role in {one_role.name for one_role in run.roles}


@pytest.mark.parametrize(("role", "job"), IMPLIED.values(), ids=IMPLIED)
@pytest.mark.parametrize("fabric", ["rdma", "tcp"])
def test_it_fits_beside_workers_that_have_all_gpus_of_the_quota(role, job, fabric):
    """Workers leave what it needs of CPUs, memory and local disk, in a node and in a quota in GPUs."""
    cluster = make_cluster(fabric=FABRIC)
    run = make_resolved(**job, nodes=4, fabric=fabric, cluster=cluster)
    sizes = [one_role for one_role in run.sizing.roles if one_role.pool == "gpu"]
    quota = amounts(cluster, "gpu", Quota(gpus=32))
    node = available(cluster.pools["gpu"])
    has = {"cpu": node.cpus, "memory": node.memory, "ephemeral-storage": node.storage}
    for name in sizes[0].requests():
        value = [(size.nodes.value, Quantity.parse(size.requests().get(name, "0")).amount) for size in sizes]
        assert sum(count * amount for count, amount in value) <= Quantity.parse(quota[name]).amount, name
        if name in has:
            assert sum(amount for _, amount in value) <= Decimal(int(has[name])), name
    assert {size.name for size in sizes} == {"worker", role}


TIGHT = {
    "CPUs": ({"cpus_per_node": 207, "memory_per_node": "1000Gi"}, "cpusPerNode"),
    "memory": ({"cpus_per_node": 100, "memory_per_node": "1934Gi"}, "memoryPerNode"),
    "local disk": ({"scratch": "1350Gi"}, "scratch"),
}


@pytest.mark.parametrize(("size", "field"), TIGHT.values(), ids=TIGHT)
@pytest.mark.parametrize(("role", "job"), IMPLIED.values(), ids=IMPLIED)
def test_workers_that_leave_no_room_are_refused(role, job, size, field):
    """Where the workers fill the pool, at the field that takes too much; a node more is room enough."""
    found = [finding for finding in findings({**job, **size, "nodes": 4}) if finding.rule == "run/implied-role"]
    assert [(item.path, repr(role) in item.message) for item in found] == [(field, True)]
    assert "run/implied-role" not in {finding.rule for finding in findings({**job, **size, "nodes": 3})}


@pytest.mark.parametrize(("role", "job"), IMPLIED.values(), ids=IMPLIED)
def test_a_quota_that_is_too_small_for_it_is_refused(role, job):
    """Four nodes' workers and the pod beside them need more CPUs than a quota for the workers alone."""
    size = {"nodes": 4, "gpus_per_node": 0, "cpus_per_node": 100, "memory_per_node": "9Gi"}
    quota = {"gpu": {"cpus": 401, "memory": "9000Gi"}, "cpu": {"nodes": 4}}
    on = {"research": {"teams": ["nlp"], "nominalQuota": quota}}
    assert [finding.rule for finding in findings({**job, **size}, queues=on)] == ["kq-max-quota"]
    quota["gpu"]["cpus"] = 404
    assert findings({**job, **size}, queues=on) == []


def test_only_workers_have_nics_and_volumes():
    """The pod that starts the ranks has no NICs of the fabric, no devices, no checkpoints and no place near them."""
    checkpoint = {"volume": "checkpoints", "size": "4Gi"}
    job = {"kind": "MPIJob", "launcher": "mpirun", "fabric": "rdma", "checkpoint": checkpoint, "nodes": 4}
    value = next(build(make_resolved(**job, cluster=make_cluster(fabric=FABRIC)))).value()
    launcher, worker = (value["spec"]["mpiReplicaSpecs"][name]["template"] for name in ("Launcher", "Worker"))
    assert "k8s.v1.cni.cncf.io/networks" in worker["metadata"]["annotations"]
    assert not [name for name in launcher["metadata"]["annotations"] if "networks" in name or "topology" in name]
    assert not [name for name in launcher["spec"]["containers"][0]["resources"]["limits"] if "/" in name]
    assert not [volume for volume in launcher["spec"]["volumes"] if "persistentVolumeClaim" in volume]
    names = {variable["name"] for variable in launcher["spec"]["containers"][0]["env"]}
    assert not {name for name in names if name.startswith(("NCCL_", "CHECKPOINT", "MASTER", "OMP_"))}


@pytest.mark.parametrize(("role", "job"), IMPLIED.values(), ids=IMPLIED)
def test_all_pods_have_one_grace_and_one_deadline(role, job):
    """The implied pod is told to end as early as the others, and has as long."""
    run = make_resolved(**job, max_hours=2, grace_seconds=90, cluster=make_cluster(operators=OPERATORS))
    value = next(build(run)).value()
    for pod_set in kinds()[run.kind.name].carrier.pod_sets(value):
        template: Any = value
        for part in pod_set.template:
            template = template[part]
        assert template["spec"]["terminationGracePeriodSeconds"] == 90
        assert template["spec"].get("activeDeadlineSeconds", 7200) == 7200
    spec = value["spec"].get("runPolicy") or value["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert spec["activeDeadlineSeconds"] == 7200
    assert role in {size.name for size in run.sizing.roles}
