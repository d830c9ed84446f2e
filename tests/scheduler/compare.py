"""What we make of a case beside what kube-scheduler does: each of its decisions, and whether all pods get nodes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from kubelet.machines import gpu_node
from scheduler.worlds import CHANNEL, NAMESPACES, Object
from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet import Invalid, Kubelet
from trainyard.upstream.pods.taints import Taint
from trainyard.upstream.scheduler import Host, Nodes, Placed, State, Wanted
from trainyard.upstream.scheduler.releases import RELEASE
from trainyard.upstream.scheduler.scores import of_nodes
from trainyard.upstream.scheduler.together import prospects

TAINT = re.compile(r"node\(s\) had untolerated taint \{.*\}")
WORDS = {f"no {CHANNEL} left": "cannot allocate all claims"}
"""Where we say more than the scheduler, what it says."""


def nodes_of(case: Object, release: str = RELEASE) -> Nodes:
    """Return the empty nodes of a case, as the scheduler of a release sees them."""
    kubelet = Kubelet.start(gpu_node(), {})
    assert not isinstance(kubelet, Invalid)
    hosts, states = [], dict[str, State]()
    for node in case["nodes"]:
        offered = {name: Quantity.parse(amount) for name, amount in node["allocatable"].items()}
        own = replace(kubelet.copy(), node=replace(kubelet.node, allocatable=offered))
        taints = tuple(Taint(one["key"], one.get("value", ""), one["effect"]) for one in node["taints"])
        left = {CHANNEL: node[CHANNEL]} if CHANNEL in node else {}
        hosts.append(
            Host(
                node["name"],
                node["labels"],
                taints,
                states.setdefault(json.dumps(node["allocatable"]), State(own, release)),
                left,
            )
        )
    return Nodes(hosts)


def wanted_of(case: Object) -> list[Wanted]:
    """Return the pods of a case; equal ones are the same."""
    known: dict[str, Wanted] = {}
    return [known.setdefault(str(pod), wanted(pod)) for pod in case["pods"]]


def wanted(pod: Object) -> Wanted:
    """Return one pod of a case."""
    return Wanted(pod["spec"], pod["namespace"], pod["labels"], pod["takes"], NAMESPACES[pod["namespace"]])


def disagreements(case: Object, events: Sequence[Object], release: str = RELEASE) -> Iterator[str]:
    """Yield each decision of a scheduler that we would not have made with the same pods on the same nodes."""
    nodes, pods = nodes_of(case, release), wanted_of(case)
    for again, group in groupby(events, key=lambda event: event.get("again", False)):
        mine = [*group]
        if again:
            if not in_some_order(nodes, pods, mine):
                yield f"pods {mine} are tried again, where we say they would be elsewhere"
                return
            continue
        for event in mine:
            if found := against(nodes, pods, event):
                yield found
            if "node" in event and not isinstance(nodes.place(pods[event["pod"]], event["node"]), Placed):
                return


def in_some_order(nodes: Nodes, pods: Sequence[Wanted], events: Sequence[Object]) -> bool:
    """Whether pods can have been placed one after the other, in whatever order; if so, place them."""
    for number, event in enumerate(events):
        if against(nodes, pods, event) is None:
            mark = nodes.mark()
            nodes.place(pods[event["pod"]], event["node"])
            if in_some_order(nodes, pods, [*events[:number], *events[number + 1 :]]):
                return True
            nodes.back(mark)
    return not events


def against(nodes: Nodes, pods: Sequence[Wanted], event: Object) -> str | None:
    """Return how one decision differs from ours, None where it does not."""
    pod = pods[event["pod"]]
    ours = {name: said(nodes, pod, name) for name in nodes.hosts}
    free = [name for name, value in ours.items() if not value]
    if "node" in event:
        best = highest(nodes, pod, free) if event["node"] in free else free
        return (
            None if event["node"] in best else f"pod {event['pod']} is on {event['node']}, where we say {ours}, {best}"
        )
    if free:
        return f"pod {event['pod']} is on no node, where we say {free} would do: {event['against']}"
    counted = Counter(one for item in ours.values() for one in set(item))
    if counted == event["against"] or pod.gated:
        return None
    return f"pod {event['pod']}: {event['against']}, where we say {dict(counted)}"


def said(nodes: Nodes, pod: Wanted, name: str) -> list[str]:
    """Return what we have against one node, in the scheduler's words."""
    mark = nodes.mark()
    found = nodes.place(pod, name)
    nodes.back(mark)
    if isinstance(found, Placed):
        return []
    return [WORDS.get(item, TAINT.sub("node(s) had untolerated taint(s)", item)) for item in found.against]


def highest(nodes: Nodes, pod: Wanted, free: Sequence[str]) -> list[str]:
    """Return the nodes with the highest score of those that would do; of these the scheduler takes any."""
    hosts = [nodes.hosts[name] for name in free]
    scores = of_nodes(pod, list(nodes.hosts.values()), hosts)
    return [name for name, score in zip(free, scores, strict=True) if score == max(scores)]


def verdict(case: Object, release: str = RELEASE) -> str:
    """Return whether we say that all pods of a case get nodes: fits, may fit, or never fits."""
    pods = [(pod, None) for pod in wanted_of(case)]
    found = [not prospect.missing for prospect in prospects(nodes_of(case, release), pods)]
    return "fits" if all(found) else "may fit" if any(found) else "never fits"


def pinned(case: Object, release: str = RELEASE) -> Object | None:
    """Return a case whose pods are bound to the nodes that we found for all of them, None where we found none."""
    pods = [(pod, None) for pod in wanted_of(case)]
    found = next((prospect for prospect in prospects(nodes_of(case, release), pods) if not prospect.missing), None)
    if found is None:
        return None
    bound = []
    for number, item in found.placed:
        pod = case["pods"][number]
        selector = {**pod["spec"].get("nodeSelector", {}), HOSTNAME: item.host}
        bound.append({**pod, "spec": {**pod["spec"], "nodeSelector": selector}})
    return {**case, "pods": bound}


def whole(case: Object, events: Sequence[Mapping[str, object]]) -> bool:
    """Whether the scheduler placed all pods."""
    return {event["pod"] for event in events if "node" in event} == set(range(len(case["pods"])))


def is_right(word: str, outcomes: Sequence[bool]) -> bool:
    """Whether a verdict is true of what the scheduler did, time and again."""
    return {"fits": all(outcomes), "never fits": not any(outcomes), "may fit": True}[word]
