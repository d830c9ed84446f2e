"""Devices that pods claim, as quota counts them: by the resources that Kueue's configuration maps their classes to.

Source: kueue v0.19.2 pkg/dra/claims.go, extended_resources.go, pkg/controller/core/workload_controller.go. Not looked
at are the devices that a driver has: selectors in CEL, counters and capacities (`sources` of a mapping).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.model.amounts import clamp_amount, rank
from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.requests.limits import quantities
from trainyard.upstream.kueue.requests.messages import join_messages
from trainyard.upstream.pods.demand import Resources, add_amounts
from trainyard.upstream.pods.resources import is_huge_page

KINDS = ("initContainers", "containers")
NATIVE = "kubernetes.io/"
"""Names with this in front belong to Kubernetes and are no extended resources."""

GATE, EXTENDED_GATE = "KueueDRAIntegration", "KueueDRAIntegrationExtendedResource"
OFF = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"
CLAIMS = "KueueDRAIntegration feature does not support use of resource claims"

Spec = Mapping[str, Any]


class Refused(Exception):  # noqa: N818  # it is an answer, in Kueue's words, not an error
    """Pods claim devices in a way that Kueue does not count."""


class Charge(NamedTuple):
    """What devices change in the requests of a pod."""

    gone: frozenset[str]
    """Extended resources that are counted otherwise."""
    instead: Resources


NOTHING = Charge(frozenset(), {})


def refusal_of_devices(workload: Workload, specs: Sequence[Spec], around: Surroundings) -> str | None:
    """Return why Kueue refuses the devices that pods claim, None where it does not."""
    try:
        charges(workload, specs, around)
    except Refused as refused:
        return str(refused)
    return None


def device_charges(workload: Workload, specs: Sequence[Spec], around: Surroundings) -> list[Charge]:
    """Return the changes that devices make to the requests of each pod set; nothing where Kueue refuses them."""
    try:
        return charges(workload, specs, around)
    except Refused:
        return [NOTHING] * len(specs)


def charges(workload: Workload, specs: Sequence[Spec], around: Surroundings) -> list[Charge]:
    """Return the changes that devices make to the requests of each pod set; raises Refused."""
    claims = [claim for spec in specs for claim in spec.get("resourceClaims") or ()]
    if not around.gates[GATE]:
        if claims and around.gates["KueueDRARejectWorkloadsWhenDRADisabled"]:
            raise Refused(OFF)
        return [NOTHING] * len(specs)
    classes = class_by_resource(around.device_classes) if around.gates[EXTENDED_GATE] else {}
    if not claims and not any(name in classes for spec in specs for name in extended_amounts(spec)):
        return [NOTHING] * len(specs)
    if any(claim.get("resourceClaimName") is not None for claim in claims):
        raise Refused(CLAIMS)
    mapped = mapping(around.resources)
    by_claim = [claimed_amounts(workload, index, spec, mapped, around) for index, spec in enumerate(specs)]
    fractions = [message for index, spec in enumerate(specs) for message in fractional(index, spec, classes)]
    if fractions:
        raise Refused(join_messages(fractions))
    found = []
    for claim, spec in zip(by_claim, specs, strict=True):
        gone, instead = served_resources(spec, classes, mapped)
        found.append(Charge(gone, add_amounts((claim, instead))))
    return found


def mapping(config: Mapping[str, Any]) -> dict[str, str]:
    """Return by DeviceClass the resource that its devices count as; the first that names the class."""
    found: dict[str, str] = {}
    for device_class_mapping in config.get("deviceClassMappings") or ():
        for name in device_class_mapping.get("deviceClassNames") or ():
            found.setdefault(name, device_class_mapping.get("name") or "")
    return found


def claimed_amounts(
    workload: Workload, index: int, spec: Spec, mapped: Mapping[str, str], around: Surroundings
) -> dict[str, Quantity]:
    """Return the amounts that the claim templates of one pod set's pods count as; raises Refused."""
    found: dict[str, Quantity] = {}
    pod_set = workload.pod_sets[index].name
    for at, claim in enumerate(spec.get("resourceClaims") or ()):
        name = claim.get("resourceClaimTemplateName")
        if name is None:
            continue
        path = f"spec.podSets[{index}].template.spec.resourceClaims[{at}]"
        template = around.claim_templates.get((workload.namespace, name))
        if template is None:
            missing = f'resourceclaimtemplates.resource.k8s.io "{name}" not found'
            why = f"failed to get claim spec for ResourceClaimTemplate {name} in podset {pod_set}: {missing}"
            raise Refused(f"{path}: Internal error: {why}")
        for device_class, count in sorted(devices(template, name, path).items(), key=lambda request: rank(request[0])):
            if device_class not in mapped:
                why = f"DeviceClass {device_class} is not mapped in DRA configuration for podset {pod_set}"
                raise Refused(f'{path}.resourceClaimTemplateName: Not found: "{why}"')
            found = add_amounts((found, {mapped[device_class]: Quantity(Decimal(count))}))
    return found


