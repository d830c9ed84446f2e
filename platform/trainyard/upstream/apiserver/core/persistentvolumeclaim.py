"""PersistentVolumeClaims, and claim templates wherever an object embeds one.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePersistentVolumeClaim.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import check_quantities, millis
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, fill_absent, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_annotations, check_labels
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

CLAIM = Rule(
    "core/volume-claim",
    f"{CORE} ValidatePersistentVolumeClaimSpec",
    title="A PersistentVolumeClaim has access modes, a storage request and a consistent data source.",
    fix="set accessModes and resources.requests.storage, and correct the field in the message",
)
TEMPLATE = CLAIM.of_source(f"{CORE} ValidatePersistentVolumeClaimTemplate")
IMMUTABLE = Rule(
    "update/volume-claim",
    f"{CORE} ValidatePersistentVolumeClaimUpdate",
    title="An update of a PersistentVolumeClaim changes only its size or its attributes class.",
    fix="restore the field; a bound claim may grow but never shrink",
)

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_FIXED = "is immutable; a bound claim may change only resources.requests and volumeAttributesClassName"


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a PersistentVolumeClaim, and drop data sources that the release does not look at.

    Source: k8s.io/kubernetes v1.35.4 pkg/api/persistentvolumeclaim/util.go.
    """
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "volumeMode", "Filesystem")
    if inner(spec, "dataSourceRef").get("namespace"):
        del spec["dataSourceRef"]
    reference, source = child(spec, "dataSourceRef"), child(spec, "dataSource")
    if reference is None and source is not None:
        if (text(source, "apiGroup"), source.get("kind")) not in (
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ):
            del spec["dataSource"]
        else:
            spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None:
        spec["dataSource"] = dict(reference)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a PersistentVolumeClaim, and changes that an update may not make.

    Only a bound claim may grow: `old.status.phase` says which it is, and a claim without a status is pending.
    """
    yield from check_claim_spec(inner(value, "spec"), ("spec",))
    if old is not None:
        yield from _check_update(value, old)


def check_claim_spec(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the specification of a claim."""
    yield from check_access_modes(spec, path, CLAIM, "at least 1 access mode is required")
    yield from check_label_selector(spec.get("selector"), (*path, "selector"))
    resources = child(spec, "resources") or EMPTY
    for kind in ("limits", "requests"):
        yield from check_quantities(resources.get(kind), (*path, "resources", kind))
    requests = child(resources, "requests") or EMPTY
    at = (*path, "resources", "requests", "storage")
    if "storage" not in requests:
        yield CLAIM.required(at)
    elif (size := millis(requests["storage"])) is not None and size <= 0:
        yield CLAIM.invalid(at, requests["storage"], "must be greater than zero")
    for field in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(field)
        if name and (detail := names.dns_subdomain(name)):
            yield CLAIM.invalid((*path, field), name, detail)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield CLAIM.unsupported((*path, "volumeMode"), mode, VOLUME_MODES)
    yield from _check_data_sources(spec, path)


