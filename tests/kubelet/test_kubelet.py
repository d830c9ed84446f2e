"""A kubelet on a two-socket machine with eight GPUs: who gets in, beside whom, and who has to go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clock import within
from kubelet.machines import gpu_node, pod
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet import Admitted, Invalid, Kubelet, Outcome, Refused
from trainyard.upstream.kubelet.cases import machine

ALIGNED = {
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "cpuManagerPolicy": "static",
    "reservedSystemCPUs": "0,16,32,48",
}


def started(configuration=ALIGNED, **options):
    """A kubelet that has started on the machine."""
    kubelet = Kubelet.start(gpu_node(), configuration, **options)
    assert isinstance(kubelet, Kubelet), kubelet
    return kubelet


def test_a_pod_of_half_the_gpus_gets_those_of_one_numa_node():
    """Four GPUs and their CPUs come from one NUMA node, the next four from the other."""
    kubelet = started()
    first, second = (kubelet.admit(pod(name, cpu=12, memory="8Gi", gpus=4)).outcome for name in "ab")
    assert isinstance(first, Admitted)
    assert isinstance(second, Admitted)
    assert [container.affinity for container in (*first.containers, *second.containers)] == [0b01, 0b10]
    assert first.containers[0].devices == {"nvidia.com/gpu": ("gpu-0", "gpu-1", "gpu-2", "gpu-3")}


def test_a_pod_is_admitted_beside_few_and_refused_beside_many():
    """`copy` asks what would be: the pod starts beside one other and not beside two, and nothing has changed."""
    kubelet = started()
    whole = pod("job", cpu=12, memory="8Gi", gpus=4)
    beside = []
    while kubelet.copy().admit(whole).admitted:
        beside.append(kubelet.admit(pod(f"other-{len(beside)}", cpu=12, memory="8Gi", gpus=4)).outcome)
    assert len(beside) == 2
    assert len(kubelet.pods) == 2


def test_five_gpus_with_few_cpus_are_refused():
    """Five GPUs need two NUMA nodes and four CPUs one, so that restricted takes no pod that asks for both."""
    decision = started().admit(pod("a", cpu=4, memory="8Gi", gpus=5))
    assert isinstance(decision.outcome, Refused)
    assert decision.outcome.reason == "TopologyAffinityError"
    assert decision.outcome.message == "Resources cannot be allocated with Topology locality"
    assert decision.qos == "Guaranteed"
    assert decision.unschedulable == ()


def test_what_a_pod_had_is_free_once_it_is_gone():
    """A node that is full takes a pod again as soon as another has ended; ending nobody changes nothing."""
    kubelet = started()
    assert kubelet.admit(pod("a", cpu=56, memory="8Gi", gpus=8)).admitted
    refused = kubelet.admit(pod("b", cpu=56, memory="8Gi", gpus=8))
    assert refused.unschedulable == ("Insufficient cpu", "Insufficient nvidia.com/gpu")
    kubelet.remove("nobody")
    assert not kubelet.admit(pod("b", cpu=56, memory="8Gi", gpus=8)).admitted
    kubelet.remove("a")
    assert kubelet.admit(pod("b", cpu=56, memory="8Gi", gpus=8)).admitted


def test_a_critical_pod_ends_the_least_important_that_make_room():
    """Where CPUs run out, a critical pod is let in, and a Burstable pod goes before a Guaranteed one."""
    kubelet = started({})
    kubelet.admit(pod("guaranteed", cpu=30, memory="1Gi"))
    kubelet.admit(pod("burstable", cpu=30, memory="1Gi", requests={"cpu": "30"}))
    decision = kubelet.admit(pod("critical", cpu=20, memory="1Gi", priority=2_000_000_000))
    assert decision.admitted
    assert decision.preempted == ("burstable",)
    assert [one_pod.name for one_pod in kubelet.pods] == ["guaranteed", "critical"]


def test_a_critical_pod_that_nobody_can_make_room_for_is_refused():
    """A critical pod larger than the node ends nobody."""
    kubelet = started({})
    kubelet.admit(pod("a", cpu=60, memory="1Gi"))
    outcome = kubelet.admit(pod("critical", cpu=65, memory="1Gi", priority=2_000_000_000)).outcome
    assert isinstance(outcome, Refused)
    assert outcome.reason == "UnexpectedAdmissionError"
    assert outcome.message.endswith("no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]")
    assert [one_pod.name for one_pod in kubelet.pods] == ["a"]


SELECTIONS = {
    "its own label": ({"nodeSelector": {"pool": "h100"}}, None),
    "another's label": ({"nodeSelector": {"pool": "a100"}}, "NodeAffinity"),
    "its name": ({"nodeName": "n1"}, None),
    "another's name": ({"nodeName": "n2"}, "NodeName"),
    "Linux": ({"os": {"name": "linux"}}, None),
    "Windows": ({"os": {"name": "windows"}}, "PodOSNotSupported"),
}


@pytest.mark.parametrize(("spec", "reason"), SELECTIONS.values(), ids=SELECTIONS)
def test_a_pod_stays_only_where_it_asks_to_be(spec, reason):
    """A pod that asks for another node, or another system, is refused by the kubelet even where there is room."""
    kubelet = started({}, name="n1", labels={"pool": "h100"})
    value = pod("a", cpu=1, memory="1Gi")
    value["spec"] |= spec
    assert getattr(kubelet.admit(value).outcome, "reason", None) == reason


EXPRESSIONS = {
    "in": ({"key": "pool", "operator": "In", "values": ["a", "h100"]}, True),
    "not in": ({"key": "pool", "operator": "NotIn", "values": ["h100"]}, False),
    "exists": ({"key": "pool", "operator": "Exists"}, True),
    "does not exist": ({"key": "pool", "operator": "DoesNotExist"}, False),
    "more": ({"key": "gpus", "operator": "Gt", "values": ["7"]}, True),
    "less": ({"key": "gpus", "operator": "Lt", "values": ["8"]}, False),
    "no number": ({"key": "pool", "operator": "Gt", "values": ["7"]}, False),
}


@pytest.mark.parametrize(("expression", "matches"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_node_affinity_is_read_as_the_scheduler_reads_it(expression, matches):
    """Each operator of a required node affinity decides as it says."""
    kubelet = started({}, labels={"pool": "h100", "gpus": "8"})
    value = pod("a", cpu=1, memory="1Gi")
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    value["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    assert kubelet.admit(value).admitted == matches


def test_two_pods_cannot_have_one_port_of_the_node():
    """A port of the node is given once for each address and protocol."""
    kubelet = started({})
    values = [pod(name, cpu=1, memory="1Gi") for name in "abc"]
    for value, port in zip(values, (8080, 8080, 8081), strict=True):
        value["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": port}]
    first, second, third = (kubelet.admit(value).outcome for value in values)
    assert isinstance(second, Refused)
    assert second.reason == "NodePorts"
    assert isinstance(first, Admitted)
    assert isinstance(third, Admitted)


def test_pod_level_resources_count_for_the_whole_pod():
    """A pod's own requests stand in place of its containers', and take it out of the static policies' hands."""
    kubelet = started()
    value = pod("a", cpu=4, memory="8Gi")
    value["spec"]["resources"] = {"limits": {"cpu": "8", "memory": "16Gi"}}
    decision = kubelet.admit(value)
    assert decision.qos == "Burstable"
    assert kubelet.pods[0].asked["cpu"] == Quantity.parse("4")
    assert decision.outcome.containers[0].cpus == 0


