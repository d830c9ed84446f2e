"""Prerequisites of classes on Ceph by Rook: file systems and pools, which are objects of their owner."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import Existing

ROOK = "rook"
"""The operator that runs Ceph."""

KINDS = {
    ".cephfs.csi.ceph.com": ("CephFilesystem", "cephfilesystems", "fsName"),
    ".rbd.csi.ceph.com": ("CephBlockPool", "cephblockpools", "pool"),
}
"""By the end of a driver's name: kind, its plural, and the parameter of a class that names one."""


def storage(site: Site) -> Iterator[Prerequisite]:
    """Yield the file system or pool of each class of Rook's drivers, each once, with its Ceph cluster."""
    seen = set[tuple[str, str]]()
    for name, choice in site.cluster.storage.items() if ROOK in site.cluster.operators else ():
        for end, (kind, plural, parameter) in KINDS.items():
            space, wanted = choice.parameters.get("clusterID"), choice.parameters.get(parameter)
            if not choice.provisioner.endswith(end) or not space or not wanted or (kind, wanted) in seen:
                continue
            seen.add((kind, wanted))
            path = f"/apis/ceph.rook.io/v1/namespaces/{space}/{plural}/{wanted}"
            yield Prerequisite(
                f"{kind} `{space}/{wanted}` is there, of a CephCluster in the same namespace",
                f"Rook makes Ceph of them, and claims of class {name} wait without it",
                ("storage", name, "parameters", parameter),
                "apply both, from `platform/extra` or elsewhere (rook.io/docs/rook/v1.20, Ceph cluster CRD)",
                Existing(kind, f"{space}/{wanted}", path),
            )
