"""What is rendered is right on every Kubernetes release that is supported, not only on the one each cluster runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.judge.checks.inputs import collect
from trainyard.judge.checks.validate import strangers
from trainyard.judge.preflight.cluster.served import served_projects
from trainyard.specs.load import read_repository
from trainyard.upstream.apiserver.catalog.releases import Shelf

RELEASES = ("1.34", "1.35", "1.36", "1.37")
NEWEST = "levante"
"""The cluster whose jobs have fields that only the newest Kubernetes knows."""

CLUSTERS = sorted(path.stem for path in (ROOT / "platform" / "clusters").glob("*.yaml"))


@pytest.fixture(scope="module")
def clusters():
    """The clusters of this repository."""
    return read_repository(ROOT).specs.clusters


def test_the_releases_are_all_that_are_supported():
    """What is judged here is every Kubernetes whose types are known."""
    assert tuple(sorted(path.name for path in (ROOT / "schemas" / "kubernetes").iterdir() if path.is_dir())) == RELEASES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kubernetes"),
    [
        (name, kubernetes)
        for name in CLUSTERS
        for kubernetes in RELEASES
        if name != NEWEST or kubernetes == RELEASES[-1]
    ],
)
def test_every_object_is_valid_on_every_release(clusters, name, kubernetes):
    """With the operators that the cluster runs, and whichever supported Kubernetes, nothing is refused or unknown."""
    result = strangers(
        collect([str(ROOT / "generated" / name)]),
        ROOT / "schemas",
        kubernetes=kubernetes,
        projects=served_projects(clusters[name], Shelf(ROOT / "schemas")),
    )
    assert {item.verdict for item in result.objects} == {"valid"}
    apart = "both serve MPIJob"  # beside mpi-operator we install training-operator without that kind
    errors = [finding for finding in result.findings if finding.is_error and apart not in finding.message]
    assert not [f"{error.location}: {error.message}" for error in errors]
    files = {path for path in (ROOT / "generated" / name).rglob("*.yaml") if not is_record(path, name)}
    assert {Path(item.file) for item in result.objects} == files


def is_record(path: Path, name: str) -> bool:
    """Whether a file is for no API server: our own records, and what belongs into node images."""
    return path.relative_to(ROOT / "generated" / name).parts[0] in {"index", "ledger", "nodes"}


def test_node_files_are_configuration():
    """What lies below nodes/ is read by the programs of a node, not by an API server."""
    names = {path.name for path in (ROOT / "generated").glob("*/nodes/**/*") if path.is_file()}
    patch = "kubeletconfiguration20-trainyard+merge.yaml"
    openshift = {"kubeletconfig.yaml", "machineconfig.yaml", "machineconfigpool.yaml"}
    usual = {"sysctl-trainyard.conf", "10-trainyard-memlock.conf", "20-trainyard.conf", patch}
    assert names == {*usual, "nodeconfig.yaml", "talos.yaml", *openshift}