def devices(template: Mapping[str, Any], name: str, path: str) -> dict[str, int]:
    """Return how many devices of each class a claim template asks for; raises Refused for what is not counted."""
    counts: dict[str, int] = {}
    asked = ((template.get("spec") or {}).get("spec") or {}).get("devices") or {}
    for index, request in enumerate(asked.get("requests") or ()):
        at = f"{path}.devices.requests[{index}]"
        exactly = request.get("exactly")
        mode = (exactly or {}).get("allocationMode") or ""
        if request.get("firstAvailable") is not None:
            raise uncounted_refusal(at, "null", name, "FirstAvailable device selection is not supported")
        if exactly is None:
            raise uncounted_refusal(at, "null", name, "Exactly must be set if FirstAvailable is nil")
        if exactly.get("adminAccess"):
            raise uncounted_refusal(f"{at}.exactly.adminAccess", "null", name, "AdminAccess is not supported")
        if mode == "All":
            raise uncounted_refusal(
                f"{at}.exactly.allocationMode", '"All"', name, "AllocationMode 'All' is not supported"
            )
        if mode != "ExactCount":
            why = f"unsupported allocation mode: {mode}"
            raise uncounted_refusal(f"{at}.exactly.allocationMode", f'"{mode}"', name, why)
        device_class = exactly.get("deviceClassName") or ""
        if device_class:
            counts[device_class] = clamp_amount(counts.get(device_class, 0) + (exactly.get("count") or 0))
    return counts


def uncounted_refusal(path: str, value: str, name: str, why: str) -> Refused:
    """Return the refusal of a claim template's field."""
    return Refused(f"{path}: Invalid value: {value}: ResourceClaimTemplate {name}: {why}")


def class_by_resource(classes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return by extended resource the DeviceClass that serves it: the newest, of several as new the first by name."""
    found: dict[str, str] = {}
    order = sorted(sorted(classes), key=lambda name: created_time(classes[name]), reverse=True)
    for name in order:
        resource = (classes[name].get("spec") or {}).get("extendedResourceName")
        if resource:
            found.setdefault(resource, name)
    return found


def created_time(value: Mapping[str, Any]) -> str:
    """Return when an object was made, as it is written; the texts sort as the times do."""
    return str((value.get("metadata") or {}).get("creationTimestamp") or "")


def extended_amounts(spec: Spec) -> dict[str, tuple[list[Quantity], list[Quantity]]]:
    """Return the positive amounts of extended resources that init containers and containers ask for."""
    found: dict[str, tuple[list[Quantity], list[Quantity]]] = {}
    for kind, _, name, amount in extended_requests(spec):
        found.setdefault(name, ([], []))[KINDS.index(kind)].append(amount)
    return found


def extended_requests(spec: Spec) -> Iterator[tuple[str, int, str, Quantity]]:
    """Yield the positive amounts of extended resources by kind and place of the container, and by name."""
    for kind in KINDS:
        for at, container in enumerate(spec.get(kind) or ()):
            for name, amount in quantities((container.get("resources") or {}).get("requests")).items():
                if "/" in name and not name.startswith(NATIVE) and not is_huge_page(name) and amount.amount > 0:
                    yield kind, at, name, amount


def fractional(index: int, spec: Spec, classes: Mapping[str, str]) -> Iterator[str]:
    """Yield Kueue's messages on fractions of devices, resource by resource."""
    for kind, at, name, amount in sorted(extended_requests(spec), key=lambda extended_request: extended_request[2]):
        if name in classes and amount.amount != amount.amount.to_integral_value():
            path = f"spec.podSets[{index}].template.spec.{kind}[{at}].resources.requests.{name}"
            yield f'{path}: Invalid value: "{amount.canonical()}": extended resource quantity must be an integer'


def served_resources(
    spec: Spec, classes: Mapping[str, str], mapped: Mapping[str, str]
) -> tuple[frozenset[str], dict[str, Quantity]]:
    """Return the extended resources that devices serve, and what they count as.

    Sidecars count as the init containers that they are: the largest of those, or all other containers.
    """
    gone, instead = set[str](), dict[str, Quantity]()
    for name, (before, beside) in sorted(extended_amounts(spec).items()):
        if name in classes:
            total = max([sum((quantity.value() for quantity in beside), 0), *(quantity.value() for quantity in before)])
            gone.add(name)
            instead = add_amounts((instead, {mapped.get(classes[name], name): Quantity(Decimal(total))}))
    return frozenset(gone), instead
