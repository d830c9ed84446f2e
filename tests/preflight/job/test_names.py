"""What files say of each other: names that must exist, and sizes that must fit."""

from __future__ import annotations

import pytest

import make
from trainyard.base.findings import Finding
from trainyard.judge.preflight import jobs
from trainyard.specs.sources import Specs

ROCE = {"type": "roce", "attach": "sriov", "rails": 8, "addresses": "10.9.0.0/16"}
POOLS = {**make.CLUSTER["pools"], "spare": {"shape": "dgx-h100", "nodes": 1}}
STORAGE = {**make.CLUSTER["storage"], "archive": {"provisioner": "nfs.csi.k8s.io", "access": "ReadOnlyMany"}}
VOLUMES = {
    "checkpoints": {"storage": "shared", "size": "1Ti"},
    "old": {"storage": "archive", "size": "1Ti"},
    "own": {"storage": "local", "size": "1Gi"},
}
QUEUES = {
    **make.CLUSTER["queues"],
    "production": {"teams": ["ads"], "nominalQuota": {"gpu": {"gpus": 0}, "spare": {"gpus": 0}}},
}

JOBS = {
    "a job as it should be": ({}, None),
    "a queue of another team": ({"queue": "production"}, "queue 'production' does not admit team 'nlp'; use research"),
    "a queue of another team, and no other of its pool": (
        {"queue": "production", "pool": "spare", "nodes": 1},
        "queue 'production' does not admit team 'nlp'; no queue of test with quota for spare does",
    ),
    "a pool without quota": ({"pool": "spare", "nodes": 1}, "queue 'research' has no quota for pool 'spare'; "),
    "a priority of another team": (
        {"priority": "high"},
        "team 'nlp' may not use priority 'high'; there are: low, normal",
    ),
    "a secret that is not listed": (
        {"secrets": {"A": "token/a"}},
        "secret 'token' is not listed in platform/teams/nlp.yaml; did you mean 'tokens'?",
    ),
    "a pull secret that is not listed": ({"image_pull_secrets": ["registry"]}, "secret 'registry' is not listed"),
    "a service account that is not listed": ({"service_account": "x"}, "service account 'x' is not listed in "),
    "no GPU on nodes that have some": ({"gpus_per_node": None}, "gpusPerNode is not set, but nodes of pool"),
    "a part of a GPU": ({"gpus_per_node": None, "gpu": {"profile": "1g.10gb"}, "nodes": 1}, None),
    "CPUs of nodes that have GPUs": ({"gpus_per_node": None, "cpus_per_node": 8}, None),
    "a role on a pool that does not exist": (
        {"roles": {"ps": {"pool": "cpus"}}},
        "pool 'cpus' does not exist on cluster 'test'; did you mean 'cpu'?",
    ),
    "a role larger than its nodes": (
        {"roles": {"ps": {"pool": "cpu", "cpusPerNode": 15}}},
        "cpusPerNode is 15, but a node of pool 'cpu' has 14 for pods; lower it",
    ),
    "GPUs for a role on nodes without": (
        {"roles": {"ps": {"pool": "cpu", "gpusPerNode": 1}}},
        "gpusPerNode is 1, but pool 'cpu' has no GPUs; remove it, or use another pool",
    ),
    "all nodes of a pool": ({"nodes": 4}, None),
    "half nodes, twice as many": ({"nodes": 8, "gpus_per_node": 4}, None),
    "one half too many": (
        {"nodes": 9, "gpus_per_node": 4},
        "nodes is 9, but pool 'gpu' has 4 nodes, each for 2 such pods;",
    ),
    "pods bound by their memory": (
        {"nodes": 5, "gpus_per_node": 1, "memory_per_node": "1500Gi"},
        "nodes is 5, but pool 'gpu' has 4 nodes; use at most 4",
    ),
    "a volume of one node for one pod": ({"nodes": 1, "data": [{"volume": "own", "mountPath": "/own"}]}, None),
    "a volume of one node for two pods": (
        {"data": [{"volume": "own", "mountPath": "/own"}]},
        "volume 'own' is ReadWriteOnce, but the job has 2 pods; use a ReadWriteMany volume",
    ),
    "a volume of one node for a role": (
        {"nodes": 1, "roles": {"ps": {"pool": "cpu"}}, "data": [{"volume": "own", "mountPath": "/own"}]},
        "volume 'own' is ReadWriteOnce, but the job has 2 pods;",
    ),
    "reading an archive": ({"data": [{"volume": "old", "mountPath": "/old"}]}, None),
    "writing to an archive": (
        {"checkpoint": {"volume": "old", "size": "1Gi"}},
        "volume 'old' is ReadOnlyMany, but the job writes to it; use another volume",
    ),
    "RDMA": ({"fabric": "rdma"}, None),
    "RDMA off the fabric": (
        {"fabric": "rdma", "pool": "cpu", "gpus_per_node": None},
        "fabric is 'rdma', but pool 'cpu' is not on the fabric; use tcp or another pool",
    ),
    "the host as a level": ({"topology": {"preferred": "hostname"}}, None),
    "a registry that merely begins alike": (
        {"image": "registry.example.com.evil.example/x@sha256:" + "ab" * 32},
        "image 'registry.example.com.evil.example/x' is from a registry that the repository does not allow;",
    ),
}


