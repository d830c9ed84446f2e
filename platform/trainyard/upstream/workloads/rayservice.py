"""RayService: a Ray cluster that serves (kuberay v1.6.2)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.integration import OF_RAY
from trainyard.upstream.workloads.ray import GROUP, LISTS, OF_CLUSTER, VOLUMES, adding, ray
from trainyard.upstream.workloads.unread import SERVES

CARRIER = Carrier(
    GROUP,
    "RayService",
    ray("spec", "rayClusterConfig"),
    "kuberay",
    "ray.io/rayservice",
    OF_RAY,
    ("spec", "rayClusterConfig", "suspend"),
    LISTS,
    variables=OF_CLUSTER,
    volumes=VOLUMES,
    arriving=adding("spec", "rayClusterConfig"),
    unread={name: why for name, why in SERVES.items() if name != "queueing"},
)
