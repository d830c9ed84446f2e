"""Argo CD reaches each cluster at an address of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from make import make_cluster, make_repository, make_specs
from trainyard.judge.preflight.between.destinations import check
from trainyard.specs.load import Loaded


def test_two_clusters_at_one_address():
    """Two clusters at one address would overwrite each other; a local address is each one's own."""
    local = {"version": "3.5.1", "destination": {"server": "https://kubernetes.default.svc"}}
    for changes, count in (({}, 1), ({"argocd": local}, 0)):
        both = {name: make_cluster(**changes) for name in ("test", "twin")}
        findings = list(check(Loaded(make_specs(clusters=both), Path())))
        assert [finding.rule for finding in findings] == ["spec/destination"] * count


@pytest.mark.parametrize(
    ("path", "count"), {"generate": 1, "site/genreated": 1, "generated": 0, "site/generated": 0, "clusters": 0}.items()
)
def test_the_tree_lies_where_synth_writes_it(path, count):
    """A folder of quite another name may be a copy."""
    specs = make_specs(repository=make_repository(path=path))
    assert [item.rule for item in check(Loaded(specs, Path()))] == ["spec/tree-path"] * count
