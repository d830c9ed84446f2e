"""A Ceph cluster comes up, survives what fails, is what classes name, and nothing here deletes it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import CLUSTER, make_cluster, make_source, make_specs
from trainyard.base.findings import Severity
from trainyard.judge.preflight.cluster import ceph
from trainyard.render.operators.install import sites
from trainyard.render.operators.rook import OPERATOR
from trainyard.render.prerequisites.base import Site
from trainyard.render.prerequisites.ceph import storage as prerequisites

IMAGE = "registry.example.com/mirror/ceph@sha256:" + "4f0c7e2ab95d8136" * 4
NODES = {"labels": {"example.com/storage": "ceph"}, "count": 5, "racks": 3}
CEPH: dict[str, Any] = {
    "image": IMAGE,
    "nodes": NODES,
    "disks": {"devices": "^nvme[1-8]n1$"},
    "filesystems": {"training": {}},
    "pools": {"services": {"failureDomain": "rack"}},
}
PEM = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
ROOK = {"rook": {"version": "1.20.6"}, "ceph-csi-drivers": {"version": "1.0.4"}}
FS = "rook-ceph.cephfs.csi.ceph.com"
RBD = "rook-ceph.rbd.csi.ceph.com"
EBS = {"provisioner": "ebs.csi.aws.com", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}
OURS = {"team": "nlp", "size": "1Ti"}
VOLUMES = {"storage": "raw", "size": "4Ti", "count": 6}


def of_class(provisioner: str = FS, **parameters: str) -> dict[str, Any]:
    """Return a change of the cluster by which its shared class is Ceph's."""
    return {"storage": {"shared": {"provisioner": provisioner, "parameters": parameters}}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "five nodes with disks of their own": ({}, {}, []),
    "five monitors": ({"mons": 5}, {}, []),
    "volumes of a class": ({"disks": VOLUMES}, {"storage": {"raw": EBS}}, []),
    "classes of its parts": ({}, of_class(clusterID="rook-ceph", fsName="training"), []),
    "no Rook": (
        {},
        {"operators": CLUSTER["operators"]},
        ["ceph needs operator 'rook', which this cluster does not install; add it under operators"],
    ),
    "an issuer without cert-manager": (
        {"objectStores": {"models": {"tls": {"issuer": "site", "authority": PEM}}}},
        {},
        ["issuer needs operator 'cert-manager', which this cluster does not have; add it, or use secret"],
    ),
    "a Secret with the certificate": (
        {"objectStores": {"models": {"tls": {"secret": "rgw", "authority": PEM}}}},
        {},
        [],
    ),
    "monitors in an even number": ({"mons": 4}, {}, ["mons is 4, which survives no more than 3; use 3"]),
    "more monitors than nodes": (
        {"mons": 5, "nodes": {**NODES, "count": 4}},
        {},
        ["mons is 5, but ceph.nodes has 4, and each needs one; use 3"],
    ),
    "one monitor": ({"mons": 1}, {}, ["mons is 1, so Ceph stops with that monitor's node; use 3"]),
    "more copies than racks": (
        {"pools": {"services": {"replicas": 4, "failureDomain": "rack"}}},
        {},
        ["replicas is 4, but ceph.nodes has 3 racks; lower replicas or use another failureDomain"],
    ),
    "copies in zones that nobody declared": (
        {"filesystems": {"training": {"failureDomain": "zone"}}},
        {},
        ["replicas is 3, but ceph.nodes has 0 zones; lower replicas or use another failureDomain"],
    ),
    "copies by default on two hosts": (
        {"nodes": {**NODES, "count": 2}, "mons": 1, "pools": {}},
        {},
        [
            "mons is 1, so Ceph stops with that monitor's node; use 3",
            "replicas is 3, but ceph.nodes has 2 hosts; lower replicas or use another failureDomain",
        ],
    ),
    "fewer volumes than copies": (
        {"disks": {**VOLUMES, "count": 2}, "pools": {}},
        {"storage": {"raw": EBS}},
        ["replicas is 3, but ceph.disks has 2 volumes; raise count"],
    ),
    "two copies": (
        {"pools": {"services": {"replicas": 2}}},
        {},
        ["replicas is 2, so a fault while it heals loses data; use 3"],
    ),
    "one copy": ({"pools": {"services": {"replicas": 1}}}, {}, ["replicas is 1, so a lost disk loses data; use 3"]),
    "a class without binding": (
        {"disks": VOLUMES},
        {"storage": {"raw": {**EBS, "binding": "Immediate"}}},
        ["storage 'raw' binds claims before the pod has a node; set binding: WaitForFirstConsumer"],
    ),
    "a shared class": (
        {"disks": VOLUMES},
        {"storage": {"raw": {"provisioner": "efs.csi.aws.com"}}},
        ["storage 'raw' is ReadWriteMany, but a daemon needs a disk alone; use one of ReadWriteOnce"],
    ),
    "a class of Ceph itself": (
        {"disks": VOLUMES},
        {"storage": {"raw": {**EBS, "provisioner": RBD, "parameters": {"pool": "services"}}}},
        ["storage 'raw' is of Ceph itself; name one of other disks"],
    ),
    "a class that is not there": (
        {"disks": {**VOLUMES, "storage": "rwa"}},
        {"storage": {"raw": EBS}},
        ["storage 'rwa' does not exist; did you mean 'raw'?"],
    ),
    "nodes with jobs": (
        {"nodes": {**NODES, "labels": {"trainyard.dev/pool": "gpu"}}},
        {},
        ["nodes of pool 'gpu' have these labels, but sizes of its jobs leave no room for Ceph; use others"],
    ),
    "a file system that is misspelt": (
        {},
        of_class(clusterID="rook-ceph", fsName="trainin"),
        ["fsName is 'trainin', which ceph does not declare; did you mean 'training'?"],
    ),
    "a pool that is a file system": (
        {},
        of_class(RBD, clusterID="rook-ceph", pool="training"),
        ["pool is 'training', which ceph does not declare; there are: services"],
    ),
    "two buckets of a team": ({"objectStores": {"models": {"buckets": {"a": OURS, "b": OURS}}}}, {}, []),
    "a store with one gateway and few copies": (
        {"objectStores": {"models": {"gateways": 1, "replicas": 2}}},
        {},
        [
            "replicas is 2, so a fault while it heals loses data; use 3",
            "gateways is 1, so the store stops with that pod's node; use 2",
        ],
    ),
    "a bucket of no team": (
        {"objectStores": {"models": {"buckets": {"a": {**OURS, "team": "nlq"}}}}},
        {},
        ["no queue admits team 'nlq'; did you mean 'nlp'?"],
    ),
    "a name in two stores": (
        {"objectStores": {"models": {"buckets": {"a": OURS}}, "more": {"buckets": {"a": OURS}}}},
        {},
        ["bucket 'a' is in 'models' already; rename one, as jobs name no store"],
    ),
    "a name that no bucket can have": (
        {"objectStores": {"models": {"buckets": {"a" * 60: OURS}}}},
        {},
        [f"the name '{('nlp.' + 'a' * 60)[:40]}' must have 3 to 63 characters, not 64; use a shorter name"],
    ),
    "a class that is taken": (
        {"objectStores": {"raw": {}}, "disks": {**VOLUMES, "storage": "ceph-buckets-raw"}},
        {"storage": {"ceph-buckets-raw": EBS}},
        ["storage 'ceph-buckets-raw' has the name of the store's class of buckets; rename one"],
    ),
    "buckets that fit": (
        {"disks": VOLUMES, "objectStores": {"models": {"buckets": {"a": {**OURS, "size": "8Ti"}}}}},
        {"storage": {"raw": EBS}},
        [],
    ),
    "buckets that are larger than the disks": (
        {"disks": VOLUMES, "objectStores": {"models": {"buckets": {"a": {**OURS, "size": "9Ti"}}}}},
        {"storage": {"raw": EBS}},
        ["buckets take 27Ti with their copies, but ceph.disks has 24Ti; lower size"],
    ),
    "another namespace": (
        {},
        of_class(clusterID="ceph", fsName="training"),
        ["clusterID is 'ceph', but Ceph is in namespace 'rook-ceph'; use that"],
    ),
}


