"""What a node has for pods is one number: what derives sizes and what refuses them agree."""

from __future__ import annotations

from math import floor

import pytest

from make import make_cluster, make_job_file, make_sizing, make_specs
from trainyard.judge.preflight import jobs
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import binary
from trainyard.specs import Cluster

KUBELETS = {
    "as the provider set it": None,
    "the first cores of every socket": {"cpuManagerPolicy": "static"},
    "a list of CPUs": {"reservedSystemCPUs": "0-15,56-71", "cpuManagerPolicy": "static"},
    "a list of CPUs that are not pinned": {"reservedSystemCPUs": "0-15,56-71"},
}


def cluster(kubelet: dict[str, str] | None) -> Cluster:
    """Return a cluster of such kubelets."""
    return make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 4, **({"kubelet": kubelet} if kubelet else {})}})


def messages(on: Cluster, **job: object) -> list[str]:
    """Return what is wrong with a job on a cluster."""
    specs = make_specs(make_job_file(**job), clusters={"test": on})
    return [finding.message for finding in jobs.check(specs, specs.jobs[0])[1]]


@pytest.mark.parametrize("kubelet", KUBELETS.values(), ids=KUBELETS)
def test_a_job_may_ask_for_what_it_would_be_given_and_no_more(kubelet):
    """The sentence that refuses one CPU more names the number that a whole node's job gets by itself."""
    on = cluster(kubelet)
    most = make_sizing(cluster=on).worker.cpus.value
    assert most == floor(available(on.pools["gpu"]).cpus)
    assert messages(on, cpus_per_node=most) == []
    assert messages(on, cpus_per_node=most + 2) == [
        f"cpusPerNode is {most + 2}, but a node of pool 'gpu' has {most} for pods; lower it"
    ]


def test_cpus_that_the_kubelet_keeps_are_for_no_job():
    """Here 32 are kept where the preset keeps 8: of 224, and 8 for daemons, 208 are no longer there."""
    on = cluster({"reservedSystemCPUs": "0-15,56-71", "cpuManagerPolicy": "static"})
    most = make_sizing(cluster=on).worker.cpus.value
    assert most < 208
    assert messages(on, cpus_per_node=208) == [
        f"cpusPerNode is 208, but a node of pool 'gpu' has {most} for pods; lower it"
    ]
    assert messages(cluster(None), cpus_per_node=208) == []


def test_memory_is_one_number_too():
    """A job may spell out the memory that it would be given."""
    on = cluster(None)
    most = available(on.pools["gpu"]).memory
    assert messages(on, memory_per_node=binary(most)) == []
    (message,) = messages(on, memory_per_node=binary(most + 2**30))
    has = f"a node of pool 'gpu' has {most // 2**30}Gi"
    assert message.startswith(f"memoryPerNode is {binary(most + 2**30)}, but {has}")


SIDE = {"containers": [{"name": "side", "resources": {"requests": {"cpu": 4, "memory": "1Gi"}}}]}
SPREAD = {"attach": "hostdev", "type": "roce", "rails": 8, "addresses": "10.56.0.0/16"}
ON_CPUS = {"pool": "cpu", "gpus_per_node": 0, "nodes": 1}
TF = {**ON_CPUS, "launcher": "tensorflow", "nodes": 3}
CROWDED = {
    "containers beside a stated size": (
        {**ON_CPUS, "cpus_per_node": 12, **SIDE},
        "all containers together request 16 cpu, but a node of pool 'cpu' has 14 for pods; lower them",
    ),
    "an init container that no node can take": (
        {
            **ON_CPUS,
            "init_containers": [{"name": "a", "resources": {"limits": {"memory": "1Ti"}}}],
        },
        "all containers together request 1Ti memory, but a node of pool 'cpu' has 56Gi for pods; lower them",
    ),
    "little memory each, but all CPUs": (
        {**ON_CPUS, "nodes": 8, "memory_per_node": "1Gi"},
        "nodes is 8, but pool 'cpu' has 4 nodes; use at most 4",
    ),
    "containers that let fewer pods into a node": (
        {**ON_CPUS, "nodes": 8, "cpus_per_node": 7, "memory_per_node": "1Gi", **SIDE},
        "nodes is 8, but pool 'cpu' has 4 nodes; use at most 4",
    ),
    "disks that hold fewer pods than the CPUs": (
        {**ON_CPUS, "nodes": 8, "cpus_per_node": 1, "memory_per_node": "1Gi", "scratch": "100Gi"},
        "nodes is 8, but pool 'cpu' has 4 nodes; use at most 4",
    ),
    "two roles that each fit alone": (
        {**TF, "cpus_per_node": 14, "roles": {"ps": {"nodes": 2, "cpusPerNode": 14}, "chief": {"pool": "gpu"}}},
        "worker, ps request 70 cpu, but pool 'cpu' has 56; lower nodes, or use another pool",
    ),
    "as much as there is": ({**TF, "nodes": 2, "roles": {"ps": {"nodes": 2}, "chief": {"pool": "gpu"}}}, None),
    "a scratch that leaves logs no room": (
        {**ON_CPUS, "scratch": "155Gi"},
        "scratch is 155Gi, but nodes of pool 'cpu' have 150Gi; lower it",
    ),
}


@pytest.mark.parametrize(("job", "message"), CROWDED.values(), ids=CROWDED)
def test_pods_are_counted_with_all_that_they_ask_for(job, message):
    """What a pod asks for is what is rendered, and its pool has to hold all of them together."""
    big = {"gpu": {"gpus": 320}, "cpu": {"nodes": 400}}
    on = make_cluster(queues={"research": {"teams": ["nlp"], "nominalQuota": big}})
    assert messages(on, **job) == ([] if message is None else [message])
    assert message is None or len(message.split()) <= 20


def test_a_nic_that_pods_cannot_share_is_counted():
    """Of two pods on one node, each with the first NICs, the second would wait for ever."""
    on = make_cluster(
        fabric=SPREAD,
        operators={"network-operator": {"version": "26.7.0", "managed": False}, "jobset": {"version": "0.12.0"}},
        queues={"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 320}}}},
    )
    found = messages(on, gpus_per_node=4, nodes=8, fabric="rdma")
    assert "nodes is 8, but pool 'gpu' has 4 nodes; use at most 4" in found


def test_one_node_is_called_a_node():
    """A pool of one machine is no pool of "1 nodes"."""
    on = make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 1}})
    assert "nodes is 2, but pool 'gpu' has 1 node; use at most 1" in messages(on, nodes=2)
