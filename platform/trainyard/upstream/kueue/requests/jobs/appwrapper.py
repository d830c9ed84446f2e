"""AppWrappers: the pod sets of the objects that they hold, as far as AppWrapper knows their kinds.

Source: appwrapper v1.2.1 pkg/utils/utils.go GetComponentPodSpecs, kueue v0.19.2 pkg/controller/jobs/appwrapper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.findings import Path
from trainyard.base.manifests import identity_of, maps_in, value_at
from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.requests.annotations import Index
from trainyard.upstream.kueue.requests.jobs.carried import index_of
from trainyard.upstream.kueue.requests.jobs.parts import Made, Object, Part
from trainyard.upstream.pods.pod import round_amount
from trainyard.upstream.workloads import carrier_of
from trainyard.upstream.workloads.appwrapper import CARRIER
from trainyard.upstream.workloads.base import inner, text
from trainyard.upstream.workloads.components import ROOT, NoPathError, components_of, follow, inferred

TAS = "workload.codeflare.dev.appwrapper/tas-"
KEPT = ("affinity", "nodeSelector", "overhead", "priorityClassName", "tolerations")


def appwrapper(value: Object, _others: Sequence[Object]) -> Iterator[Made]:
    """Yield the one Workload of an AppWrapper."""
    yield Made(tuple(part for part, _, _ in parts(value)))


def origin(owner: Object, pod_set: str) -> tuple[Object, str]:
    """Return the object whose controller makes the pods of a pod set, and what the set is called there.

    That is the owner of the Workload itself, unless the owner is an AppWrapper.
    """
    identity = identity_of(owner)
    if (identity.group, identity.kind) != (CARRIER.group, CARRIER.kind):
        return owner, pod_set
    found = ((held, path) for part, held, path in parts(owner) if part.name == pod_set)
    held, path = next(found, (owner, ()))
    row = carrier_of(held)
    names = (
        one_pod_set.name
        for one_pod_set in (row.pod_sets(held) if row is not None else ())
        if one_pod_set.template == path
    )
    return held, next(names, pod_set)


def parts(value: Object) -> Iterator[tuple[Part, Object, Path]]:
    """Yield the pod sets of an AppWrapper, each with the component's object and the path of the template there."""
    name = identity_of(value).name.lower()
    every = ((inner(item, ROOT), found) for item in components_of(value) for found in component(item))
    for place, (held, (count, path, index)) in enumerate(every):
        yield Part(f"{name}-{place}", count, kept_template(value_at(held, path)), index), held, path


def component(value: Object) -> Iterator[tuple[int, Path, Index]]:
    """Yield number, path of the template and labels of a component's pods."""
    held: Object = inner(value, ROOT)
    declared = maps_in(value.get("podSets"))
    for pod_set in declared:
        try:
            path = follow(held, text(pod_set, "path"))
        except NoPathError:
            continue
        replicas = pod_set.get("replicas")
        yield 1 if replicas is None else replicas, path, index_declared(inner(pod_set, "annotations"))
    for pods in () if declared else inferred(held, carrier_of(held)):
        yield pods.count, pods.template, index_of(held, pods)


def kept_template(template: Object) -> Object:
    """Return a pod template as AppWrapper shows it to Kueue: without some restart policies and the runtime class."""
    spec = template.get("spec") or {}
    found = {name: spec[name] for name in KEPT if name in spec}
    for field in ("initContainers", "containers"):
        if field in spec:
            found[field] = [
                {"name": container.get("name"), "resources": stored_resources(container.get("resources") or {})}
                for container in spec[field]
            ]
    if found.get("overhead"):
        found["overhead"] = texts(found["overhead"])
    return {"metadata": template.get("metadata") or {}, "spec": found}


def stored_resources(resources: Object) -> dict[str, dict[str, str]]:
    """Return requests and limits as a server would store them for pods."""
    return {name: texts(resources[name]) for name in ("requests", "limits") if resources.get(name)}


def texts(amounts: Any) -> dict[str, str]:
    """Return amounts as a server would store them for pods."""
    return {name: round_amount(Quantity.parse(amount)).canonical() for name, amount in (amounts or {}).items()}


def index_declared(notes: Mapping[str, str]) -> Index:
    """Return the labels that a declared pod set names."""
    groups = notes.get(f"{TAS}sub-group-count", "")
    return Index(
        notes.get(f"{TAS}pod-index-label"),
        notes.get(f"{TAS}sub-group-index-label"),
        int(groups) if groups.isascii() and groups.isdigit() else None,
    )
