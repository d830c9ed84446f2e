"""Cases are read strictly: what a case cannot say is an error that names the field."""

from __future__ import annotations

import pytest

from trainyard.upstream.kubelet.answers import answer

NODE = {"numa": [{"cores": 4, "memory": "8Gi"}]}

WRONG = {
    "no node": ({"name": "a"}, "node is no map; write its fields"),
    "a field of a case": (
        {"node": NODE, "pod": []},
        "case has no field 'pod'; it has: explain, kubelet, kubernetes, name, node, pods",
    ),
    "a field of a NUMA node": ({"node": {"numa": [{"core": 4}]}}, "numa has no field 'core'; it has: "),
    "no CPUs": ({"node": {"numa": [{"memory": "8Gi"}]}}, "node has no CPUs; write cores or cpus for a NUMA node"),
    "cores and CPUs": ({"node": {"numa": [{"cores": 1, "cpus": "0"}]}}, "a NUMA node has both cores and cpus"),
    "half a core": (
        {"node": {"threadsPerCore": 2, "numa": [{"cpus": "0-2"}]}},
        "3 CPUs make no whole cores of 2 threads",
    ),
    "a NUMA node twice": (
        {"node": {"numa": [{"cores": 1, "id": 1}, {"cores": 1, "id": 1}]}},
        "NUMA node 1 is there twice; give every node an id of its own",
    ),
    "a device twice": (
        {"node": {**NODE, "devices": {"a/b": [{"ids": ["x", "x"]}]}}},
        "device 'x' of a/b is there twice; give every device an id of its own",
    ),
    "memory that is none": ({"node": {"numa": [{"cores": 1, "memory": "8 GB"}]}}, "memory is '8 GB': quantities must"),
    "a choice of nothing": (
        {"node": {**NODE, "choice": {"a/b": "last"}}},
        "choice of 'a/b' is 'last'; write first or none",
    ),
    "a pod that has not come": (
        {"node": NODE, "pods": [{"remove": ["a"]}]},
        "pod 'a' is to be removed, but has not arrived",
    ),
    "a text for a number": (
        {"node": {"numa": [{"cores": "4"}]}},
        "case.node.numa[0].cores is '4'; write a whole number",
    ),
    "a map for a list": ({"node": NODE, "pods": {"a": 1}}, "case.pods is a map; write a list"),
    "nothing for a pod": ({"node": NODE, "pods": [None]}, "case.pods[0] is null; write a map"),
    "a list for a kubelet": ({"node": NODE, "kubelet": [1]}, "case.kubelet is a list; write a map"),
    "a container that is a text": (
        {"node": NODE, "pods": [{"spec": {"containers": ["c"]}}]},
        "case.pods[0].spec.containers[0] is 'c'; write a map",
    ),
    "a resource that is a number": (
        {"node": {**NODE, "devices": {1: [{"count": 1}]}}},
        "case.node.devices has the name 1, which is no text; put it in quotes",
    ),
    "cores without end": (
        {"node": {"numa": [{"cores": 10**9}]}},
        "case.node.numa[0].cores is 1000000000; write a number",
    ),
    "copies without end": (
        {"node": {"numa": [{"cores": 1024, "copies": 1024}]}},
        "node has more than 1024 NUMA nodes or 8192 CPUs",
    ),
    "CPUs without end": ({"node": {"numa": [{"cpus": "0-9999999999"}]}}, "cpus is '0-9999999999'; write a list like"),
    "devices without end": (
        {"node": {**NODE, "devices": {"a/b": [{"count": 10**9}]}}},
        "case.node.devices.a/b[0].count is 1000000000; write a number from 0 to 65536",
    ),
    "a device on a NUMA node without end": (
        {"node": {**NODE, "devices": {"a/b": [{"count": 1, "numa": 10**12}]}}},
        "devices.numa is 1000000000000; write a number from -1 to 1023",
    ),
    "huge pages of nothing": (
        {"node": {"numa": [{"cores": 4, "hugepages": {"0": "1Gi"}}]}},
        "hugepages has pages of '0'; write a size",
    ),
    "a pod that is none": (
        {"node": NODE, "pods": [{"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}]},
        "pod cannot be read: quantities must",
    ),
}


@pytest.mark.parametrize(("case", "said"), WRONG.values(), ids=WRONG)
def test_a_case_that_cannot_be_says_so(case, said):
    """The answer to such a case is an error, and nothing else."""
    found = answer(case)
    assert set(found) == {"name", "error"}
    assert found["error"].startswith(said)


def test_cores_are_numbered_as_linux_numbers_them():
    """Siblings apart: all first threads come first; adjacent: a core's threads follow one another."""
    kubelet = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0"}
    one = {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]},
    }
    for siblings, cpus in (("apart", "1,9"), ("adjacent", "2-3")):
        node = {"threadsPerCore": 2, "siblings": siblings, "numa": [{"copies": 2, "cores": 4, "memory": "8Gi"}]}
        found = answer({"node": node, "kubelet": kubelet, "pods": [one]})
        assert found["pods"][0]["containers"][0]["cpus"] == cpus


def test_a_pod_without_containers_is_answered():
    """The API server would not take it; the rest of the case stands all the same."""
    kubelet = {"cpuManagerPolicy": "static", "topologyManagerPolicy": "restricted", "topologyManagerScope": "pod"}
    kept = {"reservedSystemCPUs": "0"}
    bare = {"metadata": {"name": "a"}, "spec": {}, "status": {"qosClass": "Guaranteed"}}
    assert "pods" in answer({"node": NODE, "kubelet": {**kubelet, **kept}, "pods": [bare]})
