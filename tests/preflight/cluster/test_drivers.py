"""Storage drivers are installed once, with rights, and their classes promise what they can do."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_job_file, make_source, make_specs, make_team
from trainyard.base.findings import Finding
from trainyard.judge.preflight.cluster import conflicts, drivers, storage
from trainyard.judge.preflight.job.reclaim import check as check_reclaim
from trainyard.judge.preflight.subjects import OneJob

ROLE = "arn:aws:iam::111122223333:role/driver"
EKS: dict[str, Any] = {"system": {"distribution": "eks"}, "drivers": None}
NFS = CLUSTER["storage"]["shared"]
FSX = {
    "provisioner": "fsx.csi.aws.com",
    "parameters": {"subnetId": "subnet-1", "securityGroupIds": "sg-1"},
    "ownership": "server",
}
DISK = {"provisioner": "ebs.csi.aws.com", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}
LUSTRE = {"provisioner": "azurelustre.csi.azure.com", "parameters": {"mgs-ip-address": "10.0.0.1"}}
LVM = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}
NIGHTLY = {"image": "registry.example.com/python@sha256:" + "4f0c7e2ab95d8136" * 4}
TAINTED = {"gpu": {"shape": "dgx-h100", "nodes": 4, "taints": [{"key": "nvidia.com/gpu"}]}}
SSD = {"name": "ssd", "volume-group": "ssd", "default": True}


def fsx(**choice: Any) -> dict[str, Any]:
    """Return a cluster with the FSx driver as it is chosen, and a class of it."""
    return {**EKS, "storage": {"shared": FSX}, "operators": {"aws-fsx-csi-driver": {"version": "1.17.0", **choice}}}


def nfs(**values: Any) -> dict[str, Any]:
    """Return a cluster with tainted nodes and the NFS driver with some values, whose class has snapshots."""
    operators = {
        "csi-driver-nfs": {"version": "4.13.4", "values": values},
        "external-snapshotter": {"version": "8.6.0"},
    }
    return {
        "pools": TAINTED,
        "drivers": None,
        "queues": {},
        "storage": {"shared": {**NFS, "snapshots": NIGHTLY}},
        "operators": operators,
    }


def lvm(devices: list[dict[str, Any]] | None, **choice: Any) -> dict[str, Any]:
    """Return a cluster with TopoLVM, some volume groups, and a class."""
    values = {} if devices is None else {"values": {"lvmd": {"deviceClasses": devices}}}
    return {
        "drivers": None,
        "storage": {"local": {**LVM, **choice}},
        "operators": {"topolvm": {"version": "17.1.0", **values}},
    }


def ceph(values: dict[str, Any], **rook: Any) -> dict[str, Any]:
    """Return a cluster with Ceph by Rook, values of the charts of both, and a class with snapshots."""
    parameters = {"clusterID": "rook-ceph", "fsName": "training"}
    secret = {"name": "rook-csi-cephfs-provisioner", "namespace": "rook-ceph"}
    shared = {"provisioner": "rook-ceph.cephfs.csi.ceph.com", "parameters": parameters, "secret": secret}
    operators = {
        "rook": {"version": "1.20.6", "values": rook},
        "ceph-csi-drivers": {"version": "1.0.4", "values": values},
        "external-snapshotter": {"version": "8.6.0"},
    }
    return {"drivers": None, "storage": {"shared": {**shared, "snapshots": NIGHTLY}}, "operators": operators}


CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "an operator of ours": (nfs(), []),
    "an operator of somebody else": (
        {"drivers": None, "operators": {"csi-driver-nfs": {"version": "4.13.4", "managed": False}}},
        [],
    ),
    "an operator of somebody else, whom drivers name": (
        {"operators": {"csi-driver-nfs": {"version": "4.13.4", "managed": False}}},
        [],
    ),
    "an operator, and somebody else": (
        {"operators": {"csi-driver-nfs": {"version": "4.13.4"}}},
        [
            (
                "sto-two-installers",
                "operator csi-driver-nfs installs 'nfs.csi.k8s.io', which drivers has as 'by the test'",
            )
        ],
    ),
    "nobody": (
        {"drivers": None},
        [
            (
                "sto-driver-installed",
                "nobody provisions class 'shared': driver 'nfs.csi.k8s.io' is not in drivers; add oper",
            )
        ],
    ),
    "nobody, and no operator known": (
        {"drivers": None, "storage": {"shared": {"provisioner": "csi.example.com"}}},
        [
            (
                "sto-driver-installed",
                "nobody provisions class 'shared': driver 'csi.example.com' is not in drivers; install",
            )
        ],
    ),
    "nobody, on another cloud's service": (
        {"storage": {"disk": DISK}, "system": {"distribution": "gke-cos"}, "drivers": None},
        [
            (
                "sto-driver-installed",
                "nobody provisions class 'disk': driver 'ebs.csi.aws.com' is not in drivers; install",
            )
        ],
    ),
    "a role by the cluster's issuer": (fsx(identity="irsa", role=ROLE), []),
    "a role by the agent": (fsx(identity="pod-identity", role=ROLE), []),
    "the role of the nodes": (fsx(identity="node"), []),
    "a role in the chart's values": (
        fsx(values={"controller": {"serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": ROLE}}}}),
        [],
    ),
    "no rights": (
        fsx(),
        [("sto-identity", "aws-fsx-csi-driver has no identity, so its cloud refuses to make volumes")],
    ),
    "a way without a role": (
        fsx(identity="irsa"),
        [("sto-identity", "identity of aws-fsx-csi-driver is 'irsa', but it has no role; add role")],
    ),
    "a role beside that of the nodes": (
        fsx(identity="node", role=ROLE),
        [("sto-identity", "identity of aws-fsx-csi-driver is 'node', whose role is that of the nodes; remove role")],
    ),
    "rights of what somebody else installs": (
        fsx(managed=False, identity="irsa"),
        [("sto-identity", "identity of aws-fsx-csi-driver has no effect, as somebody else installs it; remove it")],
    ),
    "rights of what needs none": (
        {"drivers": None, "operators": {"csi-driver-nfs": {"version": "4.13.4", "role": ROLE}}},
        [("sto-identity", "role of csi-driver-nfs has no effect, as it calls no cloud; remove it")],
    ),
    "the agent of EKS elsewhere": (
        fsx(identity="pod-identity", role=ROLE) | {"system": {"distribution": "kubeadm"}},
        [("sto-identity", "identity 'pod-identity' of aws-fsx-csi-driver exists only on Amazon EKS; use irsa")],
    ),
    "a disk whose zone is chosen first": (
        {"storage": {"disk": {**DISK, "binding": "Immediate"}}, "drivers": {"ebs.csi.aws.com": "an add-on"}},
        [("sto-binding", "volumes of EBS are in one zone, chosen before their pod; set binding: WaitForFirstConsumer")],
    ),
    "a disk where its pod is": ({"storage": {"disk": DISK}, "drivers": {"ebs.csi.aws.com": "an add-on"}}, []),
    "growth that there is": ({"storage": {"shared": {**NFS, "allowVolumeExpansion": True}}}, []),
    "growth that there is not": (
        {
            "storage": {"shared": {**LUSTRE, "allowVolumeExpansion": True}},
            "drivers": {"azurelustre.csi.azure.com": "by the storage team"},
        },
        [("sto-grows", "allowVolumeExpansion is true, but volumes of Azure Managed Lustre never grow; remove it")],
    ),
    "another name of the driver": (
        nfs(driver={"name": "nfs2.csi.k8s.io"}),
        [("values/conflict", "driver.name is 'nfs2.csi.k8s.io', but classes name driver 'nfs.csi.k8s.io'; remove it")],
    ),
    "tolerations that miss a taint": (
        nfs(node={"tolerations": [{"key": "spot", "operator": "Exists"}]}),
        [("values/conflict", "node.tolerations replaces the derived list and misses taint nvidia.com/gpu")],
    ),
    "no container for snapshots": (
        nfs(controller={"enableSnapshotter": False}),
        [("values/conflict", "controller.enableSnapshotter is false, but class 'shared' has snapshots; remove it")],
    ),
    "tainted nodes without the driver": (
        fsx(identity="irsa", role=ROLE, values={"node": {"tolerateAllTaints": False}})
        | {"pools": TAINTED, "queues": {}},
        [("values/conflict", "node.tolerateAllTaints is false, but nodes of pool 'gpu' have taints; remove it")],
    ),
    "a hook that deletes the driver": (
        {
            **EKS,
            "operators": {
                "aws-efs-csi-driver": {
                    "version": "4.4.1",
                    "identity": "irsa",
                    "role": ROLE,
                    "values": {"useHelmHooksForCSIDriver": True},
                }
            },
            "storage": {},
        },
        [("values/conflict", "useHelmHooksForCSIDriver is true, but Argo CD then deletes the driver's object at each")],
    ),
    "volume groups": (lvm([SSD]), []),
    "no volume group": (
        lvm(None),
        [("sto-driver-installed", "values of topolvm lack lvmd.deviceClasses, the volume groups of the nodes, so it")],
    ),
    "no such volume group": (
        lvm([SSD], parameters={"topolvm.io/device-class": "nvme"}),
        [("values/conflict", "lvmd.deviceClasses has no device class 'nvme', which class 'local' needs; add it")],
    ),
    "no volume group by default": (
        lvm([{**SSD, "default": False}]),
        [("values/conflict", "lvmd.deviceClasses has no default device class, which class 'local' needs; add it")],
    ),
    "snapshots of a thick volume": (
        lvm([SSD], snapshots=NIGHTLY),
        [("values/conflict", "class 'local' has snapshots, but device class 'ssd' is not thin; set type: thin")],
    ),
    "Ceph's drivers": (ceph({}), []),
    "Ceph's driver under another name": (
        ceph({"drivers": {"cephfs": {"name": "cephfs.csi.ceph.com"}}}),
        [("values/conflict", "drivers.cephfs.name is cephfs.csi.ceph.com, but classes name drivers with Rook's names")],
    ),
    "Ceph's driver that is off": (
        ceph({"drivers": {"cephfs": {"enabled": False}}}),
        [("values/conflict", "drivers.cephfs.enabled is false, but class 'shared' needs the driver; remove it")],
    ),
    "Ceph's driver without snapshots": (
        ceph({"drivers": {"cephfs": {"snapshotPolicy": "none"}}}),
        [("values/conflict", "drivers.cephfs.snapshotPolicy is none, but class 'shared' has snapshots; remove it")],
    ),
    "Rook without definitions": (
        ceph({}, crds={"enabled": False}),
        [("values/conflict", "crds.enabled is false, but the definitions would go, and with them the Ceph cluster")],
    ),
    "a node's disk that is chosen first": (
        lvm([SSD], binding="Immediate"),
        [("sto-binding", "volumes of TopoLVM are in the disks of one node, chosen before their pod; set binding")],
    ),
}


def found(changes: dict[str, Any]) -> list[Finding]:
    """Return what is wrong with the drivers of a cluster, its classes and the values of their charts."""
    cluster = make_cluster(**changes)
    file = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    return [item for check in (storage.check, drivers.check, conflicts.check) for item in check(cluster, file)]


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_a_driver_serves_its_classes(changes, expected):
    """Each fault is one finding at the field that has it, and what works is none."""
    listed = found(changes)
    assert [item.rule for item in listed] == [rule for rule, _ in expected]
    assert [item.message[: len(text)] for item, (_, text) in zip(listed, expected, strict=True)] == [
        text for _, text in expected
    ]
    assert all(item.path for item in listed)


def test_the_fix_names_the_add_on():
    """On its own cloud a driver may be switched on; elsewhere there is nothing to switch on."""
    (here,) = found({**EKS, "storage": {"shared": FSX}})
    (elsewhere,) = found({"drivers": None, "storage": {"shared": FSX}})
    assert "--addon-name aws-fsx-csi-driver" in str(here.fix)
    assert "addon" not in str(elsewhere.fix)


RECLAIM: dict[str, tuple[dict[str, Any], bool]] = {
    "kept by default": ({}, False),
    "deleted": ({"reclaim": "Delete"}, True),
    "made by somebody else": ({"existing": True, "parameters": {}}, False),
}


@pytest.mark.parametrize(("storage_changes", "lost"), RECLAIM.values(), ids=RECLAIM)
def test_checkpoints_outlive_their_claim(storage_changes, lost):
    """A class that deletes volumes deletes checkpoints, which is a warning at the job."""
    cluster = make_cluster(storage={"shared": {**NFS, **storage_changes}})
    checkpoint = {"volume": "checkpoints", "size": "100Gi"}
    file = make_job_file(checkpoint=checkpoint)
    one = OneJob(make_specs(file, clusters={"test": cluster}), file, None)
    listed = list(check_reclaim(one, make_team(), cluster))
    assert [item.rule for item in listed] == (["ckp-reclaim"] if lost else [])
    assert not list(check_reclaim(OneJob(one.specs, make_job_file(), None), make_team(), cluster))
