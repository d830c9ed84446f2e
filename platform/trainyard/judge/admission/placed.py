"""Words for the machines of a job: the hosts and NUMA nodes of its pods, and what keeps the others from one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.findings import count_of
from trainyard.judge.admission.machines import Fit, Machines
from trainyard.judge.admission.words import some
from trainyard.upstream.kubelet import sets
from trainyard.upstream.kubelet.answers import container_answer
from trainyard.upstream.scheduler import Placed, Unplaced

MOST = 2
"""Reasons that are written out."""


def numa(placed: Placed) -> str:
    """Return the NUMA nodes of a pod's containers, empty where its kubelet ties none of them to any."""
    together = 0
    for container in placed.containers:
        together |= (container.affinity or 0) | container.memory
    return sets.text(together)


def near(pods: Iterable[Placed]) -> str:
    """Return the NUMA nodes of pods, in brackets: the set that each has, or the sets of which each has one."""
    every = list(pods)
    found = sorted({text for placement in every if (text := numa(placement))})
    value = " each" if len(every) > 1 else ""
    return f" (NUMA {' or '.join(found)}{value})" if found else ""


def lines(fit: Fit) -> Iterator[str]:
    """Yield the hosts of the pods, those of a pod set with the same NUMA nodes in one line."""
    groups: dict[tuple[str, str], Counter[str]] = {}
    for arrival, placed in fit.placed:
        groups.setdefault((arrival.pod_set, numa(placed)), Counter())[placed.host] += 1
    for (pod_set, nodes), hosts in groups.items():
        value = " each" if hosts.total() > 1 else ""
        yield f"{pod_set} × {hosts.total()} on {spans(hosts)}" + (f": NUMA {nodes}{value}" if nodes else "")


def spans(hosts: Mapping[str, int]) -> str:
    """Return names of hosts with those that follow each other as one: `a-000 to a-003`."""
    found: list[list[str]] = []
    for name in sorted(hosts):
        if found and follows(found[-1][-1], name) and hosts[found[-1][-1]] == hosts[name]:
            found[-1].append(name)
        else:
            found.append([name])
    return ", ".join(
        (names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}")
        + (f" ({hosts[names[0]]} each)" if hosts[names[0]] > 1 else "")
        for names in found
    )


def follows(one: str, other: str) -> bool:
    """Whether a host's name is the next one after another's."""
    (left, _, number), (right, _, following) = one.rpartition("-"), other.rpartition("-")
    return left == right and number.isdigit() and following.isdigit() and int(following) == int(number) + 1


def lack(fit: Fit) -> str:
    """Return which pods have no node, and what speaks against most of those that they may use."""
    arrival, unplaced = fit.missing[0]
    every = [one_arrival for one_arrival, _ in fit.missing if one_arrival.pod_set == arrival.pod_set]
    total = len(every) + sum(one_arrival.pod_set == arrival.pod_set for one_arrival, _ in fit.placed)
    whose = (
        f"{count_of(len(every), 'pod')} of {arrival.pod_set}" if len(every) < total else f"pods of {arrival.pod_set}"
    )
    where = f"host {arrival.host}" if arrival.host else "a node"
    return f"{where} for {whose}: {obstacles(unplaced, one=arrival.host is not None)}"


def obstacles(unplaced: Unplaced, *, one: bool) -> str:
    """Return the reasons why most nodes refuse a pod, or why the one in question does."""
    said = sorted(unplaced.against.items(), key=lambda pair: (-pair[1], "/" not in pair[0], pair[0]))
    parts = [text if one else f"{text} on {count_of(number, 'host')}" for text, number in said[:MOST]]
    return " and ".join(parts) or "the cluster has no such node"


def empty_cluster_lack(fit: Fit) -> str:
    """Return the reason why a job's pods find no node on an empty cluster, empty where they do."""
    return f"even on an empty cluster it waits for {lack(fit)}" if fit.missing else ""


def otherwise(fit: Fit) -> str:
    """Return the node that a job's pods wait for if the scheduler picks other nodes, empty where it always fits."""
    return lack(fit.otherwise) if fit.otherwise else ""


def perhaps(detail: str, otherwise: str) -> str:
    """Return where the pods of a job go that may fit, and what some of them else wait for."""
    return f"{detail}; if the scheduler picks other nodes, it waits for {otherwise}"


def holders(fit: Fit, machines: Machines, own: str) -> str:
    """Return the other jobs on nodes that the pods without one may use."""
    hosts = dict.fromkeys(host for _, unplaced in fit.missing for host in unplaced.hosts)
    names = dict.fromkeys(name for host in hosts for name in machines.holders.get(host, ()) if name != own)
    return f", used by {some(list(names))}" if names else ""


def document(fit: Fit) -> dict[str, Any]:
    """Return machines as JSON has them: pods with what each container got, and those without a node."""
    pods = [
        {"podSet": arrival.pod_set, "host": placed.host, "containers": list(map(container_answer, placed.containers))}
        for arrival, placed in fit.placed
    ]
    missing = [
        {
            "podSet": arrival.pod_set,
            **({"host": arrival.host} if arrival.host else {}),
            "against": dict(unplaced.against),
        }
        for arrival, unplaced in fit.missing
    ]
    otherwise = {"otherwise": document(fit.otherwise)} if fit.otherwise else {}
    return {"pods": pods, **({"missing": missing} if missing else {}), **otherwise}
