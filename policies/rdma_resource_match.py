"""A pod must name as many networks (k8s.v1.cni.cncf.io/networks) as it requests virtual functions.

Why: With too few virtual functions the pod stays in ContainerCreating forever. With too many, some are allocated but
 unused.
Fix: name one network for each virtual function, and request one virtual function for each network.
Source: k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from trainyard.checks import NETWORK_RESOURCE, NETWORKS, Place, Pods, Problem, Severity, World

SEVERITY = Severity.ERROR


def check(world: World) -> Iterator[Problem]:
    """Compare the named networks with the requested devices, for each pod set and resource."""
    resources = device_resources(world)
    known = frozenset(resources.values())
    for job in world.training_jobs():
        for pods in job.pod_sets():
            yield from compare(pods, resources, known)


def compare(pods: Pods, resources: Mapping[tuple[str, str], str], known: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for every device resource whose counts differ."""
    named = Counter(resources[network] for network in pods.networks() if network in resources)
    requested: Counter[str] = Counter()
    places: dict[str, Place] = {}
    for place, resource, quantity in pods.limits(init=False):
        short = resource.rpartition("/")[2]
        if short in known:
            requested[short] += quantity.value()
            places[short] = place
    for resource in sorted(named | requested):
        if named[resource] != requested[resource]:
            place = pods.place("metadata", "annotations", NETWORKS) if named[resource] else places[resource]
            yield Problem(
                place,
                f"pods name {named[resource]} of the {resource!r} networks, but request {requested[resource]} of its"
                " virtual functions; make them equal",
            )


def device_resources(world: World) -> dict[tuple[str, str], str]:
    """Map every network, as (namespace, name), to the short name of its device resource."""
    found: dict[tuple[str, str], str] = {}
    for network in world.of("NetworkAttachmentDefinition"):
        if resource := network.annotations.get(NETWORK_RESOURCE):
            found[network.namespace or "default", network.name] = resource.rpartition("/")[2]
    for kind in ("SriovNetwork", "SriovIBNetwork"):
        for network in world.of(kind):
            namespace = network.text("spec", "networkNamespace") or network.namespace or "default"
            if resource := network.text("spec", "resourceName"):
                found[namespace, network.name] = resource
    return found
