"""Each constraint between programs has a rule that finds what breaks it and is silent otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from conftest import ROOT
from everything import EVERYTHING, OPERATORS
from make import fields, make_source
from trainyard.base.documents import dump
from trainyard.base.findings import Finding
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks.validate import strangers
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.releases import releases

ROWS: list[dict[str, Any]] = yaml.load((ROOT / "tests/pairs.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
CLUSTERS = [row for row in ROWS if "wrong" in row]
MANIFESTS = [row for row in ROWS if "manifest" in row]
ELSEWHERE = [row for row in ROWS if "test" in row]


def found(changes: Mapping[str, Any], rule: str) -> list[Finding]:
    """Return what a rule finds on the cluster that has everything, with these changes."""
    merged = {**changes, "operators": {**OPERATORS, **changes.get("operators", {})}}
    merged["operators"] = {name: choice for name, choice in merged["operators"].items() if choice is not None}
    value = fields(EVERYTHING, merged)
    cluster, source = Cluster.model_validate(value), make_source("platform/clusters/test.yaml", value)
    return [item for check in CLUSTER.checks() for item in check(cluster, source) if item.rule == rule]


@pytest.mark.parametrize("row", CLUSTERS, ids=lambda row: row["constraint"])
def test_a_constraint_between_operators_is_held(row):
    """The wrong cluster gets the finding, the other one none with these words."""
    wrong, silent = found(row["wrong"], row["rule"]), found(row["silent"], row["rule"])
    assert [item for item in wrong if item.message.startswith(row["finds"])], [item.message for item in wrong]
    assert not [item.message for item in silent if item.message.startswith(row["finds"])]
    assert all(item.location.line for item in wrong)


@pytest.mark.parametrize("row", MANIFESTS, ids=lambda row: row["constraint"])
def test_a_constraint_on_objects_is_held(row):
    """The wrong object gets the finding of its API types, the other one none."""
    said = {}
    for which, value in row["manifest"].items():
        result = strangers([("a.yaml", dump(value).encode())], schemas_dir(ROOT), kubernetes="1.35")
        said[which] = [item for item in result.findings if item.rule == row["rule"]]
    assert any(item.message.startswith(row["finds"]) for item in said["wrong"])
    assert said["silent"] == []


def test_every_constraint_has_a_case():
    """A row without a case of its own names the test that has both, or the namespace that nobody can change."""
    for row in ROWS:
        assert {"constraint", "rule", "fix", "source"} <= row.keys()
        for operator, namespace in row.get("namespace", {}).items():
            assert releases()[operator].namespace == namespace
        assert any(way in row for way in ("wrong", "manifest", "namespace", "test")), row["constraint"]
    for row in ELSEWHERE:
        assert row["finds"] in (ROOT / row["test"]).read_text("utf-8")
