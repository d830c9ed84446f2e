"""What Kueue's webhooks refuse of queues, cohorts, flavors and Workloads (kueue v0.19.2 pkg/webhooks)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.quantities import Quantity
from trainyard.queueing.model.gates import Gates
from trainyard.queueing.model.queues import MAY_STOP, TRY_NEXT
from trainyard.queueing.replay.case import Given
from trainyard.queueing.replay.labels import invalid, key_faults, label_faults, selector_faults, value_faults

NEGATIVE = "must be greater than or equal to 0"
ABOVE_NOMINAL = "must be less than or equal to the nominalQuota"
RESERVED = "the key is reserved for internal kueue use"
POSITIVE = "must be greater than 0"
ELASTIC = "kueue.x-k8s.io/elastic-job"


def refused(given: Given, gates: Gates) -> str | None:
    """Return why an object is refused, None where it is not."""
    found = list(_faults(given, gates))
    if len(found) > 1:
        return f"[{', '.join(dict.fromkeys(found))}]"
    return found[0] if found else None


def _faults(given: Given, gates: Gates) -> Iterator[str]:
    spec = given.spec
    if given.kind == "ClusterQueue":
        yield from _groups(spec, bool(spec.get("cohortName")), "cohort")
        yield from selector_faults(spec.get("namespaceSelector") or {}, "spec.namespaceSelector")
        yield from _policies(spec)
        yield from _weight(spec)
        yield from _checks(spec)
    elif given.kind == "Cohort":
        yield from _weight(spec)
        yield from _groups(spec, bool(spec.get("parentName")), "parent")
    elif given.kind == "ResourceFlavor":
        yield from label_faults(spec.get("nodeLabels") or {}, "spec.nodeLabels")
        yield from _taints(spec)
        for index, each in enumerate(spec.get("tolerations") or ()):
            yield from key_faults(each["key"], f"spec.tolerations[{index}].key") if each.get("key") else ()
    elif given.kind == "Workload":
        yield from _workload(given, gates)


def unsupported(path: str, value: str, supported: Iterable[str]) -> str:
    """Write as the API server does that a value is none of those that there are."""
    names = ", ".join(f'"{each}"' for each in supported)
    return f'{path}: Unsupported value: "{value}"' + (f": supported values: {names}" if names else "")


def _written(value: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return a value as Go writes it: in the order of its fields, without those that are empty."""
    return {field: value[field] for field in fields if value.get(field) not in (None, "")}


def _groups(spec: Mapping[str, Any], has_parent: bool, parent: str) -> Iterator[str]:
    resources, flavors = set[str](), set[str]()
    for number, group in enumerate(spec.get("resourceGroups") or ()):
        path, covered = f"spec.resourceGroups[{number}]", group.get("coveredResources") or ()
        for index, name in enumerate(covered):
            yield from key_faults(name, f"{path}.coveredResources[{index}]")
            if name in resources:
                yield f'{path}.coveredResources[{index}]: Duplicate value: "{name}"'
            resources.add(name)
        for index, flavor in enumerate(group.get("flavors") or ()):
            yield from _quotas(flavor, covered, f"{path}.flavors[{index}]", has_parent, parent)
            if flavor["name"] in flavors:
                yield f'{path}.flavors[{index}].name: Duplicate value: "{flavor["name"]}"'
            flavors.add(flavor["name"])


def _quotas(
    flavor: Mapping[str, Any], covered: Sequence[str], path: str, has_parent: bool, parent: str
) -> Iterator[str]:
    for index, quota in enumerate((flavor.get("resources") or ())[: len(covered)]):
        at = f"{path}.resources[{index}]"
        if quota["name"] != covered[index]:
            yield invalid(f"{at}.name", quota["name"], "must match the name in coveredResources")
        nominal = Quantity.parse(quota.get("nominalQuota") or 0)
        yield from _negative(nominal, f"{at}.nominalQuota")
        for field in ("borrowingLimit", "lendingLimit"):
            if quota.get(field) is None:
                continue
            limit, faults = Quantity.parse(quota[field]), list[str]()
            if not has_parent:
                faults.append(invalid(f"{at}.{field}", limit.canonical(), f"must be nil when {parent} is empty"))
            negative = list(_negative(limit, f"{at}.{field}"))
            yield from (*faults, *negative) if field == "borrowingLimit" else (*negative, *faults)
            if field == "lendingLimit" and parent == "cohort" and limit > nominal:
                yield invalid(f"{at}.{field}", limit.canonical(), ABOVE_NOMINAL)


def _negative(quantity: Quantity, path: str) -> Iterator[str]:
    if quantity.amount < 0:
        yield invalid(path, quantity.canonical(), NEGATIVE)


