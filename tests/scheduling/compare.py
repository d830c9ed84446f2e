"""What we make of a case beside what kube-scheduler does: each of its decisions, and whether all pods get nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nodes.machines import gpu_node
from scheduling.worlds import CHANNEL, NAMESPACES, Object
from trainyard.nodes import Invalid, Kubelet
from trainyard.pods.taints import Taint
from trainyard.quantities import Quantity
from trainyard.scheduling import Host, Nodes, Placed, State, Wanted
from trainyard.scheduling.scores import of_nodes

TAINT = re.compile(r"node\(s\) had untolerated taint \{.*\}")
WORDS = {f"no {CHANNEL} left": "cannot allocate all claims"}
"""Where we say more than the scheduler, what it says."""


def nodes_of(case: Object) -> Nodes:
    """Return the empty nodes of a case."""
    kubelet = Kubelet.start(gpu_node(), {})
    assert not isinstance(kubelet, Invalid)
    hosts = []
    for each in case["nodes"]:
        offered = {name: Quantity.parse(amount) for name, amount in each["allocatable"].items()}
        own = replace(kubelet.copy(), node=replace(kubelet.node, allocatable=offered))
        taints = tuple(Taint(one["key"], one.get("value", ""), one["effect"]) for one in each["taints"])
        left = {CHANNEL: each[CHANNEL]} if CHANNEL in each else {}
        hosts.append(Host(each["name"], each["labels"], taints, State(own), left))
    return Nodes(hosts)


def wanted_of(case: Object) -> list[Wanted]:
    """Return the pods of a case; equal ones are the same."""
    known: dict[str, Wanted] = {}
    return [known.setdefault(str(each), wanted(each)) for each in case["pods"]]


def wanted(pod: Object) -> Wanted:
    """Return one pod of a case."""
    return Wanted(pod["spec"], pod["namespace"], pod["labels"], pod["takes"], NAMESPACES[pod["namespace"]])


def disagreements(case: Object, events: Sequence[Object]) -> Iterator[str]:
    """Yield each decision of the scheduler that we would not have made with the same pods on the same nodes."""
    nodes, pods = nodes_of(case), wanted_of(case)
    for event in events:
        pod = pods[event["pod"]]
        against = {name: said(nodes, pod, name) for name in nodes.hosts}
        if "node" in event:
            if against[event["node"]]:
                yield f"pod {event['pod']} is on {event['node']}, where we say {against[event['node']]}"
                return
            best = highest(nodes, pod, [name for name, each in against.items() if not each])
            if event["node"] not in best:
                yield f"pod {event['pod']} is on {event['node']}, where we say {best}"
            nodes.place(pod, event["node"])
            continue
        ours = Counter(one for each in against.values() for one in set(each))
        if not all(against.values()):
            free = [name for name, each in against.items() if not each]
            yield f"pod {event['pod']} is on no node, where we say {free} would do: {event['against']}"
        elif dict(ours) != event["against"] and not pod.gated:
            yield f"pod {event['pod']}: {event['against']}, where we say {dict(ours)}"


def said(nodes: Nodes, pod: Wanted, name: str) -> list[str]:
    """Return what we have against one node, in the scheduler's words."""
    mark = nodes.mark()
    found = nodes.place(pod, name)
    nodes.back(mark)
    if isinstance(found, Placed):
        return []
    return [WORDS.get(each, TAINT.sub("node(s) had untolerated taint(s)", each)) for each in found.against]


def highest(nodes: Nodes, pod: Wanted, free: Sequence[str]) -> list[str]:
    """Return the nodes with the highest score of those that would do; of these the scheduler takes any."""
    hosts = [nodes.hosts[name] for name in free]
    scores = of_nodes(pod, list(nodes.hosts.values()), hosts)
    return [name for name, score in zip(free, scores, strict=True) if score == max(scores)]


def placed(events: Sequence[Mapping[str, object]]) -> set[object]:
    """Return the numbers of the pods that got a node."""
    return {each["pod"] for each in events if "node" in each}
