"""Exports that exist are found by their driver, claimed by one volume of one team, and only read unless they say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import make_cluster, make_job_file, make_repository, make_run, make_specs, make_team
from trainyard.judge.preflight.cluster import exports
from trainyard.judge.preflight.job import exports as of_jobs
from trainyard.judge.preflight.subjects import OneCluster, OneJob, OneTeam
from trainyard.judge.preflight.team import exports as of_teams
from trainyard.render.clusters import platform, team
from trainyard.specs.load import Loaded

BOOKS: dict[str, Any] = {
    "team": "nlp",
    "size": "8Ti",
    "handle": "scans.example.com/books",
    "attributes": {"server": "scans.example.com", "share": "/books"},
}
VOLUMES = {"books": {"storage": "library", "size": "8Ti"}, "checkpoints": {"storage": "shared", "size": "1Ti"}}
SHARED = {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "nfs.example.com", "share": "/export"}}


def cluster(**named: dict[str, Any]) -> Any:
    """Return a cluster with a class and a storage of these exports."""
    return make_cluster(
        storage={"shared": SHARED, "library": {"provisioner": "nfs.csi.k8s.io", "exports": named}},
        drivers={"nfs.csi.k8s.io": "by the test"},
    )


CASES: dict[str, tuple[dict[str, dict[str, Any]], list[str]]] = {
    "an export of one volume": ({"books": BOOKS}, []),
    "under another name": ({"scans": {**BOOKS, "volume": "books"}}, []),
    "larger than the claim": ({"books": {**BOOKS, "size": "9Ti"}}, []),
    "without the server's folder": (
        {"books": {**BOOKS, "attributes": {"server": "scans.example.com"}}},
        ["export 'books' has no attribute share, which nfs.csi.k8s.io needs; add it"],
    ),
    "smaller than the claim": (
        {"books": {**BOOKS, "size": "7Ti"}},
        ["size is 7Ti, but the team's volume asks for 8Ti; raise it"],
    ),
    "for a team that does not exist": (
        {"books": {**BOOKS, "team": "nlq"}},
        ["team 'nlq' does not exist; did you mean 'nlp'?"],
    ),
    "for no volume of the team": (
        {"books": BOOKS, "maps": {**BOOKS, "handle": "scans.example.com/maps"}},
        ["team 'nlp' has no volume 'maps' with storage 'library'; add it to the team's file"],
    ),
    "two for one volume": (
        {"books": BOOKS, "scans": {**BOOKS, "volume": "books", "handle": "scans.example.com/scans"}},
        ["volume 'books' of team 'nlp' is export 'library.books' already; remove one"],
    ),
    "two of one handle": (
        {"books": BOOKS, "checkpoints": BOOKS},
        [
            "handle is that of export 'books' too, and nodes would mount one for both; use another",
            "team 'nlp' has no volume 'checkpoints' with storage 'library'; add it to the team's file",
        ],
    ),
}


@pytest.mark.parametrize(("named", "messages"), CASES.values(), ids=CASES)
def test_exports_are_found_and_claimed_once(named, messages):
    """An export has what its driver needs, and belongs to one volume of one team."""
    specs = make_specs(clusters={"test": cluster(**named)}, teams={"nlp": make_team(volumes=VOLUMES)})
    one = OneCluster(Loaded(specs, Path()), "test", Path())
    assert [finding.message for finding in exports.check(one)] == messages


@pytest.mark.parametrize(("named", "count"), {"there": ("books", 0), "not there": ("maps", 1)}.values())
def test_a_storage_of_exports_makes_no_volumes(named, count):
    """A volume of a storage with exports is one of them; others would stay pending."""
    specs = make_specs(clusters={"test": cluster(**{named: BOOKS})}, teams={"nlp": make_team(volumes=VOLUMES)})
    messages = [finding.message for finding in of_teams.check_volumes(OneTeam(specs, "nlp"))]
    said = "storage 'library' of cluster 'test' has no export for volume 'books'; add one"
    assert messages == [said] * count


WRITES: dict[str, tuple[bool, dict[str, Any], int]] = {
    "reads": (True, {"data": [{"volume": "books", "mountPath": "/books"}]}, 0),
    "writes": (True, {"data": [{"volume": "books", "mountPath": "/books", "readOnly": False}]}, 1),
    "writes where it may": (False, {"data": [{"volume": "books", "mountPath": "/books", "readOnly": False}]}, 0),
    "saves": (True, {"checkpoint": {"volume": "books", "size": "1Gi"}}, 1),
    "saves elsewhere": (True, {"checkpoint": {"volume": "checkpoints", "size": "1Gi"}}, 0),
}


@pytest.mark.parametrize(("read_only", "job", "count"), WRITES.values(), ids=WRITES)
def test_jobs_only_read_what_is_read_only(read_only, job, count):
    """A job may write to an export only where that says so."""
    there, own = cluster(books={**BOOKS, "readOnly": read_only}), make_team(volumes=VOLUMES)
    specs = make_specs(clusters={"test": there}, teams={"nlp": own}, repository=make_repository())
    one = OneJob(specs, make_job_file(**job), make_run(cluster=there, team=own, **job))
    assert len(list(of_jobs.check(one, own, there))) == count


def test_claim_and_volume_name_each_other_and_no_class():
    """The volume is for the claim alone and stays; the claim names it; nobody makes a class of exports."""
    there = cluster(books=BOOKS)
    made = {(resource.kind, resource.name): resource.value() for resource in platform.storage(there)}
    assert set(made) == {("StorageClass", "shared"), ("PersistentVolume", "nlp-books")}
    spec = made["PersistentVolume", "nlp-books"]["spec"]
    assert (spec["claimRef"]["namespace"], spec["claimRef"]["name"]) == ("nlp", "books")
    assert (spec["persistentVolumeReclaimPolicy"], spec["storageClassName"]) == ("Retain", "")
    claims = {claim.name: claim.value() for claim in team.volumes("test", there, "nlp", make_team(volumes=VOLUMES))}
    assert claims["books"]["spec"]["volumeName"] == "nlp-books"
    assert claims["books"]["spec"]["storageClassName"] == ""
    assert claims["books"]["spec"]["accessModes"] == spec["accessModes"] == ["ReadOnlyMany"]
    assert claims["checkpoints"]["spec"]["storageClassName"] == "shared"


def test_a_driver_with_secrets_gets_its_secret():
    """The volume of a driver that needs a Secret for its mounts names it."""
    weka = {
        "provisioner": "csi.weka.io",
        "secret": {"name": "weka-api", "namespace": "csi-wekafs"},
        "exports": {"books": {"team": "nlp", "size": "8Ti", "handle": "dir/v1/training/books"}},
    }
    (volume,) = platform.storage(make_cluster(storage={"library": weka}, drivers={"csi.weka.io": "by the test"}))
    csi = volume.value()["spec"]["csi"]
    assert csi["nodePublishSecretRef"] == {"name": "weka-api", "namespace": "csi-wekafs"}
    assert "volumeAttributes" not in csi
