"""Ceph's storage drivers, as Rook names them: one DaemonSet and one controller for file systems, and one for disks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Site, merge
from trainyard.render.operators.storage_driver import SNAPSHOTTER, StorageDriver, classes
from trainyard.specs.releases.facts import lookup

CHART = "ceph/ceph-csi-operator v1.0.4 api/v1/driver_types.go, deploy/charts/ceph-csi-drivers/values.yaml"
NONE = "none"
"""Policy without the container that makes snapshots."""

PARTS = {"rook-ceph.cephfs.csi.ceph.com": "cephfs", "rook-ceph.rbd.csi.ceph.com": "rbd"}
"""The part of the chart's values with each driver."""


class CephCsiDrivers(StorageDriver):
    """The drivers from their chart, which says with a word whether they make snapshots."""

    def values(self, site: Site) -> dict[str, Any]:
        """Return also the policy of snapshots, which by default starts a container that needs their definitions."""
        policy = "volumeSnapshot" if SNAPSHOTTER in site.cluster.operators else NONE
        return merge(super().values(site), {"drivers": {part: {"snapshotPolicy": policy} for part in PARTS.values()}})

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield also drivers that are off although a class names them, and snapshots that nobody makes."""
        yield from super().conflicts(site)
        for name, storage in classes(site).items():
            path = f"drivers.{PARTS[storage.provisioner]}"
            said = lookup(site.choice.values, path) or {}
            if said.get("enabled") is False:
                message = f"{path}.enabled is false, but class {name!r} needs the driver; remove it"
                yield Conflict(f"{path}.enabled", message, CHART)
            if storage.snapshots and said.get("snapshotPolicy") == NONE:
                message = f"{path}.snapshotPolicy is none, but class {name!r} has snapshots; remove it"
                yield Conflict(f"{path}.snapshotPolicy", message, CHART)


OPERATOR = CephCsiDrivers("ceph-csi-drivers")
