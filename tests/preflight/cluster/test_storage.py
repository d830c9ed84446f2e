"""A storage class has a driver that is there, and says what the driver needs; pods can write to its volumes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import page
from make import CLUSTER, fields, make_cluster, make_job_file, make_source, make_specs, make_team
from trainyard.base.findings import Finding
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.cluster.storage import check
from trainyard.render.clusters.platform import storage as classes
from trainyard.specs.drivers import Driver, driver, drivers, secret_parameters

SECRET = {"name": "api", "namespace": "csi"}
WEKA = {
    "provisioner": "csi.weka.io",
    "parameters": {"volumeType": "dir/v1", "filesystemName": "training"},
    "secret": SECRET,
}
NFS = {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "a", "share": "/b"}}
FSX = {
    "provisioner": "fsx.csi.aws.com",
    "parameters": {"subnetId": "s", "securityGroupIds": "g"},
    "ownership": "server",
}
EFS = {"provisioner": "efs.csi.aws.com", "parameters": {"provisioningMode": "efs-ap", "fileSystemId": "fs-1"}}
ROOK = {
    "provisioner": "rook-ceph.cephfs.csi.ceph.com",
    "parameters": {"clusterID": "rook-ceph", "fsName": "training"},
    "secret": SECRET,
}


def found(storage: dict[str, Any], **more: Any) -> list[Finding]:
    """Return what is wrong with one class, whose driver is there unless `drivers` says otherwise."""
    changes = {"storage": {"shared": storage}, "drivers": {storage["provisioner"]: "by the test"}, **more}
    return list(check(make_cluster(**changes), make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))))


def without(storage: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a class without one parameter."""
    return {**storage, "parameters": {key: value for key, value in storage["parameters"].items() if key != name}}


def adding(storage: dict[str, Any], **parameters: str) -> dict[str, Any]:
    """Return a class with more parameters."""
    return {**storage, "parameters": {**storage["parameters"], **parameters}}


