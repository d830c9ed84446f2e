"""Snapshots are taken by drivers that can, with few rights, and restored by one field of a volume."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_cluster, make_repository, make_source, make_specs, make_team
from trainyard.judge.preflight.cluster import snapshots as of_cluster
from trainyard.judge.preflight.subjects import OneTeam
from trainyard.judge.preflight.team import snapshots as of_team
from trainyard.render.clusters import buckets, projects, snapshots, team
from trainyard.render.clusters.applications import Follower
from trainyard.render.parts.programs import program_text

IMAGE = "registry.example.com/python@sha256:" + "a" * 64
CEPH = {
    "provisioner": "rook-ceph.cephfs.csi.ceph.com",
    "parameters": {"clusterID": "rook-ceph", "fsName": "training"},
    "secret": {"name": "rook-csi", "namespace": "rook-ceph"},
}
SNAPSHOTTER = {"external-snapshotter": {"version": "8.6.0"}}


def there(storage: dict[str, Any], said: dict[str, Any] | None = None, **changes: Any) -> Any:
    """Return a cluster with a class of which snapshots are taken; keywords are fields of the cluster."""
    store = {"shared": {**storage, "snapshots": {"image": IMAGE, **(said or {})}}}
    drivers = {storage["provisioner"]: "by the test"}
    return make_cluster(**{"storage": store, "drivers": drivers, "operators": SNAPSHOTTER, **changes})


def test_a_class_and_a_cron_job_with_few_rights():
    """The snapshot class has the storage's cluster and Secret; the program's rights are in team namespaces alone."""
    cluster = there(CEPH, {"keep": 3, "schedule": "30 1 * * *"})
    made = {(resource.kind, resource.name): resource.value() for resource in snapshots.resources(cluster)}
    of_class = made["VolumeSnapshotClass", "shared"]
    assert of_class["driver"] == "rook-ceph.cephfs.csi.ceph.com"
    assert of_class["parameters"] == {
        "clusterID": "rook-ceph",
        "csi.storage.k8s.io/snapshotter-secret-name": "rook-csi",
        "csi.storage.k8s.io/snapshotter-secret-namespace": "rook-ceph",
    }
    spec = made["CronJob", "shared"]["spec"]
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert (spec["schedule"], pod["containers"][0]["command"][-3:]) == ("30 1 * * *", ["shared", "3", "nlp"])
    assert made["ConfigMap", "volume-snapshots"]["data"]["snapshot_program.py"] == program_text("snapshot")
    assert not any(kind.startswith("ClusterRole") for kind, _ in made)
    role, binding = (right.value() for right in snapshots.rights(cluster, "nlp"))
    verbs = {rule["resources"][0]: rule["verbs"] for rule in role["rules"]}
    assert verbs == {"persistentvolumeclaims": ["list"], "volumesnapshots": ["create", "list", "delete"]}
    account = {"kind": "ServiceAccount", "name": "volume-snapshots", "namespace": "volume-snapshots"}
    assert binding["subjects"] == [account]


def test_argo_cd_may_apply_what_is_rendered():
    """The platform's project allows every kind and namespace of snapshots and buckets."""
    store = {
        "identity": "irsa",
        "teams": {"nlp": "arn:aws:iam::111122223333:role/nlp"},
        "buckets": {"crawls": {"url": "s3://crawls", "region": "us-west-2", "mount": True, "teams": {"nlp": "read"}}},
    }
    cluster = there(CEPH, objectStorage=store)
    spec = projects.platform_spec(Follower("test", cluster, make_repository()), [])
    wide = {(kind["group"], kind["kind"]) for kind in spec["clusterResourceWhitelist"]}
    inside = {(kind["group"], kind["kind"]) for kind in spec["namespaceResourceWhitelist"]}
    spaces = {place["namespace"] for place in spec["destinations"]}
    for resource in (*buckets.volumes(cluster), *snapshots.resources(cluster)):
        kind = (resource.api_version.rpartition("/")[0], resource.kind)
        assert kind in (inside if resource.namespace else wide)
        assert resource.namespace is None or resource.namespace in spaces


def test_a_volume_begins_with_a_snapshot():
    """One field of a team's volume becomes the claim's source."""
    own = make_team(volumes={"again": {"storage": "shared", "size": "1Ti", "fromSnapshot": "checkpoints-20261127-02"}})
    (claim,) = (made.value() for made in team.volumes("test", there(CEPH), "nlp", own))
    assert claim["spec"]["dataSource"] == {
        "apiGroup": "snapshot.storage.k8s.io",
        "kind": "VolumeSnapshot",
        "name": "checkpoints-20261127-02",
    }