def check_access_modes(spec: Object, path: Path, rule: Rule, none: str) -> Iterator[Problem]:
    """Yield unknown access modes, none at all, and ReadWriteOncePod next to another."""
    if not count(spec, "accessModes") and not spec.get("accessModes"):
        yield rule.required((*path, "accessModes"), none)
    modes = texts(spec, "accessModes")
    for index, mode in modes:
        if mode not in ACCESS_MODES:
            yield rule.unsupported((*path, "accessModes", index), mode, ACCESS_MODES)
    known = {mode for _, mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield rule.forbidden((*path, "accessModes"), "may not use ReadWriteOncePod with other access modes")


def _check_data_sources(spec: Object, path: Path) -> Iterator[Problem]:
    for field in ("dataSource", "dataSourceRef"):
        if (source := child(spec, field)) is None:
            continue
        at = (*path, field)
        for part in ("name", "kind"):
            if not source.get(part):
                yield CLAIM.required((*at, part))
        group = source.get("apiGroup")
        if not group and source.get("kind") != "PersistentVolumeClaim":
            yield CLAIM.invalid(at, text(source, "kind"), "must be PersistentVolumeClaim without an apiGroup")
        if group and (detail := names.dns_subdomain(group)):
            yield CLAIM.invalid((*at, "apiGroup"), group, detail)
    source, reference = child(spec, "dataSource"), child(spec, "dataSourceRef")
    if reference is None:
        return
    if namespace := reference.get("namespace"):
        # Only in claim templates: a claim loses such a reference, whose gate is off, before it is judged.
        if detail := names.dns_label(namespace):
            yield CLAIM.invalid((*path, "dataSourceRef", "namespace"), namespace, detail)
        if source is not None:
            yield CLAIM.invalid(
                (*path, "dataSource"), text(source, "name"), "may not be next to dataSourceRef.namespace"
            )
    elif source is not None and any(source.get(part) != reference.get(part) for part in ("apiGroup", "kind", "name")):
        yield CLAIM.invalid((*path, "dataSource"), text(source, "name"), "must match dataSourceRef")


def check_claim_template(template: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the claim template of an ephemeral volume: only labels and annotations may be set."""
    meta = child(template, "metadata") or EMPTY
    yield from check_labels(meta.get("labels"), (*path, "metadata", "labels"))
    yield from check_annotations(meta.get("annotations"), (*path, "metadata", "annotations"))
    for field, value in meta.items():
        if field not in ("labels", "annotations") and value not in (None, "", 0):
            yield TEMPLATE.forbidden((*path, "metadata", field), "cannot be set in a claim template")
    yield from check_claim_spec(child(template, "spec") or EMPTY, (*path, "spec"))


def as_bound(claim: Object) -> Object:
    """Return a claim as it is by the time somebody changes its file: bound, with the capacity that it asked for.

    A file says nothing of its status; one that does is believed.
    """
    if inner(claim, "status").get("phase"):
        return claim
    size = inner(claim, "spec", "resources", "requests").get("storage")
    capacity = {"capacity": {"storage": size}} if size is not None else {}
    return {**claim, "status": {**capacity, **inner(claim, "status"), "phase": "Bound"}}


def class_of(claim: Object) -> str | None:
    """Return the name of a claim's class, empty where it wants none, None where the cluster's default fills it in.

    Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/helper/helpers.go GetPersistentVolumeClaimClass.
    """
    if _has_class_annotation(claim):
        return _class_annotation(claim)
    name = inner(claim, "spec").get("storageClassName")
    return name if isinstance(name, str) else None


def size_of(claim: Object) -> int | None:
    """Return the thousandths of bytes that a claim asks for, None where that is no quantity."""
    size = inner(claim, "spec", "resources", "requests").get("storage")
    return None if size is None else millis(size)


def _check_update(value: Object, old: Object) -> Iterator[Problem]:
    spec, before = inner(value, "spec"), inner(old, "spec")
    bound = inner(old, "status").get("phase") == "Bound"
    annotated, annotation = _class_annotation(old), _class_annotation(value)
    upgraded = before.get("storageClassName") is None and spec.get("storageClassName") is not None
    if annotation != annotated and not (
        upgraded and spec["storageClassName"] == annotated and not _has_class_annotation(value)
    ):
        yield IMMUTABLE.invalid(("metadata", "annotations", CLASS_ANNOTATION), annotation, "field is immutable")
    free = {"volumeName"} if not before.get("volumeName") else set()
    free |= {"volumeAttributesClassName"} if bound else set()
    free |= {"storageClassName"} if upgraded and annotated in ("", spec["storageClassName"]) else set()
    for field in sorted({*spec, *before} - free, key=str):
        now, was = spec.get(field), before.get(field)
        if field == "resources" and bound:
            now, was = _but_size(now), _but_size(was)
        if differs(now, was, field):
            yield IMMUTABLE.forbidden(("spec", field), _FIXED)
    yield from _check_size(value, old)
    field, in_effect = "volumeAttributesClassName", inner(old, "status").get("currentVolumeAttributesClassName")
    if in_effect is not None and before.get(field) and not spec.get(field):
        yield IMMUTABLE.forbidden(("spec", "volumeAttributesClassName"), "may not be removed once it is in effect")


def _has_class_annotation(value: Object) -> bool:
    return CLASS_ANNOTATION in (child(inner(value, "metadata"), "annotations") or EMPTY)


def _class_annotation(value: Object) -> str:
    return text(inner(value, "metadata", "annotations"), CLASS_ANNOTATION)


def _but_size(resources: object) -> object:
    """Return the resources of a claim without the size that it asks for."""
    if not isinstance(resources, dict) or not isinstance(requests := resources.get("requests"), dict):
        return resources
    return {**resources, "requests": {**requests, "storage": None}}


def _check_size(value: Object, old: Object) -> Iterator[Problem]:
    """Yield a request below the one before, unless it takes back a growth that has not happened."""
    now, was = (millis(inner(claim, "spec", "resources", "requests").get("storage")) for claim in (value, old))
    capacity = millis(inner(old, "status", "capacity").get("storage"))
    if now is not None and was is not None and now < was and now <= (capacity or 0):
        at = ("spec", "resources", "requests", "storage")
        yield IMMUTABLE.forbidden(at, "cannot be less than the capacity that the claim has")