CASES: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "WEKA as it should be": (WEKA, None, ""),
    "without its file system": (
        without(WEKA, "filesystemName"),
        "sto-driver-installed",
        "parameters of class 'shared' lack filesystemName, which WEKA needs; add it",
    ),
    "a file system each": (
        {**WEKA, "parameters": {"volumeType": "weka/v2"}},
        "sto-driver-installed",
        "parameters of class 'shared' lack filesystemGroupName, which WEKA needs; ",
    ),
    "a type that it does not know": (
        adding(WEKA, volumeType="dir/v2"),
        "sto-driver-installed",
        "volumeType is 'dir/v2', which WEKA does not support; did you mean 'dir/v1'?",
    ),
    "without its secret": (
        {**WEKA, "secret": None},
        "sto-driver-installed",
        "class 'shared' has no secret, which WEKA needs; add secret: {name, namespace}",
    ),
    "Lustre that lasts": (adding(FSX, deploymentType="PERSISTENT_2", perUnitStorageThroughput="500"), None, ""),
    "Lustre on hard disks": (
        adding(FSX, deploymentType="PERSISTENT_1", storageType="HDD", perUnitStorageThroughput="12"),
        None,
        "",
    ),
    "Lustre for a while": (adding(FSX, deploymentType="SCRATCH_2"), None, ""),
    "Lustre with the throughput of an older type": (
        adding(FSX, deploymentType="PERSISTENT_2", perUnitStorageThroughput="200"),
        "sto-driver-installed",
        "perUnitStorageThroughput is '200', which deploymentType PERSISTENT_2 does not support; use 125, 250, 500 or",
    ),
    "Lustre for a while with a throughput": (
        adding(FSX, deploymentType="SCRATCH_2", perUnitStorageThroughput="200"),
        "sto-driver-installed",
        "deploymentType SCRATCH_2 of FSx for Lustre takes no perUnitStorageThroughput; remove it",
    ),
    "NFS": (NFS, None, ""),
    "NFS with a secret": (
        {**NFS, "secret": SECRET},
        "sto-driver-installed",
        "class 'shared' has a secret, but NFS takes none; ",
    ),
    "FSx on scratch disks": (FSX, None, ""),
    "FSx that lasts": (
        adding(FSX, deploymentType="PERSISTENT_2"),
        "sto-driver-installed",
        "parameters of class 'shared' lack perUnitStorageThroughput, which FSx for Lustre needs; ",
    ),
    "FSx that nobody opens to pods": (
        {**FSX, "ownership": None},
        "sto-fsgroup",
        "volumes of FSx for Lustre always belong to root; prepare each of them, then set ownership: server",
    ),
    "FSx of which the kubelet is said to open it": (
        {**FSX, "ownership": "kubelet"},
        "sto-fsgroup",
        "ownership is 'kubelet', but with FSx for Lustre it is 'server'; correct it",
    ),
    "FSx for one node": ({**FSX, "ownership": None, "access": "ReadWriteOnce"}, None, ""),
    "NFS that takes root for nobody": ({**NFS, "ownership": "server"}, None, ""),
    "EFS": (EFS, None, ""),
    "EFS without a file system": (
        without(EFS, "fileSystemId"),
        "sto-driver-installed",
        "parameters of class 'shared' lack fileSystemId or fileSystemIdConfigRef or fileSystemIdSecretRef, which ",
    ),
    "EFS with two": (
        adding(EFS, fileSystemIdConfigRef="a"),
        "sto-driver-installed",
        "class 'shared' has fileSystemId and fileSystemIdConfigRef, but EFS takes only one; remove one",
    ),
    "Ceph by Rook": (ROOK, None, ""),
    "Ceph by Rook without its file system": (
        without(ROOK, "fsName"),
        "sto-driver-installed",
        "parameters of class 'shared' lack fsName, which CephFS needs; ",
    ),
    "a disk for many nodes": (
        {"provisioner": "ebs.csi.aws.com"},
        "sto-rwx",
        "access is ReadWriteMany, but EBS supports ReadWriteOnce; correct it",
    ),
    "a disk for one": ({"provisioner": "ebs.csi.aws.com", "access": "ReadWriteOnce"}, None, ""),
    "a bucket": (
        {"provisioner": "gcsfuse.csi.storage.gke.io"},
        "sto-driver-installed",
        "driver Cloud Storage FUSE creates no volumes; claims wait for a PersistentVolume that you create",
    ),
    "Azure's Lustre that is there": (
        {"provisioner": "azurelustre.csi.azure.com", "parameters": {"mgs-ip-address": "10.0.0.4"}},
        None,
        "",
    ),
    "a driver that is not known here": ({"provisioner": "csi.example.com", "parameters": {"a": "b"}}, None, ""),
    "a secret for a driver that is not known here": (
        {"provisioner": "csi.example.com", "secret": SECRET},
        "sto-driver-installed",
        "class 'shared' has a secret, but which calls of this driver need it is not known here; ",
    ),
    "volumes made beforehand": ({"provisioner": "kubernetes.io/no-provisioner", "access": "ReadWriteOnce"}, None, ""),
    "a class that is somebody else's": ({"provisioner": WEKA["provisioner"], "existing": True}, None, ""),
    "a class that is somebody else's, with a reclaim policy of ours": (
        {"provisioner": WEKA["provisioner"], "existing": True, "reclaim": "Delete"},
        "sto-existing",
        "class 'shared' already exists, so reclaim has no effect; remove it",
    ),
}


@pytest.mark.parametrize(("storage", "rule", "message"), CASES.values(), ids=CASES)
def test_a_class_says_what_its_driver_needs(storage, rule, message):
    """What is missing is one finding, which names the field."""
    listed = found(storage)
    assert [item.rule for item in listed] == ([rule] if rule else [])
    assert all(item.message.startswith(message) for item in listed)


