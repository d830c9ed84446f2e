"""What the nodes of a pool must be given, as files for their image or machine configuration; nobody syncs them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.clusters.node_forms import FORMS
from trainyard.render.clusters.node_modules import blocked, loaded
from trainyard.render.clusters.node_parts import Needs
from trainyard.render.parts.objects import PlainFile
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.kubelet import configuration
from trainyard.specs import Cluster


def files(cluster: Cluster, name: str) -> Iterator[PlainFile]:
    """Yield everything of `nodes/<pool>/`, in the form that the pool's distribution reads."""
    yield from FORMS[cluster.system_of(name).distribution or "systemd"](needs(cluster, name))


def needs(cluster: Cluster, name: str) -> Needs:
    """Return the needs that the pool's file states for its nodes, with their places."""
    pool, fabric = cluster.pools[name], cluster.fabric
    locks = fabric_type(cluster).locks_memory and fabric_type(cluster).reaches(cluster, name)
    return Needs(
        pool=name,
        runtime=cluster.system_of(name).runtime or "containerd",
        kubelet=configuration(pool, pool.kubelet) if pool.kubelet else None,
        open_devices=pool.device_access == "udev",
        load=tuple(loaded(cluster, name)),
        block=tuple(blocked(cluster, name)),
        memlock=fabric is not None and fabric.memlock == "node" and locks,
    )
