"""All who ask what a node of a pool has are told the same: sizes, the kubelet, Kueue's inventory and the scheduler."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from make import CPU_NODE, fields, make_cluster
from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.judge.admission.inventory import nodes
from trainyard.render.sizing.machines import DISK_SHARE, Machine, available, machine
from trainyard.render.sizing.node import cores, size
from trainyard.render.sizing.starts import Node, node, present
from trainyard.specs import Cluster
from trainyard.specs.load import read_repository
from trainyard.specs.shapes import names
from trainyard.upstream.kubelet import Invalid
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import BASIC, CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_huge_page
from two_sockets import GPU_NODE, ROCE, SRIOV

PINNING = {"cpuManagerPolicy": "static", "memoryManagerPolicy": "Static", "topologyManagerPolicy": "restricted"}


def fractions(amounts: Any) -> dict[str, Fraction]:
    """Quantities, or texts of such, as numbers; a kernel also tells of sizes of huge pages of which it has none."""
    found = {name: Fraction(Quantity.parse(str(amount)).amount) for name, amount in amounts.items()}
    return {name: value for name, value in found.items() if value or not is_huge_page(name)}


def of_kueue(cluster: Cluster, pool: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first node of a pool in Kueue's inventory, and the pod that stands for its daemons."""
    found = [one_node for one_node in nodes(cluster) if one_node["metadata"]["name"].endswith(f"{pool}-000")]
    return found[0], found[1]


def agree(cluster: Cluster, pool: str) -> None:
    """Hold the kubelet that starts on a node, and Kueue's node, to the pool's machine."""
    of_pool, started, (there, beside) = machine(cluster, pool), node(cluster, pool), of_kueue(cluster, pool)
    assert not isinstance(started, Invalid), started
    kubelet = started.kubelet.node
    offered = fractions(kubelet.allocatable)
    if (scaling := cluster.pools[pool].scaling) is not None and scaling.node_class is not None:
        assert offered.pop(MEMORY) > of_pool.allocatable[MEMORY]  # Karpenter expects less of a node than it gets
    assert offered == {name: of_pool.allocatable[name] for name in offered}
    assert {*of_pool.allocatable} - {*offered} <= {MEMORY}
    assert {name: kubelet.labels[name] for name in of_pool.labels} == of_pool.labels
    labels = {**there["metadata"]["labels"]}
    assert labels.pop(HOSTNAME) == f"{pool}-000"
    assert {**labels, **of_pool.labels} == labels
    asks = Pod.read(beside).asked
    for_jobs = fractions(there["status"]["allocatable"])
    assert for_jobs == {**of_pool.allocatable, PODS: for_jobs[PODS]}
    assert for_jobs[PODS] - 1 == of_pool.allocatable[PODS] - len(present(cluster, pool))
    daemons = [Pod.read(item).asked for item in present(cluster, pool)]
    for resource in (CPU, MEMORY):
        assert asks[resource].amount == sum(daemon[resource].amount for daemon in daemons if resource in daemon)
    sizes(cluster, pool, of_pool)


def sizes(cluster: Cluster, pool: str, of_pool: Machine) -> None:
    """Hold what jobs are given to what is left of the machine."""
    left = {name: of_pool.allocatable[name] - of_pool.daemon_requests.get(name, 0) for name in of_pool.allocatable}
    found = available(cluster.pools[pool])
    room = cluster.pools[pool].node.daemons
    assert left[CPU] == found.cpus or of_pool.daemon_requests[CPU] > cores(room.cpus)
    assert left[MEMORY] == found.memory or of_pool.daemon_requests[MEMORY] > size(room.memory)
    assert left[EPHEMERAL_STORAGE] >= found.storage
    for name, amount in of_pool.for_jobs.items():
        if name not in BASIC and name not in of_pool.claimed:
            assert amount == left[name]


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Any]:
    """A pool: a shape with GPUs or without, its kubelet's settings or a provider's, daemons, taints and labels."""
    shape = fields(
        draw(st.sampled_from([CPU_NODE, GPU_NODE])),
        {
            "reserved": {"cpus": draw(st.sampled_from(["1", "500m", "3", "4"])), "memory": draw(MEMORIES)},
            "daemons": {"cpus": draw(st.sampled_from(["1", "1500m"])), "memory": draw(MEMORIES)},
            "ephemeralStorage": draw(st.sampled_from(["200Gi", "1T", "123456789012", "1000001Ki"])),
            "hugePages": draw(st.sampled_from([{}, {"2Mi": "2Gi"}, {"2Mi": "1025Mi", "1Gi": "4Gi"}])),
            "maxPods": draw(st.integers(15, 250)),
            "labels": draw(st.sampled_from([{}, {"nvidia.com/gpu.product": "TEST", "example.com/a": "b"}])),
        },
    )
    kubelet = st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in PINNING.items()})
    settings_of_ours = {"kubelet": {**draw(kubelet), "maxPods": draw(st.integers(15, 250))}}
    more: dict[str, Any] = {} if draw(st.booleans()) else settings_of_ours
    if "memoryManagerPolicy" in more.get("kubelet", {}):
        more["kubelet"]["cpuManagerPolicy"] = "static"
    told = [{"name": "logs", "cpus": "250m", "memory": "1Gi"}, {"name": "disks", "cpus": 1, "memory": "2Gi"}]
    taints = [{"key": "example.com/gpu", "value": draw(st.sampled_from(["", "a"])), "effect": "NoSchedule"}]
    labels = draw(st.sampled_from([{}, {"example.com/a": "c"}]))
    more |= {"taints": draw(st.sampled_from([[], taints])), "labels": labels}
    if draw(st.booleans()):
        more["daemons"] = told
    if "gpus" in shape:
        more |= draw(st.sampled_from([{}, {"sharing": {"replicas": 4, "by": "timeSlicing"}}]))
    return {"shape": shape, "nodes": 2, **more}