INSTALLED: dict[str, tuple[dict[str, str] | None, bool, str | None]] = {
    "said": ({"csi.weka.io": "2.8.8, by the storage team"}, False, None),
    "not said": (None, False, "nobody provisions class 'shared': driver 'csi.weka.io' is not in drivers; add operator"),
    "misspelt": (
        {"csi.wekka.io": "2.8.8"},
        False,
        "nobody provisions class 'shared': driver 'csi.weka.io' is not in drivers; did you mean ",
    ),
    "another": (
        {"filestore.csi.storage.gke.io": "4"},
        False,
        "nobody provisions class 'shared': driver 'csi.weka.io' is not in drivers; add operator csi-wekafs, or",
    ),
    "there with its class": (None, True, None),
}


@pytest.mark.parametrize(("there", "existing", "message"), INSTALLED.values(), ids=INSTALLED)
def test_a_driver_is_installed_by_somebody(there, existing, message):
    """Nothing here installs one, and claims of a driver that is not there wait for ever."""
    mine = {"provisioner": WEKA["provisioner"], "existing": True} if existing else WEKA
    listed = found(mine, drivers=there)
    assert [item.message.startswith(message or "") for item in listed] == ([True] if message else [])
    assert all("nodes need WEKA's client" in str(item.fix) for item in listed)


def least(known: Driver) -> dict[str, str]:
    """Return the fewest parameters that a driver takes."""
    names = [*known.required, *(group[0] for group in (*known.any_of, *known.one_of))]
    values = {name: known.values.get(name, ("x",))[0] for name in names}
    more = [name for when in known.when if values.get(when.parameter) in when.values for name in when.required]
    return {**values, **dict.fromkeys(more, "x")}


@pytest.mark.parametrize("name", drivers())
def test_every_driver_misses_what_is_taken_away(name):
    """With the least that it asks for it is content, and with anything less it is not."""
    known, parameters = drivers()[name], least(drivers()[name])
    more = {"access": known.access[0], "ownership": known.ownership, "secret": SECRET if known.secrets else None}
    content = {"provisioner": name, "parameters": parameters, **more}
    assert [item for item in found(content) if item.is_error] == []
    for parameter in parameters:
        assert [item.rule for item in found(without(content, parameter)) if item.is_error] == ["sto-driver-installed"]
    if known.secrets:
        spelled = {key: "x" for stage in known.secrets for key in secret_parameters(stage)}
        assert found(adding({**content, "secret": None}, **spelled)) == []
        assert len(found(adding({**content, "secret": None}, **dict(list(spelled.items())[1:])))) == 1


def test_rook_puts_its_namespace_in_front():
    """Whatever the namespace is, the driver is Ceph's."""
    assert (
        driver("rook-ceph.cephfs.csi.ceph.com")
        is driver("storage.cephfs.csi.ceph.com")
        is driver("cephfs.csi.ceph.com")
    )
    assert driver("rook-ceph.example.com") is None


def rendered(storage: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the one StorageClass that comes of it."""
    (value,) = classes(make_cluster(storage={"shared": storage}))
    return dict(value.fields)


def test_a_secret_is_named_for_every_call_that_needs_it():
    """WEKA's five; what the class spells out itself stands."""
    own = {"csi.storage.k8s.io/node-stage-secret-name": "other"}
    parameters = rendered(adding(WEKA, **own))["parameters"]
    pairs = {key: value for key, value in parameters.items() if "secret" in key}
    stages = ("provisioner", "controller-publish", "controller-expand", "node-stage", "node-publish")
    names = {secret_parameters(stage)[0]: "api" for stage in stages}
    spaces = {secret_parameters(stage)[1]: "csi" for stage in stages}
    assert pairs == {**names, **spaces, **own}


def test_what_is_kept_keeps_its_data():
    """NFS deletes the folder of a volume unless it is told otherwise; who wants volumes deleted wants that too."""
    assert rendered(NFS)["parameters"]["onDelete"] == "retain"
    assert rendered(NFS)["reclaimPolicy"] == "Retain"
    assert "onDelete" not in rendered({**NFS, "reclaim": "Delete"})["parameters"]
    assert rendered(adding(NFS, onDelete="archive"))["parameters"]["onDelete"] == "archive"


def test_a_class_has_its_mount_options_and_grows_if_its_driver_can():
    """A claim that cannot grow is refused by the server, and not half-way by the driver."""
    assert rendered({**NFS, "mountOptions": ["hard"]})["mountOptions"] == ["hard"]
    assert rendered(NFS)["allowVolumeExpansion"] is True
    oracle = {"availabilityDomain": "a", "subnetId": "b", "performanceTier": "MBPS_PER_TB_125"}
    lustre = {"provisioner": "lustre.csi.oraclecloud.com", "parameters": oracle}
    assert rendered(lustre)["allowVolumeExpansion"] is False


LOCAL = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}


