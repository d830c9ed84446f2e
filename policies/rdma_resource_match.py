"""The networks that a pod names are as many as the virtual functions that it requests.

Why: with too few devices the pod stays in ContainerCreating for ever, with too many they are allocated and unused.
Fix: name one network for each virtual function, and request one of its resource for each network.
Source: k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Pods, Problem, Severity, TrainingJob, World

SEVERITY = Severity.ERROR
NETWORKS = "k8s.v1.cni.cncf.io/networks"
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"


def check(world: World) -> Iterator[Problem]:
    """Compare, pod set by pod set and resource by resource, what is named with what is requested."""
    resources = device_resources(world)
    for job in world.training_jobs():
        for pods in job.pod_sets():
            yield from compare(job, pods, resources)


def compare(job: TrainingJob, pods: Pods, resources: Mapping[tuple[str, str], str]) -> Iterator[Problem]:
    """Yield a problem for every device resource whose counts differ."""
    listed = networks(pods.annotations.get(NETWORKS), job.namespace)
    named = Counter(resources[network] for network in listed if network in resources)
    requested: Counter[str] = Counter()
    places: dict[str, Place] = {}
    known = set(resources.values())
    for path, container in pods.containers(init=False):
        for name, amount in limits(container).items():
            short = name.rpartition("/")[2]
            if short in known and str(amount).isdigit():
                requested[short] += int(amount)
                places[short] = Place(job.manifest, (*path, "resources", "limits", name))
    for resource in sorted(named | requested):
        if named[resource] != requested[resource]:
            place = pods.place("metadata", "annotations", NETWORKS) if named[resource] else places[resource]
            yield Problem(
                place,
                f"pods name {named[resource]} networks of {resource!r} but request {requested[resource]} of its"
                " virtual functions; make them equal",
            )


def device_resources(world: World) -> dict[tuple[str, str], str]:
    """Map every network, as (namespace, name), to the short name of its device resource."""
    found: dict[tuple[str, str], str] = {}
    for network in world.of("NetworkAttachmentDefinition"):
        resource = network.annotations.get(RESOURCE)
        if isinstance(resource, str):
            found[network.namespace or "default", network.name] = resource.rpartition("/")[2]
    for kind in ("SriovNetwork", "SriovIBNetwork"):
        for network in world.of(kind):
            resource = network.get("spec", "resourceName")
            namespace = network.get("spec", "networkNamespace") or network.namespace or "default"
            if isinstance(resource, str) and isinstance(namespace, str):
                found[namespace, network.name] = resource
    return found


def networks(text: Any, namespace: str) -> Iterator[tuple[str, str]]:
    """Read the annotation in either form: `ns/name@interface,…`, or a JSON list of selections."""
    if not isinstance(text, str):
        return
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except ValueError:
            return
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                yield str(entry.get("namespace") or namespace), entry["name"]
        return
    for item in filter(None, (part.strip() for part in text.split(","))):
        where, _, name = item.partition("@")[0].rpartition("/")
        yield where or namespace, name


def limits(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container's limits; empty where they are missing or malformed."""
    resources = container.get("resources")
    found = resources.get("limits") if isinstance(resources, Mapping) else None
    return found if isinstance(found, Mapping) else {}
