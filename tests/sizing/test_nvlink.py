"""Runs whose GPUs share memory over NVLink beyond their node: channels, domains, slices, and what Kueue counts."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_resolved, make_source
from trainyard.base.labels import HOSTNAME
from trainyard.judge.preflight.cluster import nvlink as preflight
from trainyard.judge.preflight.job import nvlink as of_jobs
from trainyard.render.kinds import build
from trainyard.render.operators.install import installed_operators
from trainyard.render.operators.kueue import configuration
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Cluster, Quota

DRIVER = {"dra-driver-nvidia-gpu": {"version": "0.4.0"}}
OPERATORS = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, **DRIVER}
POOLS = {"gpu": {"shape": "gb200-nvl72", "nodes": 36, "nvlink": "domain"}, "cpu": {"shape": "cpu-64", "nodes": 2}}
LEVELS = [{"block": "example.com/block"}, {"domain": "nvidia.com/gpu.clique"}]
SLICE = "kueue.x-k8s.io/podset-slice-required-topology"
SIZE = "kueue.x-k8s.io/podset-slice-size"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
CLIQUE = "nvidia.com/gpu.clique"
ONE_NODE = {"topology": {"required": "hostname"}}
FEW_NODES = {"topology": {"preferred": "hostname"}}


def cluster(**changes: Any) -> Cluster:
    """Return two NVLink domains of 18 nodes."""
    return make_cluster(**{"pools": POOLS, "operators": OPERATORS, "topology": LEVELS, **changes})


def workload(**job: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the pod template of a run, and all its objects."""
    objects = list(build(make_resolved(cluster=cluster(), **{"gpus_per_node": 4, **job})))
    spec = next(item for item in objects if item.kind == "JobSet").fields["spec"]
    return spec["replicatedJobs"][0]["template"]["spec"]["template"], objects


def test_pods_claim_a_channel_of_their_runs_domain():
    """The claim's template is the one that the ComputeDomain makes, and the container uses the claim."""
    template, objects = workload(nodes=8)
    (domain,) = (item for item in objects if item.kind == "ComputeDomain")
    (claim,) = template["spec"]["resourceClaims"]
    assert claim["resourceClaimTemplateName"] == domain.fields["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert domain.fields["spec"]["numNodes"] == 0
    (container,) = template["spec"]["containers"]
    assert container["resources"]["claims"] == [{"name": claim["name"]}]
    assert {"name": "NCCL_MNNVL_ENABLE", "value": "1"} in container["env"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"


@pytest.mark.parametrize("job", [{"nodes": 1}, {"nodes": 8, "gpus_per_node": None, "cpus_per_node": 8}])
def test_who_has_no_peers_needs_no_channel(job):
    """One pod has all its GPUs on one node, and pods without GPUs none at all."""
    template, objects = workload(**job)
    assert [item.kind for item in objects if item.kind == "ComputeDomain"] == []
    assert "resourceClaims" not in template["spec"]


PLACES = {
    "what fits a domain is in one": ({"nodes": 18}, {REQUIRED: CLIQUE}),
    "twice a domain is in two halves": ({"nodes": 36}, {PREFERRED: CLIQUE, SLICE: CLIQUE, SIZE: "18"}),
    "slices are equal": ({"nodes": 20}, {PREFERRED: CLIQUE, SLICE: CLIQUE, SIZE: "10"}),
    "a smaller slice where larger ones leave too much of a domain": (
        {"nodes": 30},
        {PREFERRED: CLIQUE, SLICE: CLIQUE, SIZE: "15"},
    ),
    "none at all where every slice leaves too much": ({"nodes": 35}, {PREFERRED: CLIQUE, SLICE: CLIQUE, SIZE: "1"}),
    "a level of the job's own holds beside it": (
        {"nodes": 8, "topology": {"required": "block"}},
        {REQUIRED: "example.com/block", SLICE: CLIQUE, SIZE: "8"},
    ),
    "who only prefers the domain has said so": ({"nodes": 8, "topology": {"preferred": "domain"}}, {PREFERRED: CLIQUE}),
    "who requires one node is in one domain": ({"nodes": 4, "gpus_per_node": 1, **ONE_NODE}, {REQUIRED: HOSTNAME}),
    "one domain comes before few nodes": ({"nodes": 8, "gpus_per_node": 2, **FEW_NODES}, {REQUIRED: CLIQUE}),
    "so do equal slices": (
        {"nodes": 36, **FEW_NODES},
        {PREFERRED: CLIQUE, SLICE: CLIQUE, SIZE: "18"},
    ),
}


@pytest.mark.parametrize(("job", "expected"), PLACES.values(), ids=PLACES)
def test_pods_are_placed_by_domains(job, expected):
    """NVLink ends at the domain, so pods that share memory are in one, or in equal slices that each are."""
    notes = workload(**job)[0]["metadata"]["annotations"]
    assert {key: value for key, value in notes.items() if key.startswith("kueue.x-k8s.io/podset-")} == expected


def test_slices_are_of_a_roles_own_pods():
    """Kueue refuses slices that are larger than their pod set, so a role of one pod has slices of one."""
    roles = {"chief": {"nodes": 1}}
    job = {"launcher": "tensorflow", "nodes": 8, "roles": roles, "topology": {"preferred": "block"}}
    _, objects = workload(**job)
    jobs = next(item for item in objects if item.kind == "JobSet").fields["spec"]["replicatedJobs"]
    sizes = {
        one_job["name"]: one_job["template"]["spec"]["template"]["metadata"]["annotations"][SIZE] for one_job in jobs
    }
    assert sizes == {"chief": "1", "worker": "8"}


def test_kueue_counts_channels():
    """A class that is not mapped, or not covered, keeps the job waiting for ever."""
    (mapping,) = configuration(cluster())["resources"]["deviceClassMappings"]
    assert mapping["deviceClassNames"] == ["compute-domain-default-channel.nvidia.com"]
    assert machine(cluster(), "gpu").for_jobs[mapping["name"]] == 1
    assert amounts(cluster(), "gpu", Quota(nodes=18))[mapping["name"]] == "18"
    assert "resources" not in configuration(make_cluster())


GPU_OPERATOR = {"version": "26.7.0"}
OFF = {"driver": {"enabled": False}}
ROOTS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "the node's image": ({}, {}, "/"),
    "the GPU Operator's container": ({"gpu-operator": GPU_OPERATOR}, {}, "/run/nvidia/driver"),
    "a driver that the operator's values leave out": ({"gpu-operator": {**GPU_OPERATOR, "values": OFF}}, {}, "/"),
    "GKE's installer": ({}, {"system": {"distribution": "gke-cos"}}, "/home/kubernetes/bin/nvidia"),
    "GKE's installer beside the GPU Operator": (
        {"gpu-operator": GPU_OPERATOR},
        {"system": {"distribution": "gke-cos"}},
        "/home/kubernetes/bin/nvidia",
    ),
}


@pytest.mark.parametrize(("more", "changes", "root"), ROOTS.values(), ids=ROOTS)
def test_the_driver_serves_domains_alone(more, changes, root):
    """GPUs stay with the device plugin, and the driver of the GPUs is where those who install it put it."""
    (found,) = (
        operator.values(site)
        for site, operator in installed_operators(cluster(operators={**OPERATORS, **more}, **changes))
        if site.name in DRIVER
    )
    assert found["resources"] == {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}}
    assert found["nvidiaDriverRoot"] == root


