"""Storage drivers take from the cluster what their charts have values for."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster
from trainyard.base.documents import load
from trainyard.base.system.data import own_folder
from trainyard.render.operators import operators
from trainyard.render.operators.install import driver_operators, installed_operators, values
from trainyard.specs.drivers import drivers
from trainyard.specs.releases import releases
from trainyard.specs.releases.facts import lookup

DRIVERS = {name: facts for name, facts in releases().items() if facts.provisions}
ROLE = "arn:aws:iam::111122223333:role/driver"
ANNOTATION = {"eks.amazonaws.com/role-arn": ROLE}
TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
NIGHTLY = {"image": "registry.example.com/python@sha256:" + "4f0c7e2ab95d8136" * 4}
POOLS = {
    "gpu": {
        "shape": "dgx-h100",
        "nodes": 4,
        "taints": [{"key": "nvidia.com/gpu"}],
        "localDisks": {"size": "20000Gi", "storage": "local"},
    },
    "cpu": {"shape": "cpu-64", "nodes": 4},
}
LOCAL = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}
WEKA = {
    "provisioner": "csi.weka.io",
    "parameters": {"volumeType": "dir/v1", "filesystemName": "training"},
    "secret": {"name": "api", "namespace": "csi-wekafs"},
}


def made(name: str, *, snapshots: bool = False, **choice: Any) -> dict[str, Any]:
    """Return the values of a driver on a cluster with tainted nodes, where snapshots are taken or not."""
    nightly = {"snapshots": NIGHTLY} if snapshots else {}
    snapshotter = {"external-snapshotter": {"version": "8.6.0"}} if snapshots else {}
    (release, *_) = DRIVERS[name].newest_first
    cluster = make_cluster(
        pools=POOLS,
        queues={},
        storage={"local": LOCAL, "shared": {**WEKA, **nightly}},
        operators={name: {"version": release, **choice}, **snapshotter},
    )
    ((site, known), *_) = installed_operators(cluster)
    return values(site, known)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_paths_are_values_of_the_chart(name):
    """A path that the chart does not read would change nothing, and nobody would hear of it."""
    facts, chart = DRIVERS[name], DRIVERS[name].chart
    said = facts.provisions
    assert said is not None
    assert chart is not None
    file = own_folder("schemas") / "charts" / chart.name / f"{facts.newest_first[0]}.yaml"
    defaults = load(file.read_bytes(), file=file.name)[0][0].value
    switches = (said.name_value, *said.tolerations, said.all_taints, said.snapshot_sidecar, said.snapshot_switch)
    for path in filter(None, (*switches, *said.accounts.values(), *said.sets, *said.asks)):
        parent, _, key = path.rpartition(".")
        assert path in facts.optional_values or key in (lookup(defaults, parent) if parent else defaults), path
    assert set(said.keeps) <= set(said.sets)
    assert {lookup(defaults, said.name_value)} <= set(said.provisioners) if said.name_value else True


@pytest.mark.parametrize("name", DRIVERS)
def test_each_driver_of_an_operator_is_known(name):
    """What an operator installs has facts that classes are judged by, and says why where it calls a cloud."""
    said = DRIVERS[name].provisions
    assert said is not None
    assert {one.split(".", 1)[1] if "ceph" in one else one for one in said.provisioners} <= set(drivers())
    assert bool(said.accounts) is bool(said.policy)
    assert name in operators()


EXPECTED: dict[str, tuple[dict[str, Any], str, Any]] = {
    "NFS without snapshots": ({"name": "csi-driver-nfs"}, "controller.enableSnapshotter", False),
    "NFS with snapshots": ({"name": "csi-driver-nfs", "snapshots": True}, "controller.enableSnapshotter", True),
    "EBS without snapshots": ({"name": "aws-ebs-csi-driver"}, "sidecars.snapshotter.forceEnable", False),
    "WEKA without": ({"name": "csi-wekafs"}, "pluginConfig.allowedOperations.snapshotDirectoryVolumes", False),
    "WEKA with": (
        {"name": "csi-wekafs", "snapshots": True},
        "pluginConfig.allowedOperations.snapshotDirectoryVolumes",
        True,
    ),
    "WEKA on tainted nodes": ({"name": "csi-wekafs"}, "nodePluginTolerations", [TAINT]),
    "TopoLVM on tainted nodes": ({"name": "topolvm"}, "lvmd.tolerations", [TAINT]),
    "Ceph on tainted nodes": ({"name": "ceph-csi-drivers"}, "drivers.cephfs.nodePlugin.tolerations", [TAINT]),
    "Ceph without snapshots": ({"name": "ceph-csi-drivers"}, "drivers.cephfs.snapshotPolicy", "none"),
    "Ceph with snapshots": (
        {"name": "ceph-csi-drivers", "snapshots": True},
        "drivers.rbd.snapshotPolicy",
        "volumeSnapshot",
    ),
    "EFS without a hook": ({"name": "aws-efs-csi-driver"}, "useHelmHooksForCSIDriver", False),
    "a role": (
        {"name": "aws-fsx-csi-driver", "identity": "irsa", "role": ROLE},
        "controller.serviceAccount.annotations",
        ANNOTATION,
    ),
    "a role by the agent": (
        {"name": "aws-fsx-csi-driver", "identity": "pod-identity", "role": ROLE},
        "controller.serviceAccount.annotations",
        None,
    ),
}


@pytest.mark.parametrize(("asked", "path", "expected"), EXPECTED.values(), ids=EXPECTED)
def test_values_follow_from_the_cluster(asked, path, expected):
    """Taints, snapshots and rights reach the chart."""
    assert lookup(made(**asked), path) == expected


def test_volumes_of_local_disks_are_made_where_these_are():
    """TopoLVM's daemon ends on a node without a volume group, so it runs on the pools with local disks alone."""
    said = made("topolvm")
    required = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    terms = lookup(said, f"lvmd.affinity.{required}")
    assert terms == lookup(said, f"node.affinity.{required}")
    assert [term["matchExpressions"][0]["values"] for term in terms] == [["gpu"]]


