"""ResourceClaims, ResourceClaimTemplates and DeviceClasses: requests for devices, constraints, configuration.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/resource/validation/validation.go, compared with v1.34.4 and v1.36.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.admissionregistration.matching import is_blank
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.expressions import compile_error, devices
from trainyard.upstream.apiserver.core.pods.sources import driver_name
from trainyard.upstream.apiserver.core.resourcenames import is_extended
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, each, fill, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_annotations, check_labels
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/resource/validation/validation.go"
REQUEST = Rule(
    "core/device-request",
    f"{SOURCE} validateDeviceRequest",
    title="Device requests have unique names, a device class and a valid count.",
    fix="set exactly one of exactly and firstAvailable, and correct the field in the message",
)
CONSTRAINT = Rule(
    "core/device-constraint",
    f"{SOURCE} validateDeviceConstraint",
    title="Constraints of a resource claim name requests of that claim and one attribute.",
    fix="use names from spec.devices.requests, and a qualified attribute",
)
CONFIG = Rule(
    "core/device-config",
    f"{SOURCE} validateDeviceConfiguration",
    title="Device configurations name requests of the claim and a driver's parameters.",
    fix="set opaque.driver and opaque.parameters, and names from spec.devices.requests",
)
SELECTOR = Rule(
    "core/device-selector",
    f"{SOURCE} validateSelector",
    title="Device selectors are CEL expressions that return a boolean.",
    fix="correct the expression; the message gives the compiler's error",
)
CLASS = Rule(
    "core/device-class",
    f"{SOURCE} validateDeviceClassSpec",
    title="A DeviceClass has valid selectors and configuration.",
    fix="use an extended resource name such as example.com/gpu",
)
TEMPLATE = Rule(
    "core/device-claim-template",
    f"{SOURCE} validateResourceClaimTemplateSpec",
    title="A ResourceClaimTemplate sets only labels and annotations for its claims.",
    fix="remove the other metadata",
)
IMMUTABLE = Rule(
    "update/device-claim",
    f"{SOURCE} ValidateResourceClaimUpdate",
    title="An update keeps the spec of a ResourceClaim or ResourceClaimTemplate.",
    fix="restore spec, or create another claim",
)

MODES = ("All", "ExactCount")
_MOST = 32
_MOST_ALTERNATIVES = 8
_MOST_TOLERATIONS = 16
_LONGEST = 10 * 1024
_LONGEST_ID = 32
_BOTH_MINOR = 37
"""From here on the second attribute of a constraint is looked at beside the first."""
Requests = dict[str, set[str]]


def default_claim(value: Object, minor: int) -> None:
    """Default a ResourceClaim."""
    if (spec := child(value, "spec")) is not None:
        _device_requests(spec, minor)


def default_template(value: Object, minor: int) -> None:
    """Default a ResourceClaimTemplate."""
    if (spec := child(inner(value, "spec"), "spec")) is not None:
        _device_requests(spec, minor)


def _device_requests(spec: Object, minor: int) -> None:
    for _, request in each(inner(spec, "devices"), "requests"):
        exact = child(request, "exactly")
        for asked in [exact, *(sub for _, sub in each(request, "firstAvailable"))]:
            if asked is not None:
                _device_request(asked, minor)
    if minor < 36:
        for _, constraint in each(inner(spec, "devices"), "constraints"):
            constraint.pop("distinctAttribute", None)


def _device_request(asked: Object, minor: int) -> None:
    asked.pop("derivedAttributes", None)
    fill(asked, "allocationMode", "ExactCount")
    if asked["allocationMode"] == "ExactCount":
        fill(asked, "count", 1)
    if minor == 35:  # 1.34 keeps them although their gate is off, and from 1.36 on it is on
        asked.pop("tolerations", None)
    if minor < 36:
        asked.pop("capacity", None)


def default_class(value: Object, minor: int) -> None:
    """Drop from a DeviceClass what the release does not look at."""
    spec = child(value, "spec")
    if spec is not None and minor < 36:
        spec.pop("extendedResourceName", None)


def check_claim(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a ResourceClaim, whose specification may not change."""
    if old is None:
        yield from check_claim_spec(inner(value, "spec"), ("spec",), minor(kubernetes))
    else:
        yield from check_immutable(inner(value, "spec"), inner(old, "spec"), ("spec",), IMMUTABLE)