def test_the_driver_runs_on_tainted_nodes_of_a_domain():
    """Its daemons tolerate the taints of pools that span a domain, beside the one that its chart tolerates."""
    taints = [{"key": "kubernetes.io/arch", "value": "arm64"}, {"key": "nvidia.com/gpu"}]
    pools = {**POOLS, "gpu": {**POOLS["gpu"], "taints": taints}}
    (found,) = (
        operator.values(site) for site, operator in installed_operators(cluster(pools=pools)) if site.name in DRIVER
    )
    keys = [(item["key"], item["operator"]) for item in found["kubeletPlugin"]["tolerations"]]
    assert keys == [("nvidia.com/gpu", "Exists"), ("kubernetes.io/arch", "Exists")]


CHANGES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all is said": ({}, []),
    "no driver": (
        {"operators": {name: value for name, value in OPERATORS.items() if name not in DRIVER}},
        ["NVLink of pool 'gpu' spans 18 nodes; add dra-driver-nvidia-gpu to operators"],
    ),
    "no level": (
        {"pools": {**POOLS, "gpu": {"shape": "gb200-nvl72", "nodes": 36}}},
        ["NVLink of pool 'gpu' spans 18 nodes; set the pool's nvlink to the topology level"],
    ),
    "a level that is none": (
        {"pools": {**POOLS, "gpu": {"shape": "gb200-nvl72", "nodes": 36, "nvlink": "domian"}}},
        ["nvlink of pool 'gpu' is 'domian', which is not a level of topology; did you mean 'domain'?"],
    ),
    "a level for nothing": (
        {"pools": {**POOLS, "cpu": {"shape": "cpu-64", "nodes": 2, "nvlink": "domain"}}},
        ["nvlink of pool 'cpu' is 'domain', but its NVLink does not leave the node; remove it"],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_a_cluster_must_say(changes, expected):
    """Domains are known by a label, and their channels are made by an operator."""
    found = preflight.check(cluster(**changes), make_source("platform/clusters/test.yaml", {"pools": {}}))
    assert [finding.message for finding in found] == expected


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ({"nodes": 2, "gpus_per_node": 4}, []),
        ({"nodes": 1, "gpus_per_node": 2}, []),
        ({"nodes": 4, "gpus_per_node": 2}, ["run/nvlink-whole-nodes"]),
    ],
)
def test_who_claims_a_channel_has_the_whole_node(job, expected):
    """The driver offers one channel a node, so that a second pod there would stay pending; one pod alone needs none."""
    assert [found.rule for found in of_jobs.check(make_resolved(cluster=cluster(), **job))] == expected
