"""RayCluster: a head and groups of workers, until it is removed (kuberay v1.6.2)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.integration import OF_RAY
from trainyard.upstream.workloads.ray import GROUP, LISTS, OF_CLUSTER, VOLUMES, adding, ray

CARRIER = Carrier(
    GROUP,
    "RayCluster",
    ray("spec"),
    "kuberay",
    "ray.io/raycluster",
    OF_RAY,
    ("spec", "suspend"),
    LISTS,
    trains=True,
    variables=OF_CLUSTER,
    volumes=VOLUMES,
    arriving=adding("spec"),
)
