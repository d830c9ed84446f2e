"""What Kueue's webhooks refuse of queues, cohorts, flavors and Workloads (kueue v0.19.2 pkg/webhooks)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.quantities import Quantity
from trainyard.queueing.model.gates import Gates
from trainyard.queueing.replay.case import Given

NEGATIVE = "must be greater than or equal to 0"
ABOVE_NOMINAL = "must be less than or equal to the nominalQuota"
RESERVED = "the key is reserved for internal kueue use"


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
        yield from _policies(spec)
        yield from _weight(spec)
        yield from _checks(spec)
    elif given.kind == "Cohort":
        yield from _weight(spec)
        yield from _groups(spec, bool(spec.get("parentName")), "parent")
    elif given.kind == "Workload":
        yield from _workload(spec, gates)


def invalid(path: str, value: object, message: str) -> str:
    """Write an error as the API server does."""
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return f"{path}: Invalid value: {shown}: {message}"


def _groups(spec: Mapping[str, Any], has_parent: bool, parent: str) -> Iterator[str]:
    resources, flavors = set[str](), set[str]()
    for number, group in enumerate(spec.get("resourceGroups") or ()):
        path, covered = f"spec.resourceGroups[{number}]", group.get("coveredResources") or ()
        for index, name in enumerate(covered):
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
        yield "spec.preemption: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
    preference = fungible.get("preference")
    if preference and (fungible.get("whenCanBorrow"), fungible.get("whenCanPreempt")) != ("TryNextFlavor",) * 2:
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
                supported = ", ".join(f'"{each}"' for each in sorted(flavors))
                yield f'{path}: Unsupported value: "{flavor}": supported values: {supported}'


def _workload(spec: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    variable = 0
    for number, each in enumerate(spec.get("podSets") or ()):
        path, pods = f"spec.podSets[{number}]", (each.get("template") or {}).get("spec") or {}
        for field in ("initContainers", "containers"):
            for index, container in enumerate(pods.get(field) or ()):
                at = f"{path}.template.spec.{field}[{index}].resources"
                yield from _resources(container.get("resources") or {}, at, gates)
        yield from _resources(pods.get("resources") or {}, f"{path}.template.spec.resources", gates)
        variable += each.get("minCount") is not None and gates["PartialAdmission"]
    if variable > 1:
        yield invalid("spec.podSets", variable, "at most one podSet can use minCount")


def _resources(resources: Mapping[str, Any], path: str, gates: Gates) -> Iterator[str]:
    for field in ("requests", "limits"):
        for name, value in (resources.get(field) or {}).items():
            at = f"{path}.{field}[{name}]"
            if name == "pods":
                yield invalid(at, name, RESERVED)
            if gates["WorkloadValidateResourcesAreNonNegative"]:
                yield from _negative(Quantity.parse(value), at)
