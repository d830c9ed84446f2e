"""Known defects of releases, where a cluster meets them."""

from __future__ import annotations

import json

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.defects import check
from trainyard.specs.defects import defects

RACKS = "replacing a node confuses racks"
LABEL = "the queue label of a running RayJob may be removed"
CASES = {
    "a release that has it": ("0.19.1", {}, {RACKS, LABEL}),
    "an older line that was fixed later": ("0.18.5", {}, {RACKS, LABEL}),
    "a line that was never fixed": ("0.17.8", {}, {RACKS, LABEL}),
    "a cluster that does not meet it": ("0.19.1", {"topology": None}, {LABEL}),
    "the first release without it": ("0.19.2", {}, set()),
    "the first of an older line": ("0.18.6", {}, set()),
    "a newer line": ("0.20.0", {}, set()),
}


@pytest.mark.parametrize(("release", "changes", "expected"), CASES.values(), ids=CASES)
def test_a_defect_is_told_where_it_is_met(release: str, changes: dict[str, object], expected: set[str]) -> None:
    """The release counts, and what the cluster has; the warning names the release to use instead."""
    chosen = {"version": release, "unlisted": {"like": "0.19.2", "reason": "compared by hand"}}
    changes = {"operators": {**CLUSTER["operators"], "kueue": chosen}, **changes}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source))
    assert all(any(text in item.message for item in found) for text in expected)
    assert any(RACKS in item.message for item in found) == (RACKS in expected)
    assert bool(found) == bool(expected)
    assert not any(item.is_error for item in found)
    wanted = "0.18.6" if release.startswith("0.18") else "0.19.2"
    assert all(item.message.endswith(f"use {wanted}") for item in found)


OTHERS: dict[str, tuple[str, str, str, dict[str, object], str | None]] = {
    "JobSet that has it": ("jobset", "0.11.1", "0.12.0", {}, "a JobSet whose status could not be written"),
    "JobSet without it": ("jobset", "0.12.0", "", {}, None),
    "KubeRay with a scheduler": (
        *("kuberay", "1.6.0", "1.6.2"),
        {"values": {"batchScheduler": {"name": "volcano"}}},
        "the PodGroup of a RayJob is deleted",
    ),
    "KubeRay without a scheduler": ("kuberay", "1.6.0", "1.6.2", {}, None),
    "KubeRay that did not have it yet": (
        *("kuberay", "1.5.2", "1.6.2"),
        {"values": {"batchScheduler": {"name": "volcano"}}},
        None,
    ),
    "Volcano without queues of its own": ("volcano", "1.15.0", "1.15.1", {}, None),
    "LWS whose defect no job here meets": ("lws", "0.9.0", "0.10.0", {}, None),
    "Trainer whose defect no job here meets": ("trainer", "2.2.1", "", {}, None),
    "MPI Operator of which no better release is known": ("mpi-operator", "0.8.0", "", {}, None),
    "a GPU Operator whose defect no object here meets": ("gpu-operator", "26.3.3", "", {"managed": False}, None),
    "a Kueue that is too old anyway": ("kueue", "0.15.4", "0.18.6", {}, None),
}


@pytest.mark.parametrize(("name", "release", "like", "more", "expected"), OTHERS.values(), ids=OTHERS)
def test_defects_of_other_projects(
    name: str, release: str, like: str, more: dict[str, object], expected: str | None
) -> None:
    """They are told where the cluster meets them, and where a known release is without."""
    choice = {"version": release, **({"unlisted": {"like": like, "reason": "read"}} if like else {}), **more}
    changes = {"operators": {**CLUSTER["operators"], name: choice}}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = [item.message for item in check(make_cluster(**changes), source)]
    assert [text for text in found if expected is None or expected not in text] == []
    assert len(found) == (expected is not None)


@pytest.mark.parametrize(
    ("release", "expected"), {"3.4.4": ["3.6.1", "3.6.1"], "3.5.1": [], "3.5.0": ["3.5.1"]}.items()
)
def test_defects_of_argo_cd(release: str, expected: list[str]) -> None:
    """All Applications here meet them; one that no release is without yet is only listed."""
    changes = {"argocd": {"version": release, "destination": {"name": "test"}}}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source))
    assert all(item.path == "argocd.version" for item in found)
    assert [item.message.rpartition("use ")[2] for item in found] == expected


def test_each_defect_has_releases_with_it_and_without() -> None:
    """The release before the fixed one has it where that is newer than the first one with it."""
    for found in defects().values():
        for defect in found.defects:
            assert not any(map(defect.has, defect.fixed))
            assert all(map(defect.has, defect.since))
            first = defect.since[0] if defect.since else "0.0.1"
            assert (defect.better_release(first, ["999.0.0"]) is None) == (not defect.fixed)
            assert defect.has("0.0.1") == (not defect.since)
            assert defect.has("999.0.0") == (not defect.fixed)


def test_the_list_names_issue_and_release() -> None:
    """Each defect has an address and the releases without it, as text and as JSON."""
    text = call(ROOT, "releases", "--defects").stdout
    rows = json.loads(call(ROOT, "releases", "kueue", "--defects", "-o", "json").stdout)
    assert len(text.splitlines()) == sum(len(found.defects) for found in defects().values())
    assert {row["name"] for row in rows} == {"kueue"}
    assert all(row["issue"].startswith("https://") and row["issue"] in text and row["fixed"] for row in rows)
    assert "argo-cd from 3.5.2: an Application stays out of sync" in text
