"""Workloads: what their pod sets may say (kueue v0.19.2 pkg/webhooks/workload_webhook.go, in its order)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.labels import ELASTIC
from trainyard.base.manifests import whole_number
from trainyard.upstream.kueue.webhooks.faults import (
    POSITIVE,
    Fault,
    Key,
    Object,
    Path,
    negative_faults,
    objects,
    quantity,
)
from trainyard.upstream.kueue.webhooks.labels import annotation_faults, label_faults
from trainyard.upstream.pods.resources import PODS
from trainyard.upstream.workloads.base import inner, text

RESERVED = "the key is reserved for internal kueue use"
SLICED = "podSetSliceRequiredTopology"


def workload_faults(value: Object, gates: Mapping[str, bool]) -> Iterator[Fault]:
    """Yield why the spec of a Workload is refused, under feature gates."""
    at, variable = ("spec", "podSets"), 0
    for path, pod_set in objects(value, *at, "*"):
        yield from pod_set_faults(pod_set, path, gates)
        variable += pod_set.get("minCount") is not None and gates["PartialAdmission"]
    if variable > 1:
        yield Fault("invalid", at, variable, "at most one podSet can use minCount")
    elastic = inner(value, "metadata", "annotations").get(ELASTIC) == "true"
    if variable and elastic and gates["ElasticJobsViaWorkloadSlices"]:
        yield Fault("invalid", at, variable, "partial admission and elastic job cannot be used together")


def pod_set_faults(pod_set: Object, path: Path, gates: Mapping[str, bool]) -> Iterator[Fault]:
    """Yield faults of a pod set."""
    template = (*path, "template")
    if gates["WorkloadValidationForPodSetMetadata"]:
        metadata = inner(pod_set, "template", "metadata")
        yield from label_faults(inner(metadata, "labels"), (*template, "metadata", "labels"))
        yield from annotation_faults(inner(metadata, "annotations"), (*template, "metadata", "annotations"))
    for field in ("initContainers", "containers"):
        for at, container in objects(pod_set, "template", "spec", field, "*"):
            yield from resource_faults(inner(container, "resources"), (*path, *at, "resources"), gates)
    pod_level = inner(pod_set, "template", "spec", "resources")
    yield from resource_faults(pod_level, (*template, "spec", "resources"), gates)
    if gates["TASValidateWorkloadSliceSize"]:
        yield from slice_faults(inner(pod_set, "topologyRequest"), (*path, "topologyRequest"))


def resource_faults(resources: Object, path: Path, gates: Mapping[str, bool]) -> Iterator[Fault]:
    """Yield requests and limits that Kueue keeps for itself, or that are below zero."""
    for field in ("requests", "limits"):
        for name, value in inner(resources, field).items():
            at = (*path, field, Key(name))
            if name == PODS:
                yield Fault("invalid", at, name, RESERVED)
            amount = quantity(value)
            if amount is not None and gates["WorkloadValidateResourcesAreNonNegative"]:
                yield from negative_faults(amount, at)


def slice_faults(request: Object, path: Path) -> Iterator[Fault]:
    """Yield sizes of slices that are missing, too many or not positive."""
    at, size = (*path, "podSetSliceSize"), request.get("podSetSliceSize")
    if request.get(SLICED) is None:
        if size is not None:
            yield Fault("forbidden", at, detail=f"may not be set when {SLICED} is not specified")
    elif size is None:
        yield Fault("required", at, detail=f"must be set when {SLICED} is specified")
    elif (number := whole_number(request, "podSetSliceSize")) is not None and number <= 0:
        yield Fault("invalid", at, number, POSITIVE)
    for place, layer in objects(request, "podsetSliceRequiredTopologyConstraints", "*"):
        if (number := whole_number(layer, "size") or 0) <= 0:
            yield Fault("invalid", (*path, *place, "size"), number, POSITIVE)


def reclaimable_faults(value: Object) -> Iterator[Fault]:
    """Yield pods of the status that are said to be ready to give back and that no pod set has."""
    sets = {
        text(pod_set, "name") or "main": pod_set.get("count") for _, pod_set in objects(value, "spec", "podSets", "*")
    }
    for _, entry in objects(value, "status", "reclaimablePods", "*"):
        name, count = text(entry, "name"), whole_number(entry, "count") or 0
        at = ("status", "reclaimablePods", Key(name))
        said = sets.get(name)
        most = 1 if said is None else said
        if name not in sets:
            yield Fault("unsupported", (*at, "name"), name, choices=tuple(sets))
        elif count > most:
            yield Fault("invalid", (*at, "count"), count, f"should be less or equal to {most}")
