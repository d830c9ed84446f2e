"""Argo CD reaches each cluster at an address of its own."""

from __future__ import annotations

from pathlib import Path

from make import make_cluster, make_specs
from trainyard.judge.preflight.between.destinations import check
from trainyard.specs.load import Loaded


def test_two_clusters_at_one_address():
    """Two clusters at one address would overwrite each other; a local address is each one's own."""
    local = {"version": "3.5.1", "destination": {"server": "https://kubernetes.default.svc"}}
    for changes, count in (({}, 1), ({"argocd": local}, 0)):
        both = {name: make_cluster(**changes) for name in ("test", "twin")}
        findings = list(check(Loaded(make_specs(clusters=both), Path())))
        assert [finding.rule for finding in findings] == ["spec/destination"] * count
