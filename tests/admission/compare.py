"""What is said of jobs, and what became of them on a cluster: wherever the two are not one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]

OUTCOMES = {"admitted": "Admitted", "reserved": "QuotaReserved"}
HOSTNAME = "kubernetes.io/hostname"


def disagreements(said: Object, found: Object) -> Iterator[str]:
    """Yield what a cluster did otherwise than `trainyard admit` says of a job in its JSON."""
    there = said["situations"]["together"]
    mine = [item for _, item in sorted(zip(said["workloads"], there, strict=True), key=lambda one: one[0])]
    for ours, theirs in zip(mine, found["workloads"], strict=True):
        yield from of_workload(ours, theirs)
    yield from of_pods(said["machines"].get("together"), mine, found["pods"])


def of_workload(ours: Object, theirs: Object) -> Iterator[str]:
    """Yield how Kueue decided otherwise."""
    outcome = OUTCOMES.get(ours["outcome"], "Pending")
    if theirs["outcome"] != outcome:
        yield f"outcome {theirs['outcome']}, not {outcome}: {theirs['message']}"
    elif outcome != "Pending":
        for mine, real in zip(ours["podSets"], theirs["podSets"], strict=True):
            for field in ("name", "count", "flavors", "topology"):
                if shape(mine.get(field)) != shape(real.get(field)):
                    yield f"{field} of {mine['name']} {shape(real.get(field))}, not {shape(mine.get(field))}"
    lost = sorted(eviction["reason"] for eviction in ours.get("evictions", ()))
    if lost != theirs["evictions"]:
        yield f"evicted for {theirs['evictions']}, not {lost}"


def shape(value: Any) -> Any:
    """Return a value as it is compared: of a topology the pods in each domain, by the lowest level."""
    if isinstance(value, Mapping) and "domains" in value:
        return {
            "levels": value["levels"][-1:],
            "pods": {domain["values"][-1]: domain["count"] for domain in value["domains"]},
        }
    return value


def of_pods(fit: Object | None, mine: Sequence[Object], pods: Mapping[str, str]) -> Iterator[str]:
    """Yield how the machines took pods otherwise: all of a job that fits, not all of one that waits for a node."""
    hosts = Counter(host for host in pods.values() if host)
    if fit is None:
        waiting = all(OUTCOMES.get(item["outcome"]) is None for item in mine)
        if waiting and hosts:
            yield f"{hosts.total()} pods have nodes, and the job has no quota"
        return
    missing = len(fit.get("missing", ()))
    total = len(fit["pods"]) + missing
    if total != len(pods):
        yield f"{len(pods)} pods, not {total}"
    elif "otherwise" in fit:
        return
    elif not missing and hosts.total() < total:
        yield f"{total - hosts.total()} of {total} pods have no node"
    elif missing and hosts.total() == total:
        yield f"all {total} pods have nodes, not {total - missing}"
    expected = Counter(pod["host"] for pod in fit["pods"])
    if placed(mine) and not missing and hosts != expected:
        yield f"pods on {dict(sorted(hosts.items()))}, not {dict(sorted(expected.items()))}"


def placed(mine: Sequence[Object]) -> bool:
    """Whether Kueue assigned a host to every pod."""
    sets = [one for item in mine for one in item.get("podSets", ())]
    return bool(sets) and all(HOSTNAME in (set_.get("topology") or {}).get("levels", ()) for set_ in sets)