def cluster(said: dict[str, Any], changes: dict[str, Any]) -> Any:
    """Return a cluster with Rook and a Ceph."""
    return make_cluster(ceph={**CEPH, **said}, **{"operators": {**CLUSTER["operators"], **ROOK}, **changes})


@pytest.mark.parametrize(("said", "changes", "messages"), CASES.values(), ids=CASES)
def test_ceph_can_come_up_and_survive(said, changes, messages):
    """A Ceph cluster has as many nodes and disks as it needs, and classes name its parts."""
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes, "ceph": {**CEPH, **said}})
    assert [finding.message for finding in ceph.check(cluster(said, changes), source)] == messages


def test_a_cluster_without_ceph_may_name_any_file_system():
    """File systems of another owner are a prerequisite, and no finding."""
    there = make_cluster(operators={**CLUSTER["operators"], **ROOK}, **of_class(clusterID="ceph", fsName="theirs"))
    assert not list(ceph.check(there, make_source("platform/clusters/test.yaml", CLUSTER)))
    assert ceph.SURVIVES.severity is Severity.WARNING


WRONG = {
    "any disk with these letters": ({"devices": "sd"}, "from '\\^' on"),
    "both kinds": ({"devices": "^sd", **VOLUMES}, "exactly one of"),
    "volumes without size": ({"storage": "raw", "count": 3}, "needs size and count"),
}


