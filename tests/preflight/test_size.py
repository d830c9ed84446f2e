"""What a node has for pods is one number: what derives sizes and what refuses them agree."""

from __future__ import annotations

from math import floor

import pytest

from make import make_cluster, make_job_file, make_sizing, make_specs
from trainyard.preflight import jobs
from trainyard.sizing.node import available, binary
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
        f"cpusPerNode is {most + 2}, but pool 'gpu' has {most} a node for pods; lower it"
    ]


def test_cpus_that_the_kubelet_keeps_are_for_no_job():
    """Here 32 are kept where the preset keeps 8: of 224, and 8 for daemons, 208 are no longer there."""
    on = cluster({"reservedSystemCPUs": "0-15,56-71", "cpuManagerPolicy": "static"})
    most = make_sizing(cluster=on).worker.cpus.value
    assert most < 208
    assert messages(on, cpus_per_node=208) == [
        f"cpusPerNode is 208, but pool 'gpu' has {most} a node for pods; lower it"
    ]
    assert messages(cluster(None), cpus_per_node=208) == []


def test_memory_is_one_number_too():
    """A job may spell out the memory that it would be given."""
    on = cluster(None)
    most = available(on.pools["gpu"]).memory
    assert messages(on, memory_per_node=binary(most)) == []
    (message,) = messages(on, memory_per_node=binary(most + 2**30))
    assert message.startswith(f"memoryPerNode is {binary(most + 2**30)}, but pool 'gpu' has {most // 2**30}Gi a node")
