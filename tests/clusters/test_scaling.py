"""Pools that scale: Karpenter starts their nodes and ends no run, or Kueue asks for them; quota counts all of them."""

from __future__ import annotations

import tomllib
from email import message_from_string
from fractions import Fraction
from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_resolved
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.base.system.data import own_folder
from trainyard.render.clusters import karpenter, platform, provisioning
from trainyard.render.kinds import build
from trainyard.render.operators.kueue import derive_configuration
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import STAY
from trainyard.render.sizing.machines import kubelet_allocatable
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Judge, catalog
from trainyard.upstream.kueue.model.queues import PROVISIONING

CLASS = {
    "image": "al2023@v20260810",
    "role": "nodes",
    "subnets": ["subnet-0a1b2c3d"],
    "securityGroups": ["sg-0a1b2c3d"],
}
OPERATORS = {**CLUSTER["operators"], "karpenter": {"version": "1.14.1", "managed": False}}
BLOCK = {"id": "cr-1", "starts": "2026-12-10T11:30Z", "ends": "2026-12-24T11:30Z", "earlyMinutes": 40}
QUEUED = "queued-provisioning.gke.io"


def eks(**pool: Any) -> Cluster:
    """Return a cluster on EKS whose pool `gpu` Karpenter scales."""
    base = {"shape": "aws-p5-48xlarge", "nodes": {"max": 4}, "scaling": {"nodeClass": CLASS}}
    fabric = {"type": "efa", "memlock": "node", "pools": ["gpu"]}
    pools = {**CLUSTER["pools"], "gpu": {**base, **pool}}
    return make_cluster(system={"distribution": "eks"}, operators=OPERATORS, fabric=fabric, pools=pools)


def gke(provisioning: str | None = QUEUED) -> Cluster:
    """Return a cluster on GKE whose pool `gpu` scales, beside a fixed pool `cpu`."""
    pool = {"shape": "gke-a3-megagpu-8g", "nodes": {"min": 1, "max": 4}, "scaling": {"provisioning": provisioning}}
    return make_cluster(system={"distribution": "gke-cos"}, pools={**CLUSTER["pools"], "gpu": pool})


def specs(resources: Any) -> dict[str, Any]:
    """Return the specs of objects by `Kind/name`."""
    return {f"{resource.kind}/{resource.name}": resource.value().get("spec") for resource in resources}


