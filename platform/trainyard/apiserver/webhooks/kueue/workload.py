"""Workloads written by hand: what their pod sets may say. Their status is another endpoint's business."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.apiserver.core.amounts import nanos
from trainyard.apiserver.core.shapes import Object, child, each, inner, number
from trainyard.apiserver.meta.metadata import check_annotations, check_labels
from trainyard.apiserver.problems import Path, Problem, Rule
from trainyard.apiserver.webhooks.around import Review
from trainyard.apiserver.webhooks.kueue import labels

WORKLOAD = Rule("webhook/workload", "kueue v0.19.2 pkg/webhooks/workload_webhook.go")


def check(review: Review) -> Iterator[Problem]:
    """Yield what is wrong with a Workload."""
    variable = 0
    for index, pod_set in each(review.spec, "podSets"):
        yield from _check_pod_set(pod_set, ("spec", "podSets", index))
        variable += pod_set.get("minCount") is not None
    if variable > 1:
        yield WORKLOAD.invalid(("spec", "podSets"), variable, "at most one pod set can use minCount")
    if variable and labels.elastic(review.value):
        yield WORKLOAD.invalid(("spec", "podSets"), variable, "partial admission and elastic jobs exclude each other")
    yield from labels.check_gates(review.value)
    yield from labels.check_gates_kept(review)


def _check_pod_set(pod_set: Object, path: Path) -> Iterator[Problem]:
    meta, spec = inner(pod_set, "template", "metadata"), inner(pod_set, "template", "spec")
    at: Path = (*path, "template")
    yield from check_labels(meta.get("labels"), (*at, "metadata", "labels"), WORKLOAD)
    yield from check_annotations(meta.get("annotations"), (*at, "metadata", "annotations"))
    for kind in ("initContainers", "containers"):
        for index, container in each(spec, kind):
            yield from _check_resources(container, (*at, "spec", kind, index))
    yield from _check_resources(spec, (*at, "spec"))
    request = child(pod_set, "topologyRequest")
    if request is not None:
        yield from _check_slices(request, (*path, "topologyRequest"))


def _check_resources(holder: Object, path: Path) -> Iterator[Problem]:
    for kind in ("requests", "limits"):
        for name, amount in inner(holder, "resources", kind).items():
            at: Path = (*path, "resources", kind, name)
            if name == "pods":
                yield WORKLOAD.invalid(at, name, "the key is reserved for Kueue itself")
            if (nanos(amount) or 0) < 0:
                yield WORKLOAD.invalid(at, amount, "must be greater than or equal to 0")


def _check_slices(request: Object, path: Path) -> Iterator[Problem]:
    at: Path = (*path, "podSetSliceSize")
    size = number(request, "podSetSliceSize")
    if request.get("podSetSliceRequiredTopology") is None:
        if size is not None:
            yield WORKLOAD.forbidden(at, "may not be set without podSetSliceRequiredTopology")
    elif size is None:
        yield WORKLOAD.required(at, "must be set with podSetSliceRequiredTopology")
    elif size <= 0:
        yield WORKLOAD.invalid(at, size, "must be greater than 0")
    layers = "podsetSliceRequiredTopologyConstraints"
    for index, layer in each(request, layers):
        if (number(layer, "size") or 0) <= 0:
            yield WORKLOAD.invalid((*path, layers, index, "size"), layer.get("size"), "must be greater than 0")