def mounting(checkpoint: str, data: str, *, read_only: bool, local: str | None = None, **job: Any) -> list[Finding]:
    """Return what is said of a job's volumes, whose classes are those of the names; `local` makes local volumes."""
    storage = {"nfs": NFS, "squashed": {**NFS, "ownership": "server"}, "fsx": FSX, "local": LOCAL}
    disks = {"localDisks": {"size": "1600Gi", **({"storage": local} if local else {})}}
    cluster = make_cluster(storage=storage, pools={"gpu": {**CLUSTER["pools"]["gpu"], **disks}})
    volumes = {name: {"storage": name, "size": "10Ti"} for name in ("nfs", "squashed", "fsx")}
    mounts = [{"volume": data, "mountPath": "/data", "readOnly": read_only}]
    file = make_job_file(
        checkpoint={"volume": checkpoint, "mountPath": "/ckpt", "everyMinutes": 30, "size": "1Gi"}, data=mounts, **job
    )
    specs = make_specs(file, clusters={"test": cluster}, teams={"nlp": make_team(volumes=volumes)})
    return [item for item in jobs.check(specs, file)[1] if item.rule == "sto-root-squash"]


MIXES = {
    "both the kubelet's": ("nfs", "nfs", False, 0),
    "both the server's": ("squashed", "squashed", False, 0),
    "one of each": ("nfs", "squashed", False, 1),
    "one of each, the server's for checkpoints": ("squashed", "nfs", False, 1),
    "one of each, the kubelet's only read": ("squashed", "nfs", True, 0),
    "one whose driver changes nothing": ("squashed", "fsx", False, 0),
}


@pytest.mark.parametrize(("checkpoint", "data", "read_only", "count"), MIXES.values(), ids=MIXES)
def test_a_pod_has_one_group_for_all_its_volumes(checkpoint, data, read_only, count):
    """With it a squashed export fails at a closed folder, without it a new volume cannot be written."""
    assert len(mounting(checkpoint, data, read_only=read_only)) == count


NVME = {"size": "100Gi", "medium": "nvme"}
LOCALS: dict[str, tuple[str, str | None, dict[str, Any], list[str]]] = {
    "a volume of each": ("squashed", "local", {"scratch": NVME}, ["scratch"]),
    "no root squash": ("nfs", "local", {"scratch": NVME}, []),
    "scratch in a folder of the kubelet's": ("squashed", None, {"scratch": NVME}, []),
    "scratch on the system's disk": ("squashed", "local", {"scratch": "100Gi"}, []),
    "no scratch": ("squashed", "local", {}, []),
}


@pytest.mark.parametrize(("data", "local", "job", "fields"), LOCALS.values(), ids=LOCALS)
def test_a_new_local_volume_needs_the_group_that_root_squash_forbids(data, local, job, fields):
    """Without the pod's group it belongs to root, so the program cannot write there."""
    found = mounting("fsx", data, read_only=True, local=local, **job)
    assert [item.message.partition(" ")[0] for item in found] == fields


def test_the_class_of_the_page_is_as_it_should_be():
    """What the page shows has no finding."""
    (text,) = [text for text in page.blocks("clusters.md", "yaml", "Storage") if "drivers:" in text]
    shown = yaml.safe_load(text)
    assert found(shown["storage"]["shared"], drivers=shown["drivers"]) == []
