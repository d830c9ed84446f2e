"""The managers together: what is given is given once, comes back whole, and follows from the pods alone."""

from __future__ import annotations

import pytest

from example_counts import tries
from kubelet.agreement.cases import cases
from kubelet.machines import GI, gpu_node, pod
from trainyard.upstream.kubelet import Admitted, Crashed, Device, Exploded, Kubelet, Machine, NumaNode, Refused
from trainyard.upstream.kubelet.cases import Case
from trainyard.upstream.kubelet.managers import Managers
from trainyard.upstream.kubelet.sets import members
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.pods.pod import Pod

STATIC = Settings(static_memory=True, reserved_memory={0: {"memory": GI}})


def kubelets(seed, count):
    """Kubelets that started, each with the steps of its case."""
    for value in cases(seed, count):
        case = Case.read(value)
        kubelet = Kubelet.start(case.machine, case.kubelet)
        if isinstance(kubelet, Kubelet):
            yield kubelet, case.steps


def played(kubelet, steps):
    """Say whether the kubelet survives the steps, which it takes until it does not."""
    for step in steps:
        if "remove" in step:
            for name in step["remove"]:
                kubelet.remove(name)
        elif kubelet.admit(step).stuck:
            return False
    return True


def memory_of(managers):
    """What each NUMA node has left, and with which it is tied."""
    return {number: (node.free, node.tied, node.blocks) for number, node in managers.memory.nodes.items()}


def test_nothing_is_given_twice():
    """Exclusive CPUs, devices and memory of pods by chance never overlap, and all that is not given is free."""
    given = 0
    for kubelet, steps in kubelets("once", tries(120)):
        if not played(kubelet, steps):
            continue
        managers, taken = kubelet.managers, 0
        for containers in managers.cpus.given.values():
            own = 0
            for cpus in containers.values():
                own |= cpus
            assert not taken & own
            taken |= own
        assert managers.cpus.free == managers.cpus.allocatable & ~taken
        given += taken.bit_count()
        for resource in kubelet.machine.devices:
            held = [
                {device for ids in containers.values() for device in ids.get(resource, ())}
                for containers in managers.devices.given.values()
            ]
            assert sum(map(len, held)) == len(set().union(*held))
        for node in managers.memory.nodes.values():
            assert all(0 <= node.free[name] <= node.allocatable[name] for name in node.free)
    assert given


def test_all_comes_back_once_every_pod_has_ended():
    """After the last pod the node is as it was before the first."""
    ended = 0
    for kubelet, steps in kubelets("back", tries(120)):
        empty = Managers.start(kubelet.machine, kubelet.settings)
        if not played(kubelet, steps):
            continue
        for one_pod in [*kubelet.pods]:
            kubelet.remove(one_pod.name)
            ended += 1
        assert kubelet.managers.cpus.free == empty.cpus.free
        assert memory_of(kubelet.managers) == memory_of(empty)
        assert not kubelet.managers.devices.given
    assert ended


def test_a_copy_goes_its_own_way():
    """Whatever a copy takes, the original has not given."""
    managers = Managers.start(gpu_node(), STATIC)
    before = memory_of(managers.copy())
    copy = managers.copy()
    assert isinstance(copy.admit(Pod.read(pod("a", cpu=4, memory="70Gi", gpus=3))), Admitted)
    assert memory_of(copy) != before
    assert memory_of(managers) == before
    assert not managers.devices.given


def test_nodes_that_give_together_are_tied_until_the_last_pod_ends():
    """A pod of both NUMA nodes keeps those of one out, and the nodes part when it ends."""
    managers = Managers.start(gpu_node(), STATIC)
    both, one = (Pod.read(pod(name, cpu=4, memory=size)) for name, size in (("both", "100Gi"), ("one", "1Gi")))
    assert isinstance(managers.admit(both), Admitted)
    assert [node.tied for node in managers.memory.nodes.values()] == [0b11, 0b11]
    admitted = managers.copy().admit(one)
    assert isinstance(admitted, Admitted)
    assert admitted.containers[0].memory == 0b11
    managers.forget("both")
    admitted = managers.admit(one)
    assert isinstance(admitted, Admitted)
    assert admitted.containers[0].memory == 0b01


