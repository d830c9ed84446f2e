"""Cases are read strictly: what a case cannot say is an error that names the field."""

from __future__ import annotations

import pytest

from trainyard.nodes.answers import answer

NODE = {"numa": [{"cores": 4, "memory": "8Gi"}]}

WRONG = {
    "no node": ({"name": "a"}, "node is no map; write its fields"),
    "a field of a case": (
        {"node": NODE, "pod": []},
        "case has no field 'pod'; it has: explain, kubelet, name, node, pods",
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
