"""What each queue and cohort of a cluster has, uses and is asked for, in each resource of each flavor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.labels import POOL
from trainyard.faces.pictures.decided import Decided
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.outcomes import holds
from trainyard.judge.admission.witness import amount
from trainyard.render.sizing.gpus import offers

Place = tuple[str, str]
"""A flavor and a resource."""

Key = tuple[bool, str]
"""Whether it is a cohort, and its name: a queue may be called the same."""

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Amounts:
    """Of one queue or cohort."""

    nominal: Mapping[Place, float] = field(default_factory=dict)
    lends: Mapping[Place, float] = field(default_factory=dict)
    """What it lends at most."""
    used: Mapping[Place, float] = field(default_factory=dict)
    asked: Mapping[Place, float] = field(default_factory=dict)
    never: Mapping[Place, float] = field(default_factory=dict)
    """Of that, what jobs ask that never get quota."""

    def spare(self, place: Place) -> float:
        """Return the unused quota that other queues may borrow."""
        return max(0.0, min(self.nominal.get(place, 0) - self.used.get(place, 0), self.lends.get(place, 0)))

    def borrowed(self, place: Place) -> float:
        """Return the amount used beyond the nominal quota."""
        return max(0.0, self.used.get(place, 0) - self.nominal.get(place, 0))


def amounts(decided: Decided | None) -> dict[Key, Amounts]:
    """Return the amounts of all queues and cohorts of a cluster; none where Kueue admits nothing."""
    if decided is None or decided.where is None:
        return {}
    asked, told = asks(decided, decided.asked), decided.answer.get("clusterQueues", {})
    never = asks(decided, (bidder for bidder in decided.asked if never_fits(decided, bidder)))
    found = {(True, name): Amounts(*quota(value)) for name, value in decided.where.of("Cohort").items()}
    for name, value in decided.where.of("ClusterQueue").items():
        uses = used_amounts((told.get(name) or {}).get("usage", {}))
        found[False, name] = Amounts(*quota(value), uses, asked.get(name, {}), never.get(name, {}))
    return found


def quota(value: Object) -> tuple[dict[Place, float], dict[Place, float]]:
    """Return the nominal quota of a queue or a cohort, and what of it may be lent; by default all."""
    nominal, lends = {}, {}
    for group in (value.get("spec") or {}).get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for row in flavor["resources"]:
                place = flavor["name"], row["name"]
                nominal[place] = float(amount(row["nominalQuota"]))
                lends[place] = float(amount(row.get("lendingLimit", row["nominalQuota"])))
    return nominal, lends


def used_amounts(usage: Mapping[str, Mapping[str, str]]) -> dict[Place, float]:
    """Return the amounts that a queue uses."""
    return {(flavor, name): float(amount(text)) for flavor, row in usage.items() for name, text in row.items()}


def never_fits(decided: Decided, ask: Bidder) -> bool:
    """Whether a job never fits, and holds no quota."""
    return decided.word(ask) == "never fits" and not all(map(holds, decided.of(ask)))


def asks(decided: Decided, jobs: Iterable[Bidder]) -> dict[str, dict[Place, float]]:
    """Return the requests of jobs by queue; waiting jobs count in the flavor of their pool."""
    found: dict[str, dict[Place, float]] = {}
    for ask in jobs:
        for workload, answer in zip(ask.workloads, decided.of(ask), strict=True):
            mine = found.setdefault(answer.get("clusterQueue") or "", {})
            pools = {pod_set["name"]: pool_of(pod_set) for pod_set in workload["spec"]["podSets"]}
            for pods, name, count in held_resources(answer):
                place = pods.get("flavors", {}).get(name, pools.get(pods["name"], "")), name
                mine[place] = mine.get(place, 0) + count
    return found


def held_resources(answer: Object) -> Iterator[tuple[Object, str, float]]:
    """Yield the resources that each pod set of a Workload holds or requests, summed over its pods."""
    for pods in answer.get("podSets") or answer.get("requests") or ():
        for name, text in (pods.get("usage") or pods.get("total") or {}).items():
            yield pods, name, float(amount(text))


def pool_of(pods: Object) -> str:
    """Return the pool that the pods of a pod set select; its flavor has the same name."""
    return str((pods["template"]["spec"].get("nodeSelector") or {}).get(POOL) or "")


def gpu_resources(decided: Decided) -> frozenset[str]:
    """Return the resources by which nodes of a cluster offer GPUs and parts of them."""
    return frozenset(offer.resource for pool in decided.cluster.pools.values() for offer in offers(pool))


def places(gpus: frozenset[str], every: Iterable[Amounts]) -> list[Place]:
    """Return the counted resources: per flavor its GPUs, or CPUs where it has none; whole GPUs first."""
    there = {
        place
        for one_amounts in every
        for row in (one_amounts.nominal, one_amounts.asked)
        for place, much in row.items()
        if much
    }
    devices = {place for place in there if place[1] in gpus}
    rest = {place for place in there if place[1] == "cpu"} - {(flavor, "cpu") for flavor, _ in devices}
    return [*sorted(devices, key=lambda device: (not device[1].endswith("/gpu"), device)), *sorted(rest)]
