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


def test_the_list_names_issue_and_release() -> None:
    """Each defect has an address and the releases without it, as text and as JSON."""
    text = call(ROOT, "releases", "--defects").stdout
    rows = json.loads(call(ROOT, "releases", "kueue", "--defects", "-o", "json").stdout)
    assert len(text.splitlines()) == sum(len(found.defects) for found in defects().values())
    assert {row["name"] for row in rows} == {"kueue"}
    assert all(row["issue"].startswith("https://") and row["issue"] in text and row["fixed"] for row in rows)