def check_template(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a ResourceClaimTemplate, whose specification may not change."""
    spec = inner(value, "spec")
    if old is not None:
        yield from check_immutable(spec, inner(old, "spec"), ("spec",), IMMUTABLE)
        return
    meta, path = child(spec, "metadata") or EMPTY, ("spec", "metadata")
    yield from check_labels(meta.get("labels"), (*path, "labels"))
    yield from check_annotations(meta.get("annotations"), (*path, "annotations"))
    for field, entry in meta.items():
        if field not in ("labels", "annotations") and entry not in (None, "", 0):
            yield TEMPLATE.forbidden((*path, field), "cannot be set in a claim template")
    yield from check_claim_spec(inner(spec, "spec"), ("spec", "spec"), minor(kubernetes))


def check_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a DeviceClass."""
    spec = inner(value, "spec")
    yield from check_selectors(spec, ("spec",), minor(kubernetes))
    yield from _check_size(spec, "config", _MOST, ("spec",), CONFIG)
    for index, config in each(spec, "config"):
        yield from check_config(config, ("spec", "config", index))
    name = spec.get("extendedResourceName")
    if isinstance(name, str) and not is_extended(name):
        yield CLASS.invalid(("spec", "extendedResourceName"), name, "must be a valid extended resource name")


def check_claim_spec(spec: Object, path: Path, minor_: int) -> Iterator[Problem]:
    """Yield the problems with requests, constraints and configuration of a claim."""
    devices, path = inner(spec, "devices"), (*path, "devices")
    known: Requests = {
        text(request, "name"): {text(option, "name") for _, option in each(request, "firstAvailable")}
        for _, request in each(devices, "requests")
    }
    yield from _check_size(devices, "requests", _MOST, path, REQUEST)
    seen: set[str] = set()
    for index, request in each(devices, "requests"):
        at = (*path, "requests", index)
        yield from _check_request(request, at, minor_)
        if (name := text(request, "name")) in seen:
            yield REQUEST.duplicate((*at, "name"), name)
        seen.add(name)
    yield from _check_size(devices, "constraints", _MOST, path, CONSTRAINT)
    for index, constraint in each(devices, "constraints"):
        yield from _check_constraint(constraint, known, (*path, "constraints", index), minor_)
    yield from _check_size(devices, "config", _MOST, path, CONFIG)
    for index, config in each(devices, "config"):
        at = (*path, "config", index)
        yield from _check_references(config, known, at, CONFIG)
        yield from check_config(config, at)


def _check_size(owner: Object, field: str, most: int, path: Path, rule: Rule) -> Iterator[Problem]:
    if (total := count(owner, field)) > most:
        yield rule.too_many((*path, field), total, most)


def _check_name(owner: Object, path: Path) -> Iterator[Problem]:
    name = owner.get("name") or ""
    if detail := names.dns_label(name):
        yield REQUEST.invalid((*path, "name"), name, detail)


def _check_request(request: Object, path: Path, minor_: int) -> Iterator[Problem]:
    yield from _check_name(request, path)
    exact, alternatives = child(request, "exactly"), each(request, "firstAvailable")
    if (exact is None) == (not alternatives):
        yield REQUEST.required(path, "exactly one of exactly and firstAvailable is required")
    elif exact is not None:
        yield from _check_device(exact, (*path, "exactly"), minor_)
    else:
        yield from _check_size(request, "firstAvailable", _MOST_ALTERNATIVES, path, REQUEST)
        seen: set[str] = set()
        for index, option in alternatives:
            at = (*path, "firstAvailable", index)
            yield from _check_name(option, at)
            if (name := text(option, "name")) in seen:
                yield REQUEST.duplicate((*at, "name"), name)
            seen.add(name)
            yield from _check_device(option, at, minor_)


def _check_device(request: Object, path: Path, minor_: int) -> Iterator[Problem]:
    name = request.get("deviceClassName")
    if not name:
        yield REQUEST.required((*path, "deviceClassName"))
    elif detail := names.dns_subdomain(name):
        yield REQUEST.invalid((*path, "deviceClassName"), name, detail)
    yield from check_selectors(request, path, minor_)
    mode, wanted = request.get("allocationMode") or "ExactCount", number(request, "count")
    if mode not in MODES:
        yield REQUEST.unsupported((*path, "allocationMode"), mode, MODES)
    elif mode == "All" and wanted:
        yield REQUEST.invalid((*path, "count"), wanted, "must not be specified with allocationMode All")
    elif mode == "ExactCount" and wanted is not None and wanted < 0:
        yield REQUEST.invalid((*path, "count"), wanted, "must be greater than zero")
    yield from _check_tolerations(request, path, minor_)


def _check_tolerations(request: Object, path: Path, minor_: int) -> Iterator[Problem]:
    if minor_ >= 36:
        yield from _check_size(request, "tolerations", _MOST_TOLERATIONS, path, REQUEST)
    for index, toleration in each(request, "tolerations"):
        at = (*path, "tolerations", index)
        key, operator = toleration.get("key"), toleration.get("operator") or "Equal"
        value, effect = toleration.get("value"), toleration.get("effect")
        if key and (detail := names.label_key(key)):
            yield REQUEST.invalid((*at, "key"), key, detail)
        if operator == "Exists":
            if value:
                yield REQUEST.invalid((*at, "value"), value, "must be empty for operator Exists")
        elif operator != "Equal":
            yield REQUEST.unsupported((*at, "operator"), operator, ("Equal", "Exists"))
        elif value and (detail := names.label_value(value)):
            yield REQUEST.invalid((*at, "value"), value, detail)
        effects = ("NoExecute", "NoSchedule", "None") if minor_ >= 36 else ("NoExecute", "NoSchedule")
        if effect and effect not in effects:
            yield REQUEST.unsupported((*at, "effect"), effect, effects)


def check_selectors(owner: Object, path: Path, minor_: int) -> Iterator[Problem]:
    """Yield selectors without an expression, or with one that is too long or does not compile."""
    yield from _check_size(owner, "selectors", _MOST, path, SELECTOR)
    for index, selector in each(owner, "selectors"):
        at = (*path, "selectors", index, "cel")
        if (cel := child(selector, "cel")) is None:
            yield SELECTOR.required(at)
        elif is_blank(cel.get("expression")):
            yield SELECTOR.invalid((*at, "expression"), "", "must be an expression that yields a boolean")
        elif names.size(expression := text(cel, "expression")) > _LONGEST:
            yield SELECTOR.too_long((*at, "expression"), _LONGEST)
        elif expression and (detail := compile_error(devices(minor_), expression, "bool", "dyn")):
            yield SELECTOR.invalid((*at, "expression"), expression, detail)


def _check_constraint(constraint: Object, known: Requests, path: Path, minor_: int) -> Iterator[Problem]:
    yield from _check_references(constraint, known, path, CONSTRAINT)
    fields = [field for field in ("matchAttribute", "distinctAttribute") if constraint.get(field) is not None]
    if not fields:
        yield CONSTRAINT.required((*path, "matchAttribute"))
    for field in fields if minor_ >= _BOTH_MINOR else fields[:1]:
        if detail := attribute_name(constraint[field], qualified=True):
            yield CONSTRAINT.invalid((*path, field), constraint[field], detail)


def attribute_name(name: object, *, qualified: bool) -> str | None:
    """Judge the name of a device's attribute or capacity: `[domain/]identifier`."""
    if not isinstance(name, str):
        return None
    domain, slash, identifier = name.rpartition("/")
    if name.count("/") > 1:
        # Upstream splits at every slash and looks no further.
        return None
    if slash and (not domain or driver_name(domain)):
        return "the part before '/' must be a DNS name of at most 63 characters"
    if len(identifier) > _LONGEST_ID or names.identifier(identifier):
        return f"must be an identifier of at most {_LONGEST_ID} letters, digits or '_'"
    return "must have a domain and a slash" if qualified and not slash else None


def _check_references(owner: Object, known: Requests, path: Path, rule: Rule) -> Iterator[Problem]:
    yield from _check_size(owner, "requests", _MOST, path, rule)
    seen: set[str] = set()
    for index, name in texts(owner, "requests"):
        at = (*path, "requests", index)
        request, slash, option = name.partition("/")
        if request not in known or (slash and option not in known[request]):
            yield rule.invalid(at, name, "must be the name of a request, or request/alternative, in the claim")
        elif any(names.dns_label(part) for part in name.split("/")):
            yield rule.invalid(at, name, names.NOT_LABEL)
        if name in seen:
            yield rule.duplicate(at, name)
        seen.add(name)


def check_config(config: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a driver's configuration."""
    if (opaque := child(config, "opaque")) is None:
        yield CONFIG.required((*path, "opaque"))
        return
    at = (*path, "opaque")
    driver, parameters = opaque.get("driver"), opaque.get("parameters")
    if not driver:
        yield CONFIG.required((*at, "driver"))
    elif detail := driver_name(driver):
        yield CONFIG.invalid((*at, "driver"), driver, detail)
    if not isinstance(parameters, dict):
        yield CONFIG.required((*at, "parameters"), "must be an object")
    elif len(json.dumps(parameters, separators=(",", ":"))) > _LONGEST:
        yield CONFIG.too_long((*at, "parameters"), _LONGEST)