def _policies(spec: Mapping[str, Any]) -> Iterator[str]:
    rule, fungible = spec.get("preemption") or {}, spec.get("flavorFungibility") or {}
    borrow = (rule.get("borrowWithinCohort") or {}).get("policy") or "Never"
    if (rule.get("reclaimWithinCohort") or "Never") == "Never" and borrow != "Never":
        written = {
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": _written(rule["borrowWithinCohort"], ("policy", "maxPriorityThreshold")),
            "withinClusterQueue": rule.get("withinClusterQueue") or "Never",
        }
        yield invalid("spec.preemption", written, "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never")
    preference = fungible.get("preference")
    policies = fungible.get("whenCanBorrow") or MAY_STOP, fungible.get("whenCanPreempt") or TRY_NEXT
    if preference and policies != (TRY_NEXT, TRY_NEXT):
        message = f'preference "{preference}" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor'
        yield invalid("spec.flavorFungibility.preference", preference, message)


def _weight(spec: Mapping[str, Any]) -> Iterator[str]:
    value = (spec.get("fairSharing") or {}).get("weight")
    if value is None:
        return
    weight = Quantity.parse(value)
    yield from _negative(weight, "spec.fairSharing")
    if 0 < weight.amount <= Quantity.parse("1n").amount:
        yield invalid("spec.fairSharing", weight.canonical(), "When not 0, weight must be > 10e-9")


def _checks(spec: Mapping[str, Any]) -> Iterator[str]:
    flavors = [flavor["name"] for group in spec.get("resourceGroups") or () for flavor in group.get("flavors") or ()]
    checks = (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    for number, check in enumerate(checks):
        for index, flavor in enumerate(check.get("onFlavors") or ()):
            if flavor not in flavors:
                path = f"spec.admissionChecksStrategy.admissionChecks[{number}].onFlavors[{index}]"
                yield unsupported(path, flavor, sorted(flavors))


def _taints(spec: Mapping[str, Any]) -> Iterator[str]:
    seen = set[tuple[str, str]]()
    for index, taint in enumerate(spec.get("nodeTaints") or ()):
        same, at = (str(taint.get("key") or ""), str(taint.get("effect") or "")), f"spec.nodeTaints[{index}]"
        yield from key_faults(same[0], f"{at}.key")
        yield from value_faults(str(taint.get("value") or ""), f"{at}.value")
        if same in seen:
            shown = {"key": same[0], **_written(taint, ("value",)), "effect": same[1]}
            value = json.dumps(shown, separators=(",", ":"))
            yield f"{at}: Duplicate value: {value}: taints must be unique by key and effect pair"
        seen.add(same)


def _workload(given: Given, gates: Gates) -> Iterator[str]:
    spec, variable = given.spec, 0
    for number, each in enumerate(spec.get("podSets") or ()):
        path, pods = f"spec.podSets[{number}]", (each.get("template") or {}).get("spec") or {}
        for field in ("initContainers", "containers"):
            for index, container in enumerate(pods.get(field) or ()):
                at = f"{path}.template.spec.{field}[{index}].resources"
                yield from _resources(container.get("resources") or {}, at, gates)
        yield from _resources(pods.get("resources") or {}, f"{path}.template.spec.resources", gates)
        if gates["TASValidateWorkloadSliceSize"]:
            yield from _slices(each.get("topologyRequest") or {}, f"{path}.topologyRequest")
        variable += each.get("minCount") is not None and gates["PartialAdmission"]
    if variable > 1:
        yield invalid("spec.podSets", variable, "at most one podSet can use minCount")
    if variable and gates["ElasticJobsViaWorkloadSlices"] and given.annotations.get(ELASTIC) == "true":
        yield invalid("spec.podSets", variable, "partial admission and elastic job cannot be used together")
    yield from _reclaimable(given)


def _slices(request: Mapping[str, Any], path: str) -> Iterator[str]:
    at, size = f"{path}.podSetSliceSize", request.get("podSetSliceSize")
    if request.get("podSetSliceRequiredTopology") is None:
        if size is not None:
            yield f"{at}: Forbidden: may not be set when podSetSliceRequiredTopology is not specified"
    elif size is None:
        yield f"{at}: Required value: must be set when podSetSliceRequiredTopology is specified"
    elif size <= 0:
        yield invalid(at, size, POSITIVE)
    for index, each in enumerate(request.get("podsetSliceRequiredTopologyConstraints") or ()):
        if (each.get("size") or 0) <= 0:
            at = f"{path}.podsetSliceRequiredTopologyConstraints[{index}].size"
            yield invalid(at, each.get("size") or 0, POSITIVE)


def _reclaimable(given: Given) -> Iterator[str]:
    sets = {each.get("name") or "main": each.get("count") for each in given.spec.get("podSets") or ()}
    for each in given.status.get("reclaimablePods") or ():
        path, count = f"status.reclaimablePods[{each['name']}]", each.get("count") or 0
        most = sets.get(each["name"])
        if each["name"] not in sets:
            yield unsupported(f"{path}.name", each["name"], sets)
        elif count > (1 if most is None else most):
            yield invalid(f"{path}.count", count, f"should be less or equal to {1 if most is None else most}")


def _resources(resources: Mapping[str, Any], path: str, gates: Gates) -> Iterator[str]:
    for field in ("requests", "limits"):
        for name, value in (resources.get(field) or {}).items():
            at = f"{path}.{field}[{name}]"
            if name == "pods":
                yield invalid(at, name, RESERVED)
            if gates["WorkloadValidateResourcesAreNonNegative"]:
                yield from _negative(Quantity.parse(value), at)