def test_memory_goes_back_to_the_lowest_node_whoever_took_it_there():
    """Of two pods on both nodes the second is on node 1 alone; when it ends, that much of node 0 seems free."""
    managers = Managers.start(gpu_node(), STATIC)
    for name, size in (("a", "70Gi"), ("b", "50Gi")):
        assert isinstance(managers.admit(Pod.read(pod(name, cpu=4, memory=size))), Admitted)
    managers.forget("b")
    assert [node.free["memory"] // GI for node in managers.memory.nodes.values()] == [50, 7]


def test_init_containers_hand_on_what_they_had():
    """A container uses its init container's device, CPUs and memory again; a sidecar keeps its own."""
    managers = Managers.start(gpu_node(), Settings("restricted", static_cpus=True, reserved_cpus=1, static_memory=True))
    limits = {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"}
    container = {"resources": {"limits": limits}}
    sidecar = {**container, "name": "sidecar", "restartPolicy": "Always"}
    inits = [{**container, "name": "init"}, sidecar]
    value = {
        "metadata": {"name": "a"},
        "spec": {"initContainers": inits, "containers": [{**container, "name": "main"}]},
    }
    outcome = managers.admit(Pod.read(value))
    assert isinstance(outcome, Admitted)
    init, beside, main = outcome.containers
    assert init.cpus == beside.cpus
    assert init.devices == beside.devices
    assert not main.cpus & beside.cpus
    assert main.devices != beside.devices


def test_huge_pages_of_a_size_that_the_machine_lacks_crash_the_kubelet():
    """The Static policy looks up what is not there; without it the predicates refuse the pod."""
    managers = Managers.start(gpu_node(), STATIC)
    value = pod("a", cpu=1, memory="1Gi")
    value["spec"]["containers"][0]["resources"]["limits"]["hugepages-64Ki"] = "64Ki"
    outcome = managers.admit(Pod.read(value))
    assert isinstance(outcome, Crashed)
    assert "nil pointer" in outcome.message
    assert isinstance(Managers.start(gpu_node(), Settings()).admit(Pod.read(value)), Admitted)


def spread(nodes, **counts):
    """A machine of such NUMA nodes, with so many devices of each resource in every one."""
    devices = {
        f"example.com/{name}": tuple(
            Device(f"{node}-{index}", (node,)) for node in range(nodes) for index in range(count)
        )
        for name, count in counts.items()
    }
    return Machine(tuple(NumaNode(node, 64 * GI) for node in range(nodes)), gpu_node().cpus, devices)


@pytest.mark.parametrize(
    ("nodes", "resources", "expected"),
    [(8, 2, None), (8, 4, Exploded(permutations=255**4)), (17, 1, Exploded(masks=1 << 17))],
    ids=["two resources are merged", "four resources are too many combinations", "seventeen nodes are too many sets"],
)
def test_a_pod_over_which_the_kubelet_would_freeze_is_not_tried(nodes, resources, expected):
    """Combinations and sets of nodes are counted before anything is walked through."""
    names = [f"r{index}" for index in range(resources)]
    managers = Managers.start(spread(nodes, **dict.fromkeys(names, 1)), Settings("best-effort"))
    value = pod("a", cpu=1, memory="1Gi")
    value["spec"]["containers"][0]["resources"]["limits"] |= {f"example.com/{name}": "1" for name in names}
    outcome = managers.admit(Pod.read(value))
    if expected is None:
        assert isinstance(outcome, Admitted)
        assert outcome.merges[0].permutations == 255**2
    else:
        assert isinstance(outcome, Exploded)
        assert (outcome.permutations, outcome.masks) == (expected.permutations, expected.masks)


def test_a_refusal_says_which_hints_did_not_meet():
    """Five GPUs want both nodes and one CPU either: the merge keeps what each resource preferred."""
    managers = Managers.start(gpu_node(), Settings("restricted", pod_scope=True, static_cpus=True, reserved_cpus=1))
    outcome = managers.admit(Pod.read(pod("a", cpu=1, memory="1Gi", gpus=5)))
    assert isinstance(outcome, Refused)
    (merge,) = outcome.merges
    assert {name: [list(members(mask)) for mask in hints.preferred] for name, hints in merge.hints.items()} == {
        "nvidia.com/gpu": [[0, 1]],
        "cpu": [[0], [1]],
    }
