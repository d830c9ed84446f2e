"""AppWrappers: the pod sets of the objects that they hold, as far as AppWrapper knows their kinds.

Source: appwrapper v1.2.2 pkg/utils/utils.go InferPodSets, kueue v0.19.2 pkg/controller/jobs/appwrapper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.carriers import carrier_of
from trainyard.carriers.base import number
from trainyard.findings import Path
from trainyard.manifests import identity_of, value_at
from trainyard.pods.pod import rounded
from trainyard.quantities import Quantity
from trainyard.queueing.requests.annotations import NO_INDEX, Index
from trainyard.queueing.requests.jobs.carried import index_of
from trainyard.queueing.requests.jobs.parts import Made, Object, Part

TAS = "workload.codeflare.dev.appwrapper/tas-"
KNOWN = frozenset(
    {
        *(("", "Pod"), ("apps", "Deployment"), ("apps", "StatefulSet"), ("batch", "Job")),
        *(
            ("jobset.x-k8s.io", "JobSet"),
            ("kubeflow.org", "PyTorchJob"),
            ("ray.io", "RayCluster"),
            ("ray.io", "RayJob"),
        ),
    }
)
"""Kinds whose pods AppWrapper finds itself; of others the component has to declare them."""
KEPT = ("affinity", "nodeSelector", "overhead", "priorityClassName", "tolerations")
INDEXED = {"Job", "JobSet", "PyTorchJob"}


def appwrapper(value: Object, _others: Sequence[Object]) -> Iterator[Made]:
    """Yield the one Workload of an AppWrapper."""
    name = identity_of(value).name
    found = [part for each in (value.get("spec") or {}).get("components") or () for part in component(each)]
    yield Made(
        tuple(
            Part(f"{name.lower()}-{number}", count, template, index)
            for number, (count, template, index) in enumerate(found)
        )
    )


def component(value: Object) -> Iterator[tuple[int, Object, Index]]:
    """Yield number, template and labels of a component's pods."""
    held: Object = value.get("template") or {}
    declared = value.get("podSets")
    if declared:
        for each in declared:
            template = value_at({"template": held}, path_of(each.get("path") or ""))
            if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
                replicas = each.get("replicas")
                yield 1 if replicas is None else replicas, kept(template), index_declared(each.get("annotations") or {})
        return
    row, identity = carrier_of(held), identity_of(held)
    if row is None or (identity.group, identity.kind) not in KNOWN:
        return
    for pods in row.pod_sets(held):
        if pods.counted and pods.template[-1:] != ("submitterPodTemplate",):
            index = index_of(held, pods) if identity.kind in INDEXED else NO_INDEX
            yield replicas_of(held, pods.template, pods.count), kept(value_at(held, pods.template)), index


def kept(template: Object) -> Object:
    """Return what AppWrapper tells Kueue of pods: neither which init containers go on running nor a runtime class."""
    spec = template.get("spec") or {}
    found = {name: spec[name] for name in KEPT if name in spec}
    for field in ("initContainers", "containers"):
        if field in spec:
            found[field] = [
                {"name": each.get("name"), "resources": stored(each.get("resources") or {})} for each in spec[field]
            ]
    if found.get("overhead"):
        found["overhead"] = texts(found["overhead"])
    return {"metadata": template.get("metadata") or {}, "spec": found}


def stored(resources: Object) -> dict[str, dict[str, str]]:
    """Return requests and limits as a server would store them for pods."""
    return {name: texts(resources[name]) for name in ("requests", "limits") if resources.get(name)}


def texts(amounts: Any) -> dict[str, str]:
    """Return amounts as a server would store them for pods."""
    return {name: rounded(Quantity.parse(amount)).canonical() for name, amount in (amounts or {}).items()}


def replicas_of(held: Object, template: Path, count: int) -> int:
    """Return how many pods there are; of groups of Ray it is the replicas, one where nothing is said."""
    if "workerGroupSpecs" not in template:
        return count
    return number(value_at(held, template[:-1]), "replicas", 1)


def index_declared(notes: Mapping[str, str]) -> Index:
    """Return the labels that a declared pod set names."""
    groups = notes.get(f"{TAS}sub-group-count", "")
    return Index(
        notes.get(f"{TAS}pod-index-label"),
        notes.get(f"{TAS}sub-group-index-label"),
        int(groups) if groups.isascii() and groups.isdigit() else None,
    )


def path_of(text: str) -> Path:
    """Return a path as it is declared, `template.spec.jobs[0].template`."""
    found: list[Any] = []
    for part in text.replace("[", ".[").split("."):
        if part.startswith("[") and part.endswith("]") and part.isascii() and part[1:-1].isdigit():
            found.append(int(part[1:-1]))
        elif part:
            found.append(part)
    return tuple(found)