WRONG = "hour must lie within 0-23, the lower end first: 25"
GIVEN = {"external-snapshotter": {"version": "8.6.0", "managed": False}}
EFS = {"provisioner": "efs.csi.aws.com", "parameters": {"provisioningMode": "efs-ap", "fileSystemId": "fs-1"}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]] = {
    "Ceph": (CEPH, {}, {}, []),
    "a driver that is not known": ({"provisioner": "csi.example.com"}, {}, {}, []),
    "the provider's controller": (
        CEPH,
        {},
        {"operators": {"external-snapshotter": {"version": "8.6.0", "managed": False}}},
        [],
    ),
    "no controller": (
        CEPH,
        {},
        {"operators": {}},
        ["snapshots need operator 'external-snapshotter'; add it, with managed: false if it is there already"],
    ),
    "a driver without snapshots": (
        EFS,
        {},
        {},
        ["EFS takes no snapshots; remove snapshots, or use another class"],
    ),
    "no secret": (
        {**CEPH, "secret": None},
        {},
        {},
        ["snapshots by CephFS need its secret; add secret to class 'shared', or parameters"],
    ),
    "a schedule of no time": (
        CEPH,
        {"schedule": "0 25 * * *"},
        {},
        [f"schedule is '0 25 * * *', but {WRONG}; use five fields such as '0 2 * * *'"],
    ),
    "a day that never comes": (
        CEPH,
        {"schedule": "0 2 30,31 feb *"},
        {},
        ["schedule is '0 2 30,31 feb *', a day that never comes; use '0 2 * * *', or another day of the month"],
    ),
    "31 February, or a Monday": (CEPH, {"schedule": "0 2 31 2 1"}, {}, []),
    "a leap day": (CEPH, {"schedule": "0 2 29 2 *"}, {}, []),
    "31 of some months": (CEPH, {"schedule": "0 2 31 2-12/2 *"}, {}, []),
    "no such zone": (
        CEPH,
        {"timeZone": "Europe/Berln"},
        {},
        ["timeZone 'Europe/Berln' does not exist; use a name such as 'Europe/Berlin'"],
    ),
}


@pytest.mark.parametrize(("storage", "said", "changes", "messages"), CASES.values(), ids=CASES)
def test_snapshots_are_asked_of_those_who_take_them(storage, said, changes, messages):
    """A driver without snapshots, a missing controller or Secret, and a schedule of no time are errors."""
    cluster = there(storage, said, **changes)
    found = list(of_cluster.check(cluster, make_source("platform/clusters/test.yaml", {})))
    assert [finding.message for finding in found] == messages


@pytest.mark.parametrize(
    ("storage", "messages"),
    {"Ceph": (CEPH, []), "EFS": (EFS, ["EFS of cluster 'test' restores no snapshots; remove fromSnapshot"])}.values(),
)
def test_volumes_begin_with_snapshots_that_their_driver_restores(storage, messages):
    """A volume from a snapshot of a driver that has none is refused at the team's file."""
    own = make_team(volumes={"again": {"storage": "shared", "size": "1Ti", "fromSnapshot": "checkpoints-20261127-02"}})
    cluster = make_cluster(storage={"shared": storage}, drivers={storage["provisioner"]: "by the test"})
    one = OneTeam(make_specs(clusters={"test": cluster}, teams={"nlp": own}), "nlp")
    assert [finding.message for finding in of_team.check(one)] == messages


SOURCES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "as large": ({}, []),
    "larger": ({"size": "30Ti"}, []),
    "smaller": (
        {"size": "1Ti"},
        ["size is 1Ti, but volume 'checkpoints' of the snapshot has 20Ti; use that"],
    ),
    "a snapshot that people made": ({"fromSnapshot": "before-merge", "size": "1Ti"}, []),
    "a typo": (
        {"fromSnapshot": "checkpoint-20261127-02"},
        ["no volume of team 'nlp' is named 'checkpoint', of which this is a snapshot; did you mean 'checkpoints'?"],
    ),
    "a volume that the team has no more": ({"fromSnapshot": "old-books-20261127-02"}, []),
    "another driver": (
        {"fromSnapshot": "scratch-20261127-02"},
        ["snapshots of 'scratch' are by another driver; use storage 'fast'"],
    ),
    "itself": (
        {"fromSnapshot": "again-20261127-02"},
        ["a volume whose claim is there cannot begin with its own snapshot; add a volume with another name"],
    ),
    "a volume of another cluster": (
        {"fromSnapshot": "books-20261127-02"},
        ["volume 'books' of the snapshot is not on cluster 'test', where no snapshot of it is; set clusters"],
    ),
    "on no cluster": ({"size": "1Ti", "clusters": ["other"]}, []),
}


@pytest.mark.parametrize(("claim", "messages"), SOURCES.values(), ids=SOURCES)
def test_volumes_fit_the_snapshot_that_their_name_says(claim, messages):
    """Snapshots on a schedule have the name of their claim, so that typos and sizes are seen before a claim pends."""
    again = {"storage": "shared", "size": "20Ti", "fromSnapshot": "checkpoints-20261127-02", **claim}
    volumes = {"again": again, "checkpoints": {"storage": "shared", "size": "20Ti"}}
    elsewhere = {"books": {"storage": "library", "size": "8Ti"}}
    own = make_team(volumes={**volumes, **elsewhere, "scratch": {"storage": "fast", "size": "1Ti"}})
    shared = {**CEPH, "snapshots": {"image": IMAGE}}
    cluster = make_cluster(
        storage={"shared": shared, "fast": {"provisioner": "csi.example.com"}},
        drivers={CEPH["provisioner"]: "by the test", "csi.example.com": "by the test"},
    )
    one = OneTeam(make_specs(clusters={"test": cluster}, teams={"nlp": own}), "nlp")
    assert [finding.message for finding in of_team.check(one)] == messages
