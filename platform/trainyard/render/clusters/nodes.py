"""What the nodes of a pool must be given, as files for their image or machine configuration; nobody syncs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.clusters.node_forms import FORMS
from trainyard.render.clusters.node_modules import blocked, loaded
from trainyard.render.clusters.node_parts import Needs
from trainyard.render.parts.objects import PlainFile
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.efa import PAGES
from trainyard.render.sizing.kubelet import configuration
from trainyard.render.sizing.node import MI
from trainyard.specs import Cluster

PROCESSES = 65536
"""Processes and threads for eight ranks: each has tens of loaders, and each of these its threads (assumed)."""


def files(cluster: Cluster, name: str) -> Iterator[PlainFile]:
    """Yield everything of `nodes/<pool>/`, in the form that the pool's distribution reads."""
    yield from FORMS[cluster.system_of(name).distribution or "systemd"](needs(cluster, name))


def striped(cluster: Cluster, name: str) -> bool:
    """Whether files put the kubelet's folder onto the local disks; Karpenter does it for nodes that it starts."""
    in_file = "disks" in cluster.distribution_of(name).node_files
    return in_file and cluster.pools[name].on_local_disks and not cluster.is_karpenters(name)


def needs(cluster: Cluster, name: str) -> Needs:
    """Return the needs that the pool's file states for its nodes, with their places."""
    pool, fabric = cluster.pools[name], cluster.fabric
    locks = fabric_type(cluster).locks_memory and fabric_type(cluster).reaches(cluster, name)
    return Needs(
        pool=name,
        selector=cluster.selector_of(name),
        runtime=cluster.system_of(name).runtime or "containerd",
        kubelet=kubelet_fields(cluster, name),
        open_devices=pool.device_access == "udev",
        load=tuple(loaded(cluster, name)),
        block=tuple(blocked(cluster, name)),
        version=cluster.system_of(name).distribution_version,
        memlock=fabric is not None and fabric.memlock == "node" and locks,
        pages=wanted_pages(cluster, name),
        stripe=striped(cluster, name),
    )


def kubelet_fields(cluster: Cluster, name: str) -> Mapping[str, Any] | None:
    """Return the kubelet's configuration of a pool, with room for all threads of a pod; None where it is not ours."""
    pool = cluster.pools[name]
    if pool.kubelet is None:
        return None
    found = configuration(pool, pool.kubelet)
    return found if found["podPidsLimit"] or not few_processes(cluster, name) else found | {"podPidsLimit": PROCESSES}


def few_processes(cluster: Cluster, name: str) -> bool:
    """Whether the distribution allows pods fewer processes and threads than training can start."""
    limit = cluster.distribution_of(name).pod_pids
    return limit is not None and limit < PROCESSES


def wanted_pages(cluster: Cluster, name: str) -> int:
    """Return the huge pages of 2 MiB that the pool's shape has and its pods ask for; none where nobody asks."""
    asked = fabric_type(cluster).per_node(cluster, name).get(PAGES)
    return int(asked) // (2 * MI) if asked else 0
