"""Files for the nodes of a pool: the kubelet's configuration, and the limit of locked memory; nobody syncs them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.parts.objects import Resource
from trainyard.sizing.fabrics.rails import on_fabric
from trainyard.sizing.kubelet import configuration
from trainyard.specs import Cluster, Pool

DROP_IN = "10-trainyard-memlock.conf"
"""A systemd drop-in: `/etc/systemd/system/containerd.service.d/` on the node."""

UNLIMITED = "[Service]\nLimitMEMLOCK=infinity\n"
"""RDMA locks the memory of its buffers; containers take their limit from the runtime's own."""


def resources(cluster: Cluster, name: str, pool: Pool) -> Iterator[Resource]:
    """Yield everything of `nodes/<pool>/`, for the node image or the machine configuration.

    The KubeletConfiguration has no metadata: one unknown field, and the kubelet falls back to ignoring all that it does
    not know, misspelt settings included (kubernetes v1.35 pkg/kubelet/kubeletconfig/util/codec/codec.go).
    """
    at = ("pools", name, "kubelet")
    if pool.kubelet is not None:
        fields = configuration(pool, pool.kubelet)
        yield Resource("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", "", at, fields=fields)
    if cluster.fabric is not None and cluster.fabric.memlock == "node" and on_fabric(cluster, name):
        fields = {"data": {DROP_IN: UNLIMITED}}
        yield Resource("v1", "ConfigMap", "containerd-memlock", ("fabric", "memlock"), fields=fields)