def test_who_installs_a_driver_is_found_by_its_name():
    """Operators that somebody else installs count, too."""
    cluster = make_cluster(operators={"csi-wekafs": {"version": "2.8.8", "managed": False}})
    assert {name: [site.name for site in found] for name, found in driver_operators(cluster).items()} == {
        "csi.weka.io": ["csi-wekafs"]
    }


OPEN = {"system": {"distribution": "openshift"}}
BOUND: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "NFS": ("csi-driver-nfs", OPEN, ["csi-nfs-controller-sa", "csi-nfs-node-sa"]),
    "TopoLVM": ("topolvm", OPEN, ["topolvm-controller", "topolvm-lvmd", "topolvm-node"]),
    "a chart with constraints of its own": ("csi-wekafs", OPEN, []),
    "Ceph, whose accounts Rook's constraint does not name": (
        "ceph-csi-drivers",
        OPEN,
        [f"rook-ceph-{part}-csi-ceph-com-{pod}plugin-sa" for part in ("cephfs", "rbd") for pod in ("ctrl", "node")],
    ),
    "elsewhere": ("csi-driver-nfs", {}, []),
}


@pytest.mark.parametrize(("name", "changes", "accounts"), BOUND.values(), ids=BOUND)
def test_openshift_admits_pods_of_drivers(name, changes, accounts):
    """Accounts of a chart that brings no constraint are bound to one in their own namespace, and nowhere else."""
    (release, *_) = DRIVERS[name].newest_first
    cluster = make_cluster(pools=POOLS, queues={}, operators={name: {"version": release}}, **changes)
    ((site, known), *_) = installed_operators(cluster)
    bindings = [resource.value() for resource in known.own(site)]
    assert [subject["name"] for one in bindings for subject in one["subjects"]] == accounts
    for one in bindings:
        assert one["roleRef"]["name"] == "system:openshift:scc:privileged"
        assert {subject["namespace"] for subject in one["subjects"]} == {one["metadata"]["namespace"]}