POOLS: dict[str, dict[str, Any]] = {
    "on demand": {},
    "spot": {"spot": True},
    "a capacity block": {"reservation": BLOCK},
    "with local disks and taints": {
        "localDisks": {"size": "27000Gi"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present"}, {"key": "a", "effect": "NoExecute"}],
    },
    "with labels and settings of the kubelet": {
        "labels": {"example.com/team": "a"},
        "kubelet": {"cpuManagerPolicy": "static", "topologyManagerPolicy": "best-effort"},
    },
    "a placement group": {"scaling": {"nodeClass": {**CLASS, "placementGroup": "near"}}},
    "Bottlerocket": {
        "scaling": {"nodeClass": {**CLASS, "image": "bottlerocket@v1.50.0"}},
        "system": {"distribution": "eks-bottlerocket"},
    },
}


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Return the verdict of an API server with Karpenter's and Kueue's types."""
    projects = {"karpenter": "1.14.1", "kueue": "0.19.2"}
    return Judge(catalog.load(own_folder("schemas"), kubernetes="1.35", projects=projects)[0])


def refusals(judge: Judge, resources: list[Resource]) -> list[str]:
    """Return what the server says against objects."""
    text = "---\n".join(dump(resource.value()) for resource in resources)
    manifests, _ = expand(load(text.encode(), file="test.yaml")[0])
    assert len(manifests) == len(resources)
    return [finding.message for manifest in manifests for finding in judge.judge(manifest).findings]


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_the_server_takes_what_karpenter_reads(judge, pool):
    """Node pool, node class and overlay are valid by the types and rules of Karpenter's own definitions."""
    found = list(karpenter.resources(eks(**pool)))
    assert [resource.kind for resource in found] == ["NodePool", "EC2NodeClass", "NodeOverlay"]
    assert refusals(judge, found) == []


def test_the_server_refuses_what_karpenter_cannot_read(judge):
    """Labels of Karpenter's own group are not for people; so the verdict above can fail."""
    found = list(karpenter.resources(eks(labels={"karpenter.sh/own": "a"})))
    assert refusals(judge, found)


def test_karpenter_ends_no_run():
    """Only empty nodes go; no drift, age or grace period ends the pods that say that they must stay."""
    spec = specs(karpenter.resources(eks(spot=True)))["NodePool/gpu"]
    assert STAY["karpenter.sh/do-not-disrupt"] == "true"
    assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert {"nodes": "0", "reasons": ["Drifted"]} in spec["disruption"]["budgets"]
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert "terminationGracePeriod" not in spec["template"]["spec"]


@pytest.mark.parametrize(("pool", "stays"), {"spot": ({"spot": True}, None), "not spot": ({}, "true")}.values())
def test_pods_on_spot_nodes_are_evicted_in_time(pool, stays):
    """Karpenter evicts pods of a spot node at its notice, which the annotation would forbid."""
    run = make_resolved(cluster=eks(**pool), pool="gpu", gpus_per_node=8)
    (job,) = (item for item in build(run) if item.kind == "JobSet")
    template = job.fields["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    annotations = template["metadata"]["annotations"]
    assert annotations.get("karpenter.sh/do-not-disrupt") == stays
    assert annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"


def test_pods_fit_on_nodes_that_karpenter_has_not_seen_yet():
    """Karpenter takes 7.5 % off the memory of a type of instance, and starts no node for a pod that is larger."""
    fixed = make_cluster(pools={"gpu": {"shape": "aws-p5-48xlarge", "nodes": 4}})
    memory = [kubelet_allocatable(cluster.pools["gpu"])["memory"] for cluster in (eks(), fixed)]
    expected = Fraction(1990 * 2**30 * 925, 1000) - (255 + 11 * 110 + 100) * 2**20
    assert memory[0] == expected < memory[1]


def test_karpenter_starts_as_many_nodes_as_quota_counts():
    """Nodes have the label that runs select, are of the shape's type, and are no more than the pool's most."""
    found = specs(karpenter.resources(eks(reservation=BLOCK)))
    node_pool, node_class = found["NodePool/gpu"], found["EC2NodeClass/gpu"]
    assert node_pool["limits"] == {"nodes": "4"}
    assert node_pool["template"]["metadata"]["labels"] == {"trainyard.dev/pool": "gpu"}
    assert [one["values"] for one in node_pool["template"]["spec"]["requirements"]] == [["p5.48xlarge"], ["reserved"]]
    assert node_class["capacityReservationSelectorTerms"] == [{"id": "cr-1"}]
    assert "RLIMIT_MEMLOCK" in node_class["userData"]
    assert found["NodeOverlay/gpu"]["capacity"] == {"hugepages-2Mi": "10256Mi"}


def test_others_scale_without_karpenter():
    """A fixed pool and one of cluster-autoscaler have no objects of Karpenter's."""
    assert list(karpenter.resources(make_cluster())) == []
    assert list(karpenter.resources(gke())) == []


def test_kueue_asks_for_nodes_of_one_flavor_alone(judge):
    """Jobs on other flavors do not wait for the check, and no attempt is the last."""
    found = list(platform.resources(gke()))
    spec = specs(found)
    assert spec["ClusterQueue/research"]["admissionChecksStrategy"] == {
        "admissionChecks": [{"name": "nodes-of-gpu", "onFlavors": ["gpu"]}]
    }
    assert spec["AdmissionCheck/nodes-of-gpu"]["controllerName"] == PROVISIONING == provisioning.CONTROLLER
    assert spec["AdmissionCheck/nodes-of-gpu"]["parameters"]["name"] == "nodes-of-gpu"
    config = spec["ProvisioningRequestConfig/nodes-of-gpu"]
    assert (config["provisioningClassName"], config["managedResources"]) == (QUEUED, ["nvidia.com/gpu"])
    assert config["retryStrategy"]["backoffLimitCount"] == 2**31 - 1
    asked = [resource for resource in found if resource.kind in {"AdmissionCheck", "ProvisioningRequestConfig"}]
    assert refusals(judge, asked) == []


def test_kueue_places_by_topology_where_it_asks_for_nodes():
    """Without requests it would see the nodes of now alone, and wait for ever for nodes that nobody asks for."""
    flavors = [specs(platform.resources(gke(by)))["ResourceFlavor/gpu"] for by in (QUEUED, None)]
    assert [flavor.get("topologyName") for flavor in flavors] == ["default", None]
    assert specs(platform.resources(gke(None)))["ResourceFlavor/cpu"]["topologyName"] == "default"


TIMES: dict[str, tuple[Cluster, str]] = {
    "nodes that are there": (make_cluster(), "30m"),
    "nodes that start": (eks(scaling={"nodeClass": CLASS, "startMinutes": 25}), "55m"),
    "nodes that Kueue asks for": (gke(), "30m"),
}


@pytest.mark.parametrize(("cluster", "time"), TIMES.values(), ids=TIMES)
def test_kueue_waits_for_nodes_that_start(cluster, time):
    """The time for images comes on top of the time for nodes."""
    waits = derive_configuration(cluster)["waitForPodsReady"]
    assert (waits["timeout"], waits["recoveryTimeout"]) == (time, time)


WAITS: dict[str, tuple[Cluster, int]] = {
    "nodes that are there": (make_cluster(), 3600),
    "nodes that go after ten minutes": (eks(), 300),
    "nodes that go at once": (eks(scaling={"nodeClass": CLASS, "idleMinutes": 1}), 60),
    "nodes that stay for long": (eks(scaling={"nodeClass": CLASS, "idleMinutes": 600}), 3600),
    "nodes that Kueue asks for": (gke(), 3600),
}


@pytest.mark.parametrize(("cluster", "seconds"), WAITS.values(), ids=WAITS)
def test_kueue_tries_again_before_idle_nodes_go(cluster, seconds):
    """A job that lacked a node finds those that came, whichever the attempt."""
    asked = derive_configuration(cluster)["waitForPodsReady"]["requeuingStrategy"]
    assert asked == {"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": seconds}


def parts_of(text: str) -> dict[str, str]:
    """Return the parts of user data in MIME by their type."""
    archive = message_from_string(text)
    assert archive.is_multipart()
    return {part.get_content_type(): str(part.get_payload()) for part in archive.get_payload()}  # type: ignore[union-attr]


def user_data(**pool: Any) -> str:
    """Return the user data of a pool's node class."""
    return str(specs(karpenter.resources(eks(**pool)))["EC2NodeClass/gpu"].get("userData"))


def test_a_script_sets_huge_pages_aside_before_the_kubelet_counts_them():
    """As many as the overlay says; nodeadm reads the other part, which has no comment on where it belongs."""
    parts = parts_of(user_data())
    assert set(parts) == {"application/node.eks.aws", "text/x-shellscript"}
    assert parts["text/x-shellscript"].splitlines() == ["#!/bin/bash", "sysctl -w vm.nr_hugepages=5128"]
    (config,) = load(parts["application/node.eks.aws"].encode(), file="nodeconfig.yaml")[0]
    assert config.value["kind"] == "NodeConfig"
    assert "#" not in parts["application/node.eks.aws"]


def test_bottlerocket_sets_huge_pages_aside_in_its_own_words():
    """Its user data is TOML alone."""
    read = tomllib.loads(user_data(**POOLS["Bottlerocket"]))
    assert read["settings"]["kernel"]["sysctl"] == {"vm.nr_hugepages": "5128"}


def test_user_data_is_one_part_where_nobody_asks_for_huge_pages():
    """A shape without any needs no script."""
    pool = {"shape": "aws-g5-48xlarge", "kubelet": {"topologyManagerPolicy": "best-effort"}}
    assert user_data(**pool).startswith("apiVersion: node.eks.aws/v1alpha1\n")


def places(**pool: Any) -> list[tuple[int, int, str]] | None:
    """Return card, device and kind of each interface that a pool's node class names."""
    found = specs(karpenter.resources(eks(**pool)))["EC2NodeClass/gpu"].get("networkInterfaces")
    return found and [(one["networkCardIndex"], one["deviceIndex"], one["interfaceType"]) for one in found]


def test_nodes_have_efa_on_every_card_and_one_interface_with_addresses():
    """As many of EFA as pods may ask for, whatever the first pod asks for."""
    found = places()
    assert found is not None
    assert found[:3] == [(0, 0, "interface"), (0, 1, "efa-only"), (1, 0, "efa-only")]
    assert len(found) == 33
    assert len({card for card, _, kind in found if kind == "efa-only"}) == 32


def test_a_first_card_without_efa_has_none():
    """The cards of p6-b300 after the first have it."""
    found = places(shape="aws-p6-b300-48xlarge")
    assert found is not None
    assert [card for card, _, kind in found if kind == "efa-only"] == [*range(1, 17)]
    assert {device for _, device, _ in found} == {0}


def test_interfaces_are_karpenter_s_where_there_is_no_efa():
    """Off the fabric, on a shape without EFA, and on one whose places nobody has read."""
    assert places(shape="aws-p6e-gb200-36xlarge") is None
    off = eks().model_copy(update={"fabric": None})
    assert "networkInterfaces" not in specs(karpenter.resources(off))["EC2NodeClass/gpu"]


def test_nodes_start_in_the_placement_group_of_the_pool():
    """By its name; without one, EC2 places them wherever there is room."""
    near, anywhere = (
        specs(karpenter.resources(eks(**pool)))["EC2NodeClass/gpu"] for pool in (POOLS["a placement group"], {})
    )
    assert near["placementGroupSelector"] == {"name": "near"}
    assert "placementGroupSelector" not in anywhere