MEMORIES = st.sampled_from(["2Gi", "4Gi", "2000000000", "50Mi"])


@settings(max_examples=60, deadline=None)
@given(pools(), st.sampled_from([{}, {"fabric": ROCE, "operators": SRIOV}]))
def test_machines_are_what_every_reader_says(pool: dict[str, Any], more: dict[str, Any]) -> None:
    """The kubelet offers what Kueue's nodes have, and both have the labels, the daemons and the places for pods."""
    agree(make_cluster(pools={"gpu": pool}, queues={}, **more), "gpu")


@pytest.mark.parametrize("kubelet", [{}, {"kubelet": {}}], ids=["a provider's kubelet", "our kubelet"])
@pytest.mark.parametrize("shape", names())
def test_every_shape_is_one_machine(shape: str, kubelet: dict[str, Any]) -> None:
    """Presets of providers and of hardware."""
    cluster = make_cluster(pools={"gpu": {"shape": shape, "nodes": 72, **kubelet}}, queues={}, topology=None)
    agree(cluster, "gpu")


def test_every_pool_of_the_repository_is_one_machine() -> None:
    """With the fabrics, the parts of GPUs and the operators of its clusters."""
    clusters = read_repository(ROOT).specs.clusters
    for cluster in clusters.values():
        for pool in cluster.pools:
            agree(cluster, pool)


def few_pods(**pool: Any) -> Cluster:
    """A cluster whose nodes take 20 pods."""
    shape = fields(CPU_NODE, {"maxPods": 20, "labels": {"example.com/rack-unit": "1"}})
    return make_cluster(pools={"cpu": {"shape": shape, "nodes": 1, **pool}}, queues={})


def test_kueue_counts_the_pods_that_a_shape_takes() -> None:
    """Of 20 places each daemon has one, and Kueue's inventory has the rest, where it had 110."""
    cluster = few_pods()
    assert int(of_kueue(cluster, "cpu")[0]["status"]["allocatable"][PODS]) == 20 - (len(present(cluster, "cpu")) - 1)


def test_nodes_offer_their_disk_less_what_the_kubelet_evicts_at() -> None:
    """A tenth, whoever sets the kubelet; of the rest jobs leave as much for images."""
    for kubelet in ({}, {"kubelet": {}}):
        cluster = few_pods(**kubelet)
        of_nodes = of_kueue(cluster, "cpu")[0]["status"]["allocatable"], started(cluster).kubelet.node.allocatable
        (offered,) = {int(fractions(one_node)[EPHEMERAL_STORAGE]) for one_node in of_nodes}
        assert offered == pytest.approx(200 * 2**30 * 0.9)
        assert available(cluster.pools["cpu"]).storage == int(200 * 2**30 * DISK_SHARE)


def started(cluster: Cluster) -> Node:
    """A node of its pool."""
    found = node(cluster, "cpu")
    assert isinstance(found, Node)
    return found


def test_kueues_nodes_have_the_labels_of_their_shape() -> None:
    """A pod that selects nodes by what their provider says of them finds them in Kueue's inventory."""
    assert of_kueue(few_pods(), "cpu")[0]["metadata"]["labels"]["example.com/rack-unit"] == "1"


def test_a_shape_that_keeps_no_memory_starts_with_our_kubelet() -> None:
    """The kubelet refuses a threshold of nothing, and evicts at none that is left out."""
    shape = fields(CPU_NODE, {"reserved": {"cpus": 1, "memory": "0"}})
    cluster = make_cluster(pools={"cpu": {"shape": shape, "nodes": 1, "kubelet": {}}}, queues={})
    agree(cluster, "cpu")
    assert machine(cluster, "cpu").allocatable[MEMORY] == size("64Gi")
