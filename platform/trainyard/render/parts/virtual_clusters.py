"""Where virtual clusters are, and how their control plane is called.

Facts: loft-sh/vcluster v0.36.1 chart/templates, pkg/util/translate.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.render.sizing.node import size
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.virtual_clusters import VirtualCluster

OPERATOR, CLUSTERS = "vcluster", "virtualClusters"
"""Name of the operator, and of the field of a cluster's file."""

PORT = 8443
"""Port of a virtual API server (chart/values.yaml controlPlane.proxy.port)."""

ASKED = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}}
"""What the pod of a control plane asks for; the limit is the chart's."""

LEAST_MEMORY = "6Gi"
"""Memory that control plane and DNS may use, and some for pods of the team."""


def namespace(name: str) -> str:
    """Return the namespace of a virtual cluster."""
    return f"vc-{name}"


def of_pool(cluster: Cluster, pool: str) -> Iterator[tuple[str, VirtualCluster]]:
    """Yield the virtual clusters whose pods are on a pool, by name."""
    return ((name, one) for name, one in cluster.virtual_clusters.items() if one.pool == pool)


def held_nodes(pool: Pool, one: VirtualCluster) -> Fraction:
    """Return how many machines of its pool a virtual cluster may take: of GPUs, CPUs and memory, whichever is most."""
    gpus = Fraction(one.gpus, pool.node.gpus.count) if pool.node.gpus else Fraction()
    return max(gpus, Fraction(one.cpus, pool.node.cpus), Fraction(size(one.memory), size(pool.node.memory)))
