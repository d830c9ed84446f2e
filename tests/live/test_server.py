"""A real API server takes every object of generated/ in a dry run.

Needs TRAINYARD_KUBECONFIG. Only where TRAINYARD_THROWAWAY=1 says that the cluster may be changed, the Namespaces are
made first, and the CRDs below the folder that TRAINYARD_CRDS names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.base.system import files
from trainyard.judge.checks.inputs import decode
from trainyard.judge.preflight.cluster.served import served_projects
from trainyard.specs.load import read_repository
from trainyard.upstream.apiserver import Missing, catalog
from trainyard.upstream.apiserver.catalog.releases import Shelf

CLUSTERS = sorted(path.stem for path in (ROOT / "platform" / "clusters").glob("*.yaml"))
OURS = ("index/", "ledger/", "nodes/")


@pytest.fixture(scope="module")
def server():
    """The server, or a loud skip."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig:
        pytest.skip("a real API server's verdict on generated/: set TRAINYARD_KUBECONFIG")
    from trainyard.faces.live.server import Server

    return Server(kubeconfig=Path(kubeconfig))


def manifests(cluster):
    """The objects of one cluster's tree."""
    folder = ROOT / "generated" / cluster
    for found in sorted(files.walk(folder), key=lambda item: item.path):
        if found.path.endswith(".yaml") and not found.path.startswith(OURS):
            objects, findings = decode(found.path, (folder / found.path).read_bytes())
            assert not findings
            yield from objects


def prepare(server, known, objects):
    """Make the Namespaces, and the CRDs where their folder is named, on a cluster that may be thrown away."""
    namespaces = {item.namespace for item in objects if item.namespace}
    kind = known.lookup("", "v1", "Namespace")
    for name in sorted(namespaces):
        assert server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, kind, dry_run=False)
    folder = os.environ.get("TRAINYARD_CRDS")
    crd = known.lookup("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    for project, release in known.projects.items() if folder else ():
        for path in sorted(Path(folder).glob(f"{project}/*{release}/*.yaml")):
            for item in decode(path.name, path.read_bytes())[0]:
                answer = server.apply(item.value, crd, dry_run=False)
                assert answer.accepted, answer.message


@pytest.mark.cluster
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_server_accepts_every_object(server, cluster):
    """Server-side dry run of a cluster's whole tree: nothing is refused."""
    declared = read_repository(ROOT).specs.clusters[cluster]
    projects = served_projects(declared, Shelf(ROOT / "schemas"))
    known, _ = catalog.load(ROOT / "schemas", kubernetes=server.version(), projects=projects)
    objects = list(manifests(cluster))
    if os.environ.get("TRAINYARD_THROWAWAY") == "1":
        prepare(server, known, objects)
    refused = []
    for item in objects:
        kind = known.lookup(*item.gvk)
        assert not isinstance(kind, Missing), kind
        answer = server.apply(item.value, kind)
        if not answer.accepted:
            refused.append(f"{item.ref}: {answer.code} {answer.message}")
    assert objects
    assert not refused, "\n".join(refused)
