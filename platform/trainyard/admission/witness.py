"""Where a job that fits goes: flavors, hosts, and whose quota it borrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.admission.bid import Bidder
from trainyard.admission.machines import Fit
from trainyard.admission.placed import near
from trainyard.admission.site import Site
from trainyard.admission.words import MOST, some
from trainyard.findings import counted
from trainyard.quantities import Quantity
from trainyard.scheduling import Placed

Answer = Mapping[str, Any]


def places(where: Site, answers: Sequence[Answer], fit: Fit | None = None) -> str:
    """Return the flavors of a job with its pods, and the hosts that they are placed on, by Kueue or on machines."""
    counts: dict[str, int] = {}
    hosts: dict[str, set[str]] = {}
    of_set: dict[str, str] = {}
    for each in (one for answer in answers for one in answer.get("podSets", ())):
        flavor = of_set[each["name"]] = " and ".join(sorted(set(each.get("flavors", {}).values()))) or "no flavor"
        counts[flavor] = counts.get(flavor, 0) + each["count"]
        domains = (each.get("topology") or {}).get("domains", ())
        hosts.setdefault(flavor, set()).update(one["values"][-1] for one in domains)
    pods: dict[str, list[Placed]] = {}
    for arrival, one in fit.placed if fit else ():
        pods.setdefault(of_set[arrival.pod_set], []).append(one)
        hosts[of_set[arrival.pod_set]].add(one.host)
    return ", ".join(
        f"{name}: {counted(count, 'pod')}{on(where, hosts[name])}{near(pods.get(name, ()))}"
        for name, count in counts.items()
    )


def on(where: Site, hosts: set[str]) -> str:
    """Return the hosts of a flavor, and the places that they are in."""
    nodes = where.nodes
    if not hosts or not hosts <= set(nodes):
        return f" in {some(sorted(hosts))}" if hosts else ""
    above = sorted({place for host in hosts if (place := where.above(host))})
    return f" on {counted(len(hosts), 'host')}" + (f" of {some(above)}" if above else "")


def fewer(workloads: Sequence[Mapping[str, Any]], answers: Sequence[Answer]) -> str:
    """Return how many pods are admitted of those that were asked for, nothing where all are."""
    asked = sum(each["count"] for one in workloads for each in one["spec"]["podSets"])
    got = sum(each["count"] for one in answers for each in one.get("podSets", ()))
    return f"{got} of {counted(asked, 'pod')}" if got < asked else ""


def borrowed(bid: Bidder, where: Site, answer: Answer) -> str:
    """Return what the queue of a job borrows while it is there, and the queues of its cohorts that have it to lend."""
    queue = answer["workloads"][bid.keys[0]]["clusterQueue"]
    rows = (answer["clusterQueues"].get(queue) or {}).get("borrowed", {})
    amounts = [
        (f"{text} {resource} of {flavor}", resource)
        for flavor, found in rows.items()
        for resource, text in sorted(found.items(), key=lambda each: "/" not in each[0])
    ]
    if not amounts:
        return f"queue {queue} borrowed when it came, and in the end uses its own quota alone"
    rest = list(dict.fromkeys(resource for _, resource in amounts[1:] if resource != amounts[0][1]))
    beside = f" with {' and '.join(rest) if len(rest) < MOST else some(rest)}" if rest else ""
    lenders = sorted({name for flavor in rows for name in spare(where, answer, queue, flavor)})
    whom = f" from {some(lenders)}" if lenders else ""
    return f"queue {queue} borrows {amounts[0][0]}{beside}{whom}"


def spare(where: Site, answer: Answer, queue: str, flavor: str) -> list[str]:
    """Return the other queues and the cohorts of a queue's tree that have quota of a flavor which they do not use."""
    there = {**where.of("ClusterQueue"), **where.of("Cohort")}
    found = []
    for name in kin(where, queue):
        used = (answer["clusterQueues"].get(name) or {}).get("usage", {}).get(flavor, {})
        if any(left(there[name].get("spec") or {}, flavor, used)):
            found.append(name)
    return found


def kin(where: Site, queue: str) -> list[str]:
    """Return the other queues and the cohorts that have the same cohort at their top as a queue has."""
    cohorts = {name: (each.get("spec") or {}).get("parentName") for name, each in where.of("Cohort").items()}

    def root(name: str | None) -> str | None:
        seen: set[str] = set()
        while name is not None and (above := cohorts.get(name)) and name not in seen:
            seen.add(name)
            name = above
        return name

    tops = {name: root(each["spec"].get("cohortName")) for name, each in where.of("ClusterQueue").items()}
    mine = tops.pop(queue, None)
    tops |= {name: root(name) for name in cohorts}
    return [name for name, top in tops.items() if mine is not None and top == mine]


def left(spec: Mapping[str, Any], flavor: str, used: Mapping[str, str]) -> list[bool]:
    """Say of each resource of a flavor whether more is nominal than used, and may be lent."""
    rows = [
        resource
        for group in spec.get("resourceGroups") or ()
        for each in group["flavors"]
        if each["name"] == flavor
        for resource in each["resources"]
    ]
    return [
        amount(each["nominalQuota"]) > amount(used.get(each["name"], "0")) and amount(each.get("lendingLimit", 1)) > 0
        for each in rows
    ]


def amount(value: Any) -> Any:
    """Return a quantity as a number."""
    return Quantity.parse(str(value)).amount