def cluster(**changes):
    """Return a cluster with a fabric, an archive, and a pool and a queue that others have."""
    operators = {**make.CLUSTER["operators"], "sriov-network-operator": {"version": "1.6.0"}}
    base = {"fabric": ROCE, "pools": POOLS, "storage": STORAGE, "queues": QUEUES, "operators": operators}
    return make.make_cluster(**{**base, **changes})


def team(**changes):
    """Return a team with an archive and a volume of one node, and two priorities."""
    return make.make_team(**{"volumes": VOLUMES, "priorities": ["low", "normal"], **changes})


def found(specs: Specs, **options: object) -> list[Finding]:
    """Return what is wrong between the one job and other files; what launchers and kinds say is not looked at here."""
    return [finding for finding in jobs.check(specs, specs.jobs[0], **options)[1] if finding.layer == "spec"]


@pytest.mark.parametrize(("changes", "message"), JOBS.values(), ids=JOBS)
def test_job_against_its_cluster_and_team(changes, message):
    """What a job names must be there, and what it asks for must fit."""
    specs = make.make_specs(
        make.make_job_file(**changes), clusters={"test": cluster()}, teams={"nlp": team(), "ads": team()}
    )
    messages = [finding.message for finding in found(specs)]
    assert len(messages) == (0 if message is None else 1), messages
    assert all(one_message.startswith(message) for one_message in messages)


def test_without_a_topology_there_is_no_level():
    """Kueue never admits pods that ask for the host's level of a flavor without topology."""
    job = make.make_job_file(topology={"preferred": "hostname"})
    specs = make.make_specs(job, clusters={"test": make.make_cluster(topology=[])})
    messages = [finding.message for finding in found(specs)]
    assert "topology level 'hostname' does not exist on cluster 'test'; there are none" in messages


def test_what_cannot_be_read_is_not_called_missing():
    """A cluster or team whose file is broken is reported there, and nobody says that it does not exist."""
    specs = make.make_specs(make.make_job_file(cluster="broken"))
    assert [finding.rule for finding in found(specs)] == ["spec/unknown-cluster"]
    assert found(specs, broken=frozenset({"cluster/broken"})) == []


ASKS = {8: "1, 2, 4 or 8", 4: "1, 2 or 4", 6: "1, 2, 4 or 6", 1: "1"}


@pytest.mark.parametrize(("count", "choices"), ASKS.items())
def test_gpu_counts_that_divide_well_are_offered(count, choices):
    """A job that asks for too much is told what it may ask for."""
    pools = {**POOLS, "gpu": {"shape": make.make_pool(gpus=count).node.model_dump(by_alias=True), "nodes": 4}}
    specs = make.make_specs(
        make.make_job_file(gpus_per_node=9), clusters={"test": cluster(pools=pools)}, teams={"nlp": team()}
    )
    (finding,) = found(specs)
    assert finding.message == f"gpusPerNode is 9, but nodes of pool 'gpu' have {count}; use {choices}"
    assert finding.path == "gpusPerNode"
    assert finding.location.file == "jobs/nlp/train.yaml"


ATTACHED = {
    "a fabric that forgot it": (
        {"type": "roce"},
        "fabric is 'rdma', but cluster 'test' has roce attached by 'none'; set the cluster's fabric.attach, or",
    ),
    "no fabric at all": ({"type": "none"}, "fabric is 'rdma', but cluster 'test' has no fabric; use tcp"),
}


@pytest.mark.parametrize(("fabric", "message"), ATTACHED.values(), ids=ATTACHED)
def test_a_fabric_that_pods_are_not_attached_to_is_said_with_both_ways_out(fabric, message):
    """Whoever owns the cluster may have forgotten a word, so that TCP is not the only answer."""
    file = make.make_job_file(fabric="rdma")
    _, found = jobs.check(make.make_specs(file, clusters={"test": make.make_cluster(fabric=fabric)}), file)
    assert [item.message.startswith(message) for item in found if item.rule == "spec/no-rdma"] == [True]