@pytest.mark.parametrize(("disks", "said"), WRONG.values(), ids=WRONG)
def test_disks_are_said_whole(disks, said):
    """A pattern that takes the disk of the system, or half a claim, is refused."""
    with pytest.raises(ValidationError, match=said):
        cluster({"disks": disks}, {})


@pytest.mark.parametrize("volumes", [False, True], ids=["devices", "volumes"])
def test_nothing_deletes_ceph(volumes):
    """Objects fit Rook's types, Argo CD neither prunes nor deletes them, and deleting them by hand wipes no disk."""
    disks = {"disks": VOLUMES} if volumes else {}
    there = cluster(disks, {"storage": {"raw": EBS}} if volumes else {})
    (site,) = [site for site in sites(there) if site.name == "rook"]
    objects = {resource.kind: resource.value() for resource in OPERATOR.own(site)}
    assert set(objects) == {"CephCluster", "CephFilesystem", "CephBlockPool"}
    for value in objects.values():
        notes = value["metadata"]["annotations"]
        assert notes["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
    spec = objects["CephCluster"]["spec"]
    assert spec["cleanupPolicy"] == {"confirmation": "", "allowUninstallWithVolumes": False}
    assert objects["CephFilesystem"]["spec"]["preserveFilesystemOnDelete"]
    later = [
        objects[kind]["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]
        for kind in ("CephFilesystem", "CephBlockPool")
    ]
    assert later == ["1", "1"]
    (spread,) = spec["placement"]["mon"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "topology.rook.io/rack"
    sets = spec["storage"].get("storageClassDeviceSets", [])
    assert [one["portable"] for one in sets] == ([True] if volumes else [])
    assert spec["mon"].get("volumeClaimTemplate", {}).get("spec", {}).get("storageClassName") == (
        "raw" if volumes else None
    )


def test_prerequisites_name_nodes_and_disks_of_ours():
    """Who installs the machines reads which labels and empty disks Ceph needs; the file system is ours."""
    there = cluster({}, of_class(clusterID="rook-ceph", fsName="training"))
    found = [one.what for one in prerequisites(Site("test", make_specs(clusters={"test": there})))]
    assert found == [
        "5 nodes have the label `example.com/storage=ceph`, and `topology.rook.io/rack`",
        "on each of them the devices `^nvme[1-8]n1$` are empty: no partition, file system or LVM",
    ]
