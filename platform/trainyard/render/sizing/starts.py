"""The kubelet of a pool's nodes, with the daemons that are on them, and what becomes of a pod that arrives there.

A node is described in the format of `trainyard node replay`, so that whoever doubts an answer can ask the same of
another kubelet.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.system.once import once
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.devices import functions_per_nic, reports_numa, resource
from trainyard.render.sizing.fabrics.rails import has_verbs, rails
from trainyard.render.sizing.gpus import offers
from trainyard.render.sizing.kubelet import amount, settings
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.node import numa_nodes, size
from trainyard.specs import Cluster, Pool
from trainyard.upstream.kubelet import Decision, Invalid, Kubelet, forms
from trainyard.upstream.kubelet.cases import Case
from trainyard.upstream.pods.resources import is_huge_page

MOST_BESIDE = 16
"""Pods of one kind that are tried on one node."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a pod on a node that has the daemons of its pool, and of others of its kind after it."""

    decision: Decision
    beside: int = 0
    """How many more of its kind start beside it, up to 15."""


@dataclass
class Node:
    """One node of a pool: its kubelet, started, with the daemons of every node."""

    kubelet: Kubelet
    refused: tuple[str, ...] = ()
    """Daemons that the kubelet itself does not take."""
    _verdicts: dict[str, Verdict] = field(default_factory=dict)

    def verdict(self, pod: Mapping[str, Any]) -> Verdict:
        """Return the kubelet's verdict on a pod; pods with equal requests are decided once."""
        key = json.dumps(forms.select_form(pod["spec"], forms.SPEC), sort_keys=True)
        if key not in self._verdicts:
            self._verdicts[key] = self._decide(pod_seen(pod))
        return self._verdicts[key]

    def admits(self, pod: Mapping[str, Any]) -> bool:
        """Whether the pod starts on the node while no other is there."""
        return self.kubelet.copy().admit(pod_seen(pod)).admitted

    def _decide(self, pod: Mapping[str, Any]) -> Verdict:
        kubelet = self.kubelet.copy()
        first = kubelet.admit(pod)
        if not first.admitted or first.unschedulable:
            return Verdict(first)
        more = 0
        while more < MOST_BESIDE - 1:
            decision = kubelet.admit(pod)
            if not decision.admitted or decision.unschedulable:
                break
            more += 1
        return Verdict(first, more)


def pod_seen(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod as a kubelet looks at it: API servers leave out fields whose gates are off."""
    return {**pod, "spec": forms.select_form(pod["spec"], forms.SPEC)}


@once
def node(cluster: Cluster, pool_name: str) -> Node | Invalid:
    """Return a node of the pool with its daemons, or why its kubelet does not start."""
    case = Case.read(document(cluster, pool_name))
    kubelet = Kubelet.start(
        case.machine, case.kubelet, name=case.node, labels=case.labels, storage=case.storage, release=case.release
    )
    if isinstance(kubelet, Invalid):
        return kubelet
    pods = present(cluster, pool_name)
    refused = [pod["metadata"]["name"] for pod in pods if not kubelet.admit(pod).admitted]
    return Node(kubelet, tuple(refused))


def present(cluster: Cluster, pool_name: str) -> list[dict[str, Any]]:
    """Return the pods that every node of a pool has beside those of jobs."""
    return [daemon.pod() for daemon in machine(cluster, pool_name).daemons]


def document(cluster: Cluster, pool_name: str, pods: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return a node of the pool, its kubelet and pods that arrive, as a case of `trainyard node replay`."""
    pool = cluster.pools[pool_name]
    shape = pool.node
    node: dict[str, Any] = {
        "threadsPerCore": shape.threads_per_core,
        "numa": [*numa(pool), *({"memory": "0"} for _ in range(shape.gpu_numa))],
        "devices": {**gpus(pool), **nics(cluster, pool_name)},
        "ephemeralStorage": shape.ephemeral_storage,
        "labels": dict(machine(cluster, pool_name).labels),
    }
    given = {"name": pool_name, "kubernetes": cluster.kubelet_of(pool_name), "node": node, "kubelet": settings(pool)}
    return {**given, "pods": [dict(pod) for pod in pods]}


def numa(pool: Pool) -> list[dict[str, Any]]:
    """Return the NUMA nodes with CPUs, huge pages in equal parts."""
    nodes = numa_nodes(pool.node)
    pages = {page: amount(size(total) // len(nodes)) for page, total in pool.node.huge_pages.items()}
    return [
        {"cpus": one_numa.cpus, "memory": amount(size(one_numa.memory))} | ({"hugepages": pages} if pages else {})
        for one_numa in nodes
    ]


def gpus(pool: Pool) -> dict[str, list[dict[str, int]]]:
    """Return the GPUs as their device plugin reports them: each on its NUMA node."""
    found = pool.node.gpus
    if found is None:
        return {}
    places = {card: index for index, numa_node in enumerate(numa_nodes(pool.node)) for card in numa_node.gpus}
    devices: dict[str, Counter[int | None]] = {}
    for offer in offers(pool):
        known = offer.gpus if len(places) == found.count else ()
        near = devices.setdefault(offer.resource, Counter())
        near.update((places[card] for card in known) if known else dict.fromkeys([None], offer.count))
    return {
        resource: [{"count": count} | ({} if index is None else {"numa": index}) for index, count in in_order(near)]
        for resource, near in devices.items()
    }


def in_order(near: Mapping[int | None, int]) -> list[tuple[int | None, int]]:
    """Return how many devices each NUMA node has, in the order of the nodes."""
    return sorted(near.items(), key=lambda pair: -1 if pair[0] is None else pair[0])


def nics(cluster: Cluster, pool_name: str) -> dict[str, list[dict[str, int]]]:
    """Return the devices of the fabric: with their NUMA nodes where they report them, else in one heap."""
    counts = {name: int(count) for name, count in fabric_type(cluster).per_node(cluster, pool_name).items()}
    devices = {name: count for name, count in counts.items() if not is_huge_page(name)}
    if not has_verbs(cluster) or not reports_numa(cluster, pool_name):
        return {name: [{"count": count}] for name, count in devices.items()}
    pool, found = cluster.pools[pool_name], dict[str, list[dict[str, int]]]()
    taken = rails(cluster, pool_name)
    for index, numa_node in enumerate(numa_nodes(pool.node)):
        for nic in (pool.node.nics[place] for place in numa_node.nics):
            if nic.rail in taken:
                place = {"count": functions_per_nic(cluster, pool, nic.rail), "numa": index}
                found.setdefault(resource(cluster, nic.rail), []).append(place)
    return found
