"""A pod goes to a node that takes it beside what is there, or it is said what speaks against how many nodes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from kubelet.machines import gpu_node, pod
from trainyard.base.labels import HOSTNAME
from trainyard.upstream.kubelet import Invalid, Kubelet
from trainyard.upstream.kubelet.predicates import PORTS
from trainyard.upstream.pods.taints import Taint
from trainyard.upstream.scheduler import Choice, Host, Nodes, Placed, State, Unplaced, Wanted
from trainyard.upstream.scheduler.neighbours import AFFINITY, ANTI_AFFINITY, EXISTING, LABEL, SPREAD
from trainyard.upstream.scheduler.wanted import CONFLICT, GATED, NODE_AFFINITY, OTHER_NODE

GPU = "Insufficient nvidia.com/gpu"
REFUSED = "the kubelet refuses the pod (TopologyAffinityError)"
ALIGNED = {"topologyManagerPolicy": "restricted", "topologyManagerScope": "pod"}
ZONES = ("a", "a", "b", "b")


def state(**settings: Any) -> State:
    """A node with nothing on it, of two NUMA nodes with four GPUs each."""
    kubelet = Kubelet.start(gpu_node(), settings)
    assert not isinstance(kubelet, Invalid)
    return State(kubelet)


def make_nodes(*zones: str, taint: str = "", effect: str = "NoSchedule", left: int = 0, **settings: Any) -> Nodes:
    """Nodes n-0, n-1, …, one for each zone that is given; the last one has the taint."""
    empty = state(**settings)
    hosts = [
        Host(
            f"n-{index}",
            {HOSTNAME: f"n-{index}", **({"zone": zone} if zone else {})},
            (Taint(taint, "", effect),) if taint and index == len(zones) - 1 else (),
            empty,
            {"channel": left} if left else {},
        )
        for index, zone in enumerate(zones)
    ]
    return Nodes(hosts, {"address": 3})


def wanted(
    gpus: int = 1, *, cpu: int = 1, takes: str = "", app: str = "x", ports: Sequence[int] = (), **spec: Any
) -> Wanted:
    """Pods of one container."""
    found = pod("p", cpu=cpu, memory="1Gi", gpus=gpus)["spec"]
    found["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    return Wanted({**found, **spec}, "team", {"app": app}, {takes: 1} if takes else {})


def near(kind: str, key: str, app: str) -> dict[str, Any]:
    """An affinity to pods of an app, or against them."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def named(*names: str) -> dict[str, Any]:
    """An affinity to one node by its name, for each name."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def evenly(**rule: Any) -> dict[str, Any]:
    """A constraint on how pods of an app are spread over zones."""
    own = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**own, "labelSelector": {"matchLabels": {"app": "x"}}, **rule}]}


def put(nodes: Nodes, *pods: Wanted) -> list[str | dict[str, int]]:
    """The host of each pod, or what speaks against it."""
    found = [nodes.place(one_pod) for one_pod in pods]
    return [item.host if isinstance(item, Placed) else dict(item.against) for item in found]


CASES: dict[str, tuple[Nodes, list[Wanted], list[str | dict[str, int]]]] = {
    "eight GPUs that are free on two nodes are no node for a pod of eight": (
        make_nodes("a", "a"),
        [wanted(5), wanted(5), wanted(8), wanted(3)],
        ["n-0", "n-1", {GPU: 2}, "n-0"],
    ),
    "pods go where most CPUs and memory are free, whatever becomes of whole nodes": (
        make_nodes("a", "a", "a"),
        [wanted(8), wanted(2), wanted(4), wanted(8)],
        ["n-0", "n-1", "n-2", {GPU: 3}],
    ),
    "pods rather go where they tolerate all taints": (
        make_nodes("a", "a", taint="old", effect="PreferNoSchedule"),
        [wanted(), wanted(), wanted(tolerations=[{"key": "old", "operator": "Exists"}])],
        ["n-0", "n-0", "n-1"],
    ),
    "a pod with a gate is not looked at": (
        make_nodes("a", "a"),
        [wanted(schedulingGates=[{"name": "example.com/later"}])],
        [{GATED: 2}],
    ),
    "a pod whose affinity names nodes is tried on no other, and on none where the names speak against each other": (
        make_nodes("a", "a", taint="gpu"),
        [wanted(9, **named("n-0")), wanted(**named("n-0", "n-1"))],
        [{GPU: 1, OTHER_NODE: 1}, {CONFLICT: 2}],
    ),
    "ports are looked at before resources": (
        make_nodes("a"),
        [wanted(8, ports=[80]), wanted(8, ports=[80])],
        ["n-0", {PORTS: 1}],
    ),
    "a pod goes where its selector leads, and nowhere without such a node": (
        make_nodes("a", "b"),
        [wanted(nodeSelector={"zone": "b"}), wanted(nodeSelector={"zone": "c"})],
        ["n-1", {NODE_AFFINITY: 2}],
    ),
    "one node can be named": (
        make_nodes("a", "a"),
        [wanted(nodeSelector={HOSTNAME: "n-1"}), wanted(nodeSelector={HOSTNAME: "n-2"})],
        ["n-1", {NODE_AFFINITY: 2}],
    ),
    "a taint keeps pods away that do not tolerate it": (
        make_nodes("a", taint="gpu"),
        [wanted(), wanted(tolerations=[{"key": "gpu", "operator": "Exists"}])],
        [{"node(s) had untolerated taint {gpu: }": 1}, "n-0"],
    ),
    "a kubelet that aligns refuses GPUs of two NUMA nodes where one would do": (
        make_nodes("a", **ALIGNED),
        [wanted(3), wanted(3), wanted(2), wanted(1)],
        ["n-0", "n-0", {REFUSED: 1}, "n-0"],
    ),
    "pods that must be apart each get a node of their own, and others keep away from them too": (
        make_nodes("a", "a"),
        [*[wanted(**near("podAntiAffinity", HOSTNAME, "x"))] * 3, wanted(app="y"), wanted()],
        ["n-0", "n-1", {ANTI_AFFINITY: 2}, "n-0", {EXISTING: 2}],
    ),
    "a pod goes where those are that it must be near": (
        make_nodes("a", "b"),
        [wanted(4, nodeSelector={"zone": "b"}, app="y"), wanted(**near("podAffinity", "zone", "y"))],
        ["n-1", "n-1"],
    ),
    "a pod that must be near others finds no node before them; the first of its own kind does": (
        make_nodes("a"),
        [wanted(**near("podAffinity", "zone", "y")), wanted(**near("podAffinity", "zone", "x"))],
        [{AFFINITY: 1}, "n-0"],
    ),
    "pods are spread over zones as evenly as they say": (
        make_nodes(*ZONES),
        [wanted(5, **evenly()) for _ in range(5)],
        ["n-0", "n-2", "n-1", "n-3", {GPU: 4}],
    ),
    "a zone that is full holds up the other": (
        make_nodes("a", "b", "b"),
        [wanted(8, app="y"), wanted(8, **evenly()), wanted(8, **evenly())],
        ["n-0", "n-1", {GPU: 2, SPREAD: 1}],
    ),
    "with too few zones nothing counts as the least": (
        make_nodes("a"),
        [wanted(**evenly(minDomains=2)), wanted(**evenly(minDomains=2))],
        ["n-0", {SPREAD: 1}],
    ),
    "a node without the label of a zone takes no pod that is spread over zones": (
        make_nodes(""),
        [wanted(**evenly())],
        [{LABEL: 1}],
    ),
    "each node has as many channels as it has": (
        make_nodes("a", "a", left=1),
        [wanted(takes="channel") for _ in range(3)],
        ["n-0", "n-1", {"no channel left": 2}],
    ),
    "all nodes share a network's addresses": (
        make_nodes("a", "a"),
        [wanted(takes="address") for _ in range(4)],
        ["n-0", "n-1", "n-0", {"no address left": 2}],
    ),
}


@pytest.mark.parametrize(("nodes", "pods", "expected"), CASES.values(), ids=CASES)
def test_pods_are_placed(nodes, pods, expected):
    """One after the other they get a node, or every reason with the number of nodes that have it."""
    assert put(nodes, *pods) == expected
    nodes.back(0)
    assert put(nodes, *pods) == expected


def test_the_fullest_node_can_be_taken_instead():
    """So whole nodes stay free for pods that need one."""
    nodes = make_nodes("a", "a", "a")
    placed = [nodes.place(item, choice=Choice(fullest=True)) for item in (wanted(8), wanted(2), wanted(4), wanted(8))]
    assert [item.host for item in placed] == ["n-0", "n-1", "n-1", "n-2"]


def test_which_of_equal_nodes_is_taken_is_chance():
    """With a seed pods go now here, now there; what is not equal stays last."""
    found = set()
    for seed in range(20):
        nodes = make_nodes("a", "b", "c")
        nodes.place(wanted(4), "n-0")
        found.add(nodes.place(wanted(), choice=Choice(seed=seed)).host)
    assert found == {"n-1", "n-2"}


def test_a_pod_that_was_assigned_a_host_gets_that_one_or_none():
    """Others are not looked at, and the reason is that of the host."""
    nodes = make_nodes("a", "a")
    assert nodes.place(wanted(5), "n-1").host == "n-1"
    assert nodes.place(wanted(5), "n-1") == Unplaced({GPU: 1}, ("n-1",))


def test_a_witness_says_what_containers_get():
    """GPUs and their NUMA node are those that the kubelet gives on that node."""
    nodes = make_nodes("a", **ALIGNED)
    nodes.place(wanted(4))
    (given,) = nodes.place(wanted(2)).containers
    assert (given.affinity, given.devices["nvidia.com/gpu"]) == (0b10, ("gpu-4", "gpu-5"))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_back_leaves_no_trace(seed):
    """After pods were placed and taken back, others go where they would have gone without them."""
    dice = random.Random(seed)
    kinds = [
        wanted(3),
        wanted(5, cpu=20),
        wanted(8),
        wanted(1, **evenly()),
        wanted(2, takes="channel"),
        wanted(1, takes="address"),
        wanted(1, **near("podAntiAffinity", HOSTNAME, "x")),
    ]
    first, between, last = ([dice.choice(kinds) for _ in range(dice.randrange(6))] for _ in range(3))
    tried, plain = (make_nodes(*ZONES, left=1, **ALIGNED) for _ in range(2))
    put(tried, *first)
    put(plain, *first)
    mark = tried.mark()
    put(tried, *between)
    tried.back(mark)
    assert put(tried, *last, *first) == put(plain, *last, *first)
