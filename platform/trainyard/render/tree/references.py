"""References of a run's objects by name: queue, priority, pool, claims, networks, runtimes, service accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.base import labels
from trainyard.base.labels import PRIORITY, QUEUE
from trainyard.base.pools import Selectors, selected_pools

NETWORKS = frozenset(
    {
        "NetworkAttachmentDefinition",
        "SriovNetwork",
        "SriovIBNetwork",
        "OVSNetwork",
        "HostDeviceNetwork",
        "IPoIBNetwork",
        "MacvlanNetwork",
    }
)
"""Kinds that are a network, or that their operator makes one of the same name from (sriov-network-operator 1.6.0
`api/v1`, network-operator 26.4.0 `api/v1alpha1`)."""

KINDS = {
    "LocalQueue": "queue",
    "WorkloadPriorityClass": "priority",
    "PersistentVolumeClaim": "volume",
    "ServiceAccount": "service account",
    "TrainingRuntime": "runtime",
    "ClusterTrainingRuntime": "runtime",
    "ResourceFlavor": "pool",
    **dict.fromkeys(NETWORKS, "network"),
}
"""What people call the kinds that runs refer to."""

LABELS = {QUEUE: "queue", PRIORITY: "priority"}


CLUSTER_WIDE = NETWORKS - {"NetworkAttachmentDefinition"}
"""Kinds whose own namespace is not that of the runs which refer to them."""


class Reference(NamedTuple):
    """One name that an object mentions."""

    what: str
    """One of the values of KINDS."""
    name: str


def references(value: Any, selectors: Selectors) -> Iterator[Reference]:
    """Yield the references of an object, its pod templates included; one may come several times.

    `selectors` are the labels by which pods select each pool.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from field_references(key, item, selectors)
            yield from references(item, selectors)
    elif isinstance(value, list):
        for item in value:
            yield from references(item, selectors)


def field_references(key: str, item: Any, selectors: Selectors) -> Iterator[Reference]:
    """Yield the references that one field makes by itself."""
    if isinstance(item, Mapping):
        if key == "labels":
            named = ((what, item.get(label)) for label, what in LABELS.items())
            yield from (Reference(what, name) for what, name in named if isinstance(name, str))
        elif key in {"nodeSelector", "affinity"}:
            yield from (Reference("pool", name) for name in selected_pools({key: item}, selectors))
        elif key == "runtimeRef" and isinstance(item.get("name"), str):
            yield Reference("runtime", item["name"])
    elif isinstance(item, str):
        if key == "claimName":
            yield Reference("volume", item)
        elif key == "serviceAccountName" and item != "default":
            yield Reference("service account", item)
        elif key == labels.NETWORKS:
            yield from (Reference("network", name) for _, name in labels.networks(item, ""))
