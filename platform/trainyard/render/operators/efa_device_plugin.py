"""EFA device plugin: Amazon's Elastic Fabric Adapters as resources that pods request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, tolerations
from trainyard.render.operators.stated_values import check_tolerations
from trainyard.render.sizing.fabrics import fabric_type, fabric_types
from trainyard.specs import Cluster, Pool

TYPE = "efa"
"""The type of fabric that its devices are for."""


class EfaDevicePlugin(Operator):
    """The plugin from its chart, which knows the instance types that have adapters by their label."""

    name = "efa-device-plugin"

    def values(self, site: Site) -> dict[str, Any]:
        """Let the plugin run on the tainted nodes of the fabric: the chart tolerates critical add-ons alone."""
        found = tolerations(reached(site.cluster).values())
        return {"tolerations": found} if found else {}

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield tolerations that keep the plugin off nodes of the fabric."""
        source = "aws/eks-charts v0.0.242 stable/aws-efa-k8s-device-plugin/templates/daemonset.yaml"
        yield from check_tolerations(site, "tolerations", reached(site.cluster), source)


def reached(cluster: Cluster) -> dict[str, Pool]:
    """Return the pools whose nodes have adapters of the fabric."""
    fabric = fabric_types()[TYPE]
    if fabric_type(cluster) is not fabric:
        return {}
    return {name: pool for name, pool in cluster.pools.items() if fabric.reaches(cluster, name)}


OPERATOR = EfaDevicePlugin()
