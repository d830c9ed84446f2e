"""Prerequisites of classes on Ceph by Rook: the nodes of a Ceph of ours, or objects of another owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.render.parts.ceph_buckets import host, space
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import Existing, namespaced
from trainyard.specs import Cluster
from trainyard.specs.models.ceph import CephPool
from trainyard.specs.models.storage import Storage

ROOK = "rook"
"""The operator that runs Ceph."""

KINDS = {
    ".cephfs.csi.ceph.com": ("CephFilesystem", "cephfilesystems", "fsName"),
    ".rbd.csi.ceph.com": ("CephBlockPool", "cephblockpools", "pool"),
}
"""By the end of a driver's name: kind, its plural, and the parameter of a class that names one."""


def declared(cluster: Cluster, storage: Storage) -> tuple[str, Mapping[str, CephPool]] | None:
    """Return the parameter of a class that names a part of the cluster's own Ceph, and the parts; None for others."""
    ceph = cluster.ceph
    end = next((end for end in KINDS if storage.provisioner.endswith(end)), None)
    if ceph is None or end is None:
        return None
    kind, _, parameter = KINDS[end]
    return parameter, ceph.filesystems if kind == "CephFilesystem" else ceph.pools


def nodes(site: Site) -> Iterator[Prerequisite]:
    """Yield the nodes and disks of the cluster's own Ceph."""
    ceph = site.cluster.ceph
    if ceph is None:
        return
    labels = ",".join(f"{key}={value}" for key, value in sorted(ceph.nodes.labels.items()))
    domains = {"topology.rook.io/rack": ceph.nodes.racks, "topology.kubernetes.io/zone": ceph.nodes.zones}
    keys = "".join(f", and `{key}`" for key, count in domains.items() if count is not None)
    yield Prerequisite(
        f"{ceph.nodes.count} nodes have the label `{labels}`{keys}",
        "Ceph's daemons run there and nowhere else, and Rook reads the topology when it makes an OSD",
        ("ceph", "nodes", "labels"),
        "label them before the first sync",
        look=f"`kubectl get nodes -l {labels}`",
    )
    if ceph.disks.devices is not None:
        yield Prerequisite(
            f"on each of them the devices `{ceph.disks.devices}` are empty: no partition, file system or LVM",
            "Rook takes only empty devices, and never one with data",
            ("ceph", "disks", "devices"),
            "wipe old ones (rook.io/docs/rook/v1.20, Cleanup, zapping devices)",
            look="`lsblk -f` on each",
        )


def certificates(site: Site) -> Iterator[Prerequisite]:
    """Yield the issuer or the Secret of each object store that serves HTTPS."""
    for name, store in site.cluster.ceph.object_stores.items() if site.cluster.ceph is not None else ():
        at, tls = ("ceph", "objectStores", name, "tls"), store.tls
        why = f"gateways of object store {name} do not start without their certificate"
        if tls is not None and tls.issuer is not None:
            yield Prerequisite(
                f"ClusterIssuer `{tls.issuer}` is there, and signs certificates of ten years for names in the cluster",
                why,
                (*at, "issuer"),
                "make one from the authority of `tls.authority` (cert-manager.io, CA issuer)",
                Existing("ClusterIssuer", tls.issuer, f"/apis/cert-manager.io/v1/clusterissuers/{tls.issuer}"),
            )
        elif tls is not None and tls.secret is not None:
            yield Prerequisite(
                f"Secret `{space()}/{tls.secret}` is there, with a certificate for `{host(name)}`",
                why,
                (*at, "secret"),
                f"`kubectl create secret tls -n {space()} {tls.secret} --cert=CERT --key=KEY`; after each renewal "
                f"`kubectl rollout restart -n {space()} deploy -l rook_object_store={name}`",
                namespaced("Secret", "secrets", space(), tls.secret),
            )


def storage(site: Site) -> Iterator[Prerequisite]:
    """Yield the file system or pool of each class of Rook's drivers, each once, with its Ceph cluster."""
    yield from nodes(site)
    yield from certificates(site)
    if site.cluster.ceph is not None:
        return
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
