"""Objects of Rook: the Ceph cluster, its file systems, pools and object stores, none of which Argo CD ever deletes.

Facts: rook/rook v1.20.6 Documentation/CRDs/Cluster/ceph-cluster-crd.md, pvc-cluster.md,
Documentation/CRDs/Shared-Filesystem/ceph-filesystem-crd.md, Documentation/CRDs/Block-Storage/ceph-block-pool-crd.md,
Documentation/CRDs/Object-Storage/ceph-object-store-crd.md; amounts of deploy/charts/rook-ceph-cluster/values.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import HOSTNAME, PROTECTED, SYNC_WAVE
from trainyard.render.operators.base import Site
from trainyard.render.parts.ceph_buckets import PORT, SECURE, class_name, host
from trainyard.render.parts.objects import Resource
from trainyard.specs.models.ceph import Ceph, CephObjectStore, CephPool

API = "ceph.rook.io/v1"

LATER = "1"
"""Sync wave of file systems, pools and stores: Argo CD waits until the Ceph cluster is healthy."""

AMOUNTS: dict[str, dict[str, Any]] = {
    "mgr": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "512Mi"}},
    "mon": {"limits": {"memory": "2Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
    "osd": {"limits": {"memory": "4Gi"}, "requests": {"cpu": "1", "memory": "4Gi"}},
    "prepareosd": {"requests": {"cpu": "500m", "memory": "50Mi"}},
}
"""Requests and limits by daemon, as in the chart; limits of CPUs would slow down writes of everybody."""

KEYS = "aes"
"""Cipher of the keys of the storage drivers: kernels before 7.0 mount with no other (the chart's values.yaml)."""

GATEWAY = {"limits": {"memory": "2Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}

METADATA_SERVER = {"limits": {"memory": "4Gi"}, "requests": {"cpu": "1", "memory": "4Gi"}}

CRITICAL = {"mon": "system-node-critical", "osd": "system-node-critical", "mgr": "system-cluster-critical"}


def resources(site: Site) -> Iterator[Resource]:
    """Yield the objects of the cluster's Ceph; nothing where it has none."""
    ceph, space = site.cluster.ceph, site.facts.namespace
    if ceph is None:
        return
    yield make_object(site, "CephCluster", space, ("ceph",), cluster_spec(site, ceph))
    for name, pool in ceph.filesystems.items():
        yield make_object(site, "CephFilesystem", name, ("ceph", "filesystems", name), file_system(ceph, pool), LATER)
    for name, pool in ceph.pools.items():
        yield make_object(site, "CephBlockPool", name, ("ceph", "pools", name), replicated(pool), LATER)
    for name, store in ceph.object_stores.items():
        at = ("ceph", "objectStores", name)
        yield make_object(site, "CephObjectStore", name, at, object_store(name, ceph, store), LATER)
        yield bucket_class(space, name, at)
        if store.tls is not None and store.tls.issuer is not None:
            yield certificate(site, name, store.tls.issuer)


def make_object(
    site: Site, kind: str, name: str, at: tuple[str, ...], spec: dict[str, Any], wave: str | None = None
) -> Resource:
    """Return a protected object in the operator's namespace."""
    waves = {SYNC_WAVE: wave} if wave else {}
    return Resource(
        API, kind, name, at, site.facts.namespace, annotations={**PROTECTED, **waves}, fields={"spec": spec}
    )


def placement(ceph: Ceph) -> dict[str, Any]:
    """Return the nodes of Ceph's daemons, and the taints that they tolerate."""
    terms = [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(ceph.nodes.labels.items())]
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
        "tolerations": [taint.tolerated() for taint in ceph.nodes.taints] or None,
    }


def cluster_spec(site: Site, ceph: Ceph) -> dict[str, Any]:
    """Return the spec of a CephCluster: the policy by which deleting it would wipe its disks is empty."""
    mons: dict[str, Any] = {"count": ceph.mons, "allowMultiplePerNode": False}
    if ceph.disks.storage is not None:
        wanted = {"storageClassName": ceph.disks.storage, "resources": {"requests": {"storage": "10Gi"}}}
        mons["volumeClaimTemplate"] = {"spec": wanted}
    return {
        "cephVersion": {"image": ceph.image, "allowUnsupported": False},
        "dataDirHostPath": "/var/lib/rook",
        "mon": mons,
        "mgr": {"count": min(2, ceph.nodes.count), "allowMultiplePerNode": False},
        "dashboard": {"enabled": False},
        "security": {"cephx": {"csi": {"keyType": KEYS}}},
        "crashCollector": {"disable": False},
        "disruptionManagement": {"managePodBudgets": True},
        "cleanupPolicy": {"confirmation": "", "allowUninstallWithVolumes": False},
        "priorityClassNames": CRITICAL,
        "resources": AMOUNTS,
        "placement": {"all": placement(ceph), "mon": spread_mons(ceph)},
        "storage": disks(site, ceph),
    }


def spread_mons(ceph: Ceph) -> dict[str, Any] | None:
    """Return the constraint that keeps monitors in different zones or racks, or None where there are too few."""
    keys = {"topology.kubernetes.io/zone": ceph.nodes.zones, "topology.rook.io/rack": ceph.nodes.racks}
    key = next((key for key, count in keys.items() if count is not None and count >= ceph.mons), None)
    return {"topologySpreadConstraints": [spread(key, "rook-ceph-mon", "DoNotSchedule")]} if key else None


def spread(key: str, app: str, otherwise: str) -> dict[str, Any]:
    """Return a constraint by which pods of a daemon are spread over the values of a node label."""
    chosen = {"matchExpressions": [{"key": "app", "operator": "In", "values": [app]}]}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": otherwise, "labelSelector": chosen}


def disks(site: Site, ceph: Ceph) -> dict[str, Any]:
    """Return where Ceph's data is: devices of all its nodes by their names, or raw volumes of a class.

    A volume of a disk that stays on its node moves with no pod; any other may.
    """
    said = ceph.disks
    if said.storage is None:
        return {"useAllNodes": True, "useAllDevices": False, "deviceFilter": said.devices}
    storage = site.cluster.storage.get(said.storage)
    local = storage is not None and storage.driver is not None and storage.driver.node_local
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": "Block",
        "storageClassName": said.storage,
        "resources": {"requests": {"storage": said.size}},
    }
    volumes = {
        "name": "disks",
        "count": said.count,
        "portable": not local,
        "placement": {"topologySpreadConstraints": [spread(HOSTNAME, "rook-ceph-osd", "ScheduleAnyway")]},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    return {"useAllNodes": False, "useAllDevices": False, "storageClassDeviceSets": [volumes]}


def replicated(pool: CephPool) -> dict[str, Any]:
    """Return a pool with copies in different failure domains; Rook refuses one copy unless it is told."""
    copies: dict[str, Any] = {"size": pool.replicas, "requireSafeReplicaSize": pool.replicas > 1}
    return {"failureDomain": pool.failure_domain, "replicated": copies}


def file_system(ceph: Ceph, pool: CephPool) -> dict[str, Any]:
    """Return a file system that stays when its object is deleted, with a metadata server that stands by."""
    return {
        "metadataPool": replicated(pool),
        "dataPools": [{"name": "data", **replicated(pool)}],
        "preserveFilesystemOnDelete": True,
        "metadataServer": {
            "activeCount": 1,
            "activeStandby": True,
            "placement": placement(ceph),
            "priorityClassName": "system-cluster-critical",
            "resources": METADATA_SERVER,
        },
    }


def certificate_name(store: str) -> str:
    """Return the name of the Certificate of a store, and of the Secret that cert-manager makes of it."""
    return f"rgw-{store}-tls"


def secure(name: str, store: CephObjectStore) -> dict[str, Any]:
    """Return the fields of a gateway that also serves HTTPS."""
    if store.tls is None:
        return {}
    return {"securePort": SECURE, "sslCertificateRef": store.tls.secret or certificate_name(name)}


def certificate(site: Site, store: str, issuer: str) -> Resource:
    """Return the certificate of a store, for the name of its Service; Rook tries the store again until it is there.

    Gateways read it when they start, so it lasts ten years, and is renewed one year before its end.
    """
    spec = {
        "secretName": certificate_name(store),
        "dnsNames": [host(store)],
        "duration": "87600h",
        "renewBefore": "8760h",
        "privateKey": {"algorithm": "ECDSA", "size": 256},
        "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": issuer},
    }
    at, space = ("ceph", "objectStores", store, "tls", "issuer"), site.facts.namespace
    waves, fields = {SYNC_WAVE: LATER}, {"spec": spec}
    return Resource(
        "cert-manager.io/v1", "Certificate", certificate_name(store), at, space, annotations=waves, fields=fields
    )


def object_store(name: str, ceph: Ceph, store: CephObjectStore) -> dict[str, Any]:
    """Return an object store whose pools stay when its object is deleted, served by pods on different hosts."""
    gateways = {"matchLabels": {"app": "rook-ceph-rgw"}}
    term = {"weight": 100, "podAffinityTerm": {"labelSelector": gateways, "topologyKey": HOSTNAME}}
    return {
        "metadataPool": replicated(store),
        "dataPool": replicated(store),
        "preservePoolsOnDelete": True,
        "gateway": {
            "port": PORT,
            **secure(name, store),
            "instances": store.gateways,
            "placement": {
                **placement(ceph),
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]},
            },
            "priorityClassName": "system-cluster-critical",
            "resources": GATEWAY,
        },
    }


def bucket_class(space: str, store: str, at: tuple[str, ...]) -> Resource:
    """Return the class of a store's buckets: a bucket and its data outlive the claim on it."""
    said = {"objectStoreName": store, "objectStoreNamespace": space}
    fields = {"provisioner": f"{space}.ceph.rook.io/bucket", "parameters": said, "reclaimPolicy": "Retain"}
    return Resource("storage.k8s.io/v1", "StorageClass", class_name(store), at, fields=fields)