def test_local_storage_counts_where_the_node_has_any():
    """A pod that asks for local storage stays where the node's file system holds it besides the eviction threshold."""
    for storage, admitted in (("100Gi", True), ("60Gi", False)):
        kubelet = started({}, storage=Quantity.parse(storage))
        value = pod("a", cpu=1, memory="1Gi")
        value["spec"]["containers"][0]["resources"]["limits"]["ephemeral-storage"] = "60Gi"
        assert kubelet.admit(value).admitted == admitted


def test_a_kubelet_that_does_not_start_says_why():
    """Too many NUMA nodes, or CPUs that are not there, keep the kubelet from starting."""
    two = gpu_node()
    many = replace(two, numa=tuple(replace(two.numa[0], id=index) for index in range(9)))
    said = "unsupported on machines with more than 8 NUMA Nodes"
    assert Kubelet.start(many, {"topologyManagerPolicy": "restricted"}) == Invalid("start", said)
    said = "reserved-cpus: 0-99 is not a subset of online-cpus: 0-63"
    assert Kubelet.start(two, {"reservedSystemCPUs": "0-99"}) == Invalid("start", said)


def test_a_walk_of_millions_of_permutations_is_not_walked():
    """On eight NUMA nodes one GPU is 16 million permutations for the kubelet; the decision takes us no second."""
    node = {
        "numa": [{"copies": 8, "cores": 16, "memory": "128Gi"}],
        "devices": {"nvidia.com/gpu": [{"count": 1, "numa": index} for index in range(8)]},
    }
    configuration = {
        **ALIGNED,
        "reservedSystemCPUs": "0",
        "memoryManagerPolicy": "Static",
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": "100Mi"}}],
    }

    def admitted() -> Outcome:
        kubelet = Kubelet.start(machine(node), configuration)
        assert isinstance(kubelet, Kubelet)
        return kubelet.admit(pod("a", cpu=2, memory="10Gi", gpus=1)).outcome

    outcome = within(1, admitted)
    assert isinstance(outcome, Admitted)
    assert sum(merge.permutations for merge in outcome.merges) > 15_000_000
