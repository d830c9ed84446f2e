"""What one pod asks for: of a node, and of quota.

Source: kueue v0.19.2 pkg/resources/requests.go, pkg/workload/workload.go totalRequestsFromPodSets,
applyResourceTransformations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from trainyard.pods.demand import Resources, added, pod_requests, requests_of
from trainyard.pods.pod import containers_of
from trainyard.pods.resources import CPU, PODS
from trainyard.quantities import WIDE, Quantity
from trainyard.queueing.model.amounts import clamped
from trainyard.queueing.model.nodes import RunningPod
from trainyard.queueing.model.placements import Surroundings
from trainyard.queueing.model.workloads import Workload
from trainyard.queueing.requests.annotations import IN_TOPOLOGIES
from trainyard.queueing.requests.devices import charged
from trainyard.queueing.requests.limits import quantities

ENDED = ("Succeeded", "Failed")


def asked(spec: Mapping[str, Any]) -> dict[str, Quantity]:
    """Return what a pod asks for, as it is written; raises ValueError for what is no quantity."""
    own = quantities((spec.get("resources") or {}).get("requests"))
    containers = tuple(containers_of(spec, Quantity.parse))
    return pod_requests(containers, requests_of, own=own, overhead=quantities(spec.get("overhead")))


def counted_amounts(resources: Resources) -> dict[str, int]:
    """Return quantities as amounts, rounded up."""
    return {
        name: clamped(amount.milli_value() if name == CPU else amount.value()) for name, amount in resources.items()
    }


def pod_amounts(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return what a pod asks of a node, given its adjusted specification."""
    return counted_amounts(asked(spec))


def counted(workload: Workload, specs: Sequence[Mapping[str, Any]], around: Surroundings) -> tuple[dict[str, int], ...]:
    """Return what one pod of each pod set asks of quota, given their adjusted specifications."""
    replaced = charged(workload, specs, around)
    found = []
    for spec, (gone, instead) in zip(specs, replaced, strict=True):
        wanted = transformed(without_excluded(asked(spec), around.resources), around.resources)
        kept = {name: amount for name, amount in wanted.items() if name not in gone}
        amounts = counted_amounts(added((kept, instead)))
        found.append({name: max(amount, 0) for name, amount in amounts.items()})
    return tuple(found)


def without_excluded(wanted: Resources, config: Mapping[str, Any]) -> Resources:
    """Return the resources whose names begin with none of the excluded prefixes."""
    prefixes = tuple(config.get("excludeResourcePrefixes") or ())
    return {name: amount for name, amount in wanted.items() if not name.startswith(prefixes)} if prefixes else wanted


def transformed(wanted: Resources, config: Mapping[str, Any]) -> Resources:
    """Return the resources after the configured transformations; what they make is at least nothing in sum."""
    rules = {rule.get("input"): rule for rule in config.get("transformations") or ()}
    if not rules.keys() & wanted.keys():
        return wanted
    kept, made = dict[str, Quantity](), dict[str, Quantity]()
    for name, amount in wanted.items():
        rule = rules.get(name)
        if rule is None or (rule.get("strategy") or "Retain") == "Retain":
            kept[name] = amount
        if rule is not None:
            factor = wanted.get(rule.get("multiplyBy") or "")
            base = amount if factor is None else times(amount, factor)
            outputs = quantities(rule.get("outputs"))
            made = added((made, {output: times(base, each) for output, each in outputs.items()}))
    return added((kept, {name: max(amount, Quantity(Decimal(0))) for name, amount in made.items()}))


def times(amount: Quantity, factor: Quantity) -> Quantity:
    """Return the exact product of two quantities."""
    return Quantity(WIDE.multiply(amount.amount, factor.amount), amount.format)


def held_by(pods: Iterable[RunningPod]) -> dict[str, dict[str, int]]:
    """Return by node what running pods outside of topologies hold (pkg/controller/tas/non_tas_usage_controller.go)."""
    found: dict[str, dict[str, int]] = {}
    known: dict[str, dict[str, int]] = {}
    for pod in pods:
        if not pod.node or pod.phase in ENDED or not IN_TOPOLOGIES.isdisjoint(pod.annotations):
            continue
        there = found.setdefault(pod.node, {})
        spec = {name: each for name, each in pod.spec.items() if name != "nodeName"}
        key = json.dumps(spec, sort_keys=True, default=str)
        if key not in known:
            known[key] = {PODS: 1, **pod_amounts(spec)}
        for name, amount in known[key].items():
            there[name] = there.get(name, 0) + amount
    return found
