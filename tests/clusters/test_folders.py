"""A cluster's folders are filled with objects, each with the field it comes from, but for those of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everything import OPERATORS, everything_specs
from make import make_cluster, make_source, make_specs
from trainyard.base.documents import load
from trainyard.base.manifests import Identity
from trainyard.change.synth.render.folders import cluster_folders
from trainyard.render import clusters
from trainyard.render.parts.objects import Resource
from trainyard.specs.releases import releases
from trainyard.specs.sources import ExtraFile, Specs


def folders(specs: Specs, **more: Any) -> dict[str, list[Resource]]:
    """Return what is ours in the cluster's folders, by path."""
    return clusters.folders(specs, "test", **more)


def extra(folder: str, value: dict[str, Any], cluster: str = "test") -> ExtraFile:
    """Return an object of the repository's own."""
    return ExtraFile(cluster, folder, make_source(f"platform/extra/{cluster}/{folder}/own.yaml", value))


def with_extra(*files: ExtraFile) -> Specs:
    """Return a small repository with objects of its own."""
    return replace(make_specs(), extra=files)


def with_folder() -> set[str]:
    """Return the operators that have more than a chart in a system namespace."""
    alone = {name for name, facts in releases().items() if facts.chart and not facts.own_namespace}
    return set(OPERATORS) - alone


def test_every_folder_of_a_cluster_is_there():
    """Classes of Application, teams and the place of their runs; node files are no objects."""
    assert set(clusters.node_files(everything_specs().clusters["test"])) == {"nodes/h100"}
    assert set(folders(everything_specs())) == {
        "argocd",
        "argocd/settings",
        "hardware",
        "platform",
        *(f"operators/{name}" for name in with_folder()),
        *(f"{kind}/{team}" for kind in ("teams", "runs") for team in ("ads", "nlp", "vision")),
    }


def test_no_object_is_in_two_folders():
    """Two Applications that own one object undo each other."""
    seen: dict[Identity, str] = {}
    for path, resources in folders(everything_specs()).items():
        for resource in resources:
            assert resource.identity not in seen, (path, seen.get(resource.identity))
            seen[resource.identity] = path


def test_objects_know_the_spec_they_come_from():
    """The queue comes from the cluster's file, the claim from the team's."""
    built = folders(everything_specs())
    queues = {resource.name: resource for resource in built["platform"]}
    claims = {resource.kind: resource for resource in built["teams/nlp"]}
    assert (queues["research"].source, queues["research"].at) == ("cluster", ("queues", "research"))
    assert claims["PersistentVolumeClaim"].source == "team/nlp"


QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "pods", "namespace": "nlp", "finalizers": ["example.com/keep"]},
    "spec": {"hard": {"pods": "100"}},
}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "team", "namespace": "nlp"},
    "rules": [],
}


def rendered(specs: Specs, root: Path) -> dict[tuple[str, str], tuple[dict[str, Any], str]]:
    """Return every object of the team's folder as it is written, with its spec file, by kind and name."""
    (folder,) = [
        cluster_folder
        for cluster_folder in cluster_folders(specs, "test", [], root)
        if cluster_folder.folder == "teams/nlp"
    ]
    return {
        (entry.kind, entry.name): (load(folder.files[name].encode(), file=name)[0][0].value, entry.spec)
        for name, entry in folder.index.items()
    }


@pytest.mark.node
def test_objects_of_ones_own_stand_as_written(tmp_path):
    """Every field is kept, in the folder that the file names, on its cluster alone."""
    specs = with_extra(extra("teams/nlp", QUOTA), extra("teams/nlp", {**QUOTA, "spec": {}}, cluster="other"))
    own = "platform/extra/test/teams/nlp/own.yaml"
    assert rendered(specs, tmp_path)["ResourceQuota", "pods"] == (QUOTA, own)


@pytest.mark.node
def test_an_object_of_ones_own_takes_the_place_of_ours(tmp_path):
    """A service account with an identity of the cloud, a role with more rights."""
    specs = with_extra(extra("teams/nlp", ROLE))
    assert ("Role", "team") not in {(resource.kind, resource.name) for resource in folders(specs)["teams/nlp"]}
    assert rendered(specs, tmp_path)["Role", "team"] == (ROLE, "platform/extra/test/teams/nlp/own.yaml")


def test_a_folder_may_hold_objects_of_ones_own_alone():
    """It is there, and Argo CD is told of it."""
    cluster = make_cluster(operators=None, queues=None, priorities=None, storage=None, topology=None)
    found = folders(replace(make_specs(clusters={"test": cluster}), extra=(extra("platform", QUOTA),)))
    assert found["platform"] == []
    assert "test-platform" in {resource.name for resource in found["argocd"]}


def test_policies_are_shipped_with_the_platform():
    """The file that fails a pull request is the file that the cluster enforces."""
    document = {"metadata": {"name": "gpu-limits", "annotations": {}}, "spec": {"validations": []}}
    built = folders(make_specs(), policies=[document])["platform"]
    kinds = [resource.kind for resource in built if resource.name == "gpu-limits"]
    assert kinds == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]


def test_a_cluster_without_queues_and_operators_has_no_empty_folder():
    """A folder that Git would not keep does not come to be."""
    cluster = make_cluster(operators=None, queues=None, priorities=None, storage=None, topology=None)
    assert set(folders(make_specs(clusters={"test": cluster}))) == {"argocd", "argocd/settings"}


def test_building_twice_gives_the_same():
    """Order and names do not depend on the run."""
    assert folders(everything_specs()) == folders(everything_specs())
