"""Where a job that fits goes: flavors, hosts, and whose quota it borrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.base.findings import count_of
from trainyard.base.quantities import Quantity
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.machines import Fit
from trainyard.judge.admission.placed import near
from trainyard.judge.admission.site import Site
from trainyard.judge.admission.words import MOST, some
from trainyard.upstream.scheduler import Placed

Answer = Mapping[str, Any]


NO_FLAVOR, ANY_POOL = "no flavor", "any pool"
"""Where pods are that Kueue gave no flavor, or that select no pool."""


def places(where: Site, answers: Sequence[Answer], fit: Fit | None = None, *, noun: str = "flavor") -> str:
    """Return the pods of a job by flavor, with their hosts; `noun` is `pool` where Volcano starts the job."""
    counts: dict[str, int] = {}
    hosts: dict[str, set[str]] = {}
    of_set: dict[str, str] = {}
    for item in (one for answer in answers for one in answer.get("podSets", ())):
        flavor = of_set[item["name"]] = " and ".join(sorted(set(item.get("flavors", {}).values()))) or NO_FLAVOR
        counts[flavor] = counts.get(flavor, 0) + item["count"]
        domains = (item.get("topology") or {}).get("domains", ())
        hosts.setdefault(flavor, set()).update(domain["values"][-1] for domain in domains)
    pods: dict[str, list[Placed]] = {}
    for arrival, one in fit.placed if fit else ():
        pods.setdefault(of_set[arrival.pod_set], []).append(one)
        hosts[of_set[arrival.pod_set]].add(one.host)
    return ", ".join(
        f"{count_of(count, 'pod')} in {name if name in {NO_FLAVOR, ANY_POOL} else f'{noun} {name}'}"
        f"{on(where, hosts[name])}{near(pods.get(name, ()))}"
        for name, count in counts.items()
    )


def on(where: Site, hosts: set[str]) -> str:
    """Return the hosts of a flavor, and the places that they are in."""
    nodes = where.nodes
    if not hosts or not hosts <= set(nodes):
        return f" in {some(sorted(hosts))}" if hosts else ""
    above = sorted({place for host in hosts if (place := where.above(host))})
    return f" on {count_of(len(hosts), 'host')}" + (f" of {some(above)}" if above else "")


def fewer(workloads: Sequence[Mapping[str, Any]], answers: Sequence[Answer]) -> str:
    """Return how many pods are admitted of those that were asked for, nothing where all are."""
    asked = sum(pod_set["count"] for workload in workloads for pod_set in workload["spec"]["podSets"])
    got = sum(pod_set["count"] for answer in answers for pod_set in answer.get("podSets", ()))
    return f"{got} of {count_of(asked, 'pod')}" if got < asked else ""


def borrowing_text(bid: Bidder, where: Site, answer: Answer) -> str:
    """Return the quota that a job's queue borrows, and the queues of its cohorts that can lend it."""
    queue = answer["workloads"][bid.keys[0]]["clusterQueue"]
    rows = (answer["clusterQueues"].get(queue) or {}).get("borrowed", {})
    amounts = [
        (f"{text} {resource} of flavor {flavor}", resource)
        for flavor, found in rows.items()
        for resource, text in sorted(found.items(), key=lambda pair: "/" not in pair[0])
    ]
    if not amounts:
        return f"queue {queue} borrows at first, and in the end uses only its own quota"
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
    cohorts = {name: (value.get("spec") or {}).get("parentName") for name, value in where.of("Cohort").items()}

    def root(name: str | None) -> str | None:
        seen: set[str] = set()
        while name is not None and (above := cohorts.get(name)) and name not in seen:
            seen.add(name)
            name = above
        return name

    tops = {name: root(value["spec"].get("cohortName")) for name, value in where.of("ClusterQueue").items()}
    mine = tops.pop(queue, None)
    tops |= {name: root(name) for name in cohorts}
    return [name for name, top in tops.items() if mine is not None and top == mine]


def left(spec: Mapping[str, Any], flavor: str, used: Mapping[str, str]) -> list[bool]:
    """Return for each resource of a flavor whether unused nominal quota is left to lend."""
    rows = [
        resource
        for group in spec.get("resourceGroups") or ()
        for one_flavor in group["flavors"]
        if one_flavor["name"] == flavor
        for resource in one_flavor["resources"]
    ]
    return [
        amount(row["nominalQuota"]) > amount(used.get(row["name"], "0")) and amount(row.get("lendingLimit", 1)) > 0
        for row in rows
    ]


def amount(value: Any) -> Any:
    """Return a quantity as a number."""
    return Quantity.parse(str(value)).amount
