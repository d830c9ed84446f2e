"""What one pod asks for: of a node, and of quota.

Source: kueue v0.19.2 pkg/resources/requests.go, pkg/workload/workload.go totalRequestsFromPodSets,
applyResourceTransformations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from trainyard.base.quantities import WIDE, Quantity
from trainyard.upstream.kueue.model.amounts import clamp_amount
from trainyard.upstream.kueue.model.nodes import RunningPod
from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.requests.annotations import IN_TOPOLOGIES
from trainyard.upstream.kueue.requests.devices import device_charges
from trainyard.upstream.kueue.requests.limits import quantities
from trainyard.upstream.pods.demand import Resources, add_amounts, pod_requests, requests_of
from trainyard.upstream.pods.pod import containers_of
from trainyard.upstream.pods.resources import CPU, PODS

ENDED = ("Succeeded", "Failed")


def written_amounts(spec: Mapping[str, Any]) -> dict[str, Quantity]:
    """Return the requests of a pod as written; raises ValueError for a value that is no quantity."""
    own = quantities((spec.get("resources") or {}).get("requests"))
    containers = tuple(containers_of(spec, Quantity.parse))
    return pod_requests(containers, requests_of, own=own, overhead=quantities(spec.get("overhead")))


def counted_amounts(resources: Resources) -> dict[str, int]:
    """Return quantities as amounts, rounded up."""
    return {
        name: clamp_amount(amount.milli_value() if name == CPU else amount.value())
        for name, amount in resources.items()
    }


def pod_amounts(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return the amounts that a pod requests of a node, given its adjusted specification."""
    return counted_amounts(written_amounts(spec))


def count_requests(
    workload: Workload, specs: Sequence[Mapping[str, Any]], around: Surroundings
) -> tuple[dict[str, int], ...]:
    """Return the quota requests of one pod of each pod set, given their adjusted specifications."""
    replaced = device_charges(workload, specs, around)
    found = []
    for spec, (gone, instead) in zip(specs, replaced, strict=True):
        wanted = transform_resources(without_excluded(written_amounts(spec), around.resources), around.resources)
        kept = {name: amount for name, amount in wanted.items() if name not in gone}
        amounts = counted_amounts(add_amounts((kept, instead)))
        found.append({name: max(amount, 0) for name, amount in amounts.items()})
    return tuple(found)


def without_excluded(wanted: Resources, config: Mapping[str, Any]) -> Resources:
    """Return the resources whose names begin with none of the excluded prefixes."""
    prefixes = tuple(config.get("excludeResourcePrefixes") or ())
    return {name: amount for name, amount in wanted.items() if not name.startswith(prefixes)} if prefixes else wanted


def transform_resources(wanted: Resources, config: Mapping[str, Any]) -> Resources:
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
            made = add_amounts((made, {output: times(base, quantity) for output, quantity in outputs.items()}))
    return add_amounts((kept, {name: max(amount, Quantity(Decimal(0))) for name, amount in made.items()}))


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
        spec = {name: entry for name, entry in pod.spec.items() if name != "nodeName"}
        key = json.dumps(spec, sort_keys=True, default=str)
        if key not in known:
            known[key] = {PODS: 1, **pod_amounts(spec)}
        for name, amount in known[key].items():
            there[name] = there.get(name, 0) + amount
    return found
