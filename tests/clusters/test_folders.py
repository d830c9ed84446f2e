"""A cluster's folders are filled with objects, each with the line it comes from, and extra objects as they stand."""

from __future__ import annotations

from typing import Any

import cdk8s
import pytest

from everything import KUBELET, OPERATORS, everything_specs
from make import make_cluster, make_source, make_specs
from trainyard.clusters import build
from trainyard.parts.objects import Folder
from trainyard.releases import releases
from trainyard.specs.sources import ExtraFile, Specs

pytestmark = pytest.mark.node


def folders(specs: Specs, name: str = "test", **more: Any) -> dict[str, Folder]:
    """Return the cluster's folders by path."""
    return {folder.path: folder for folder in build(specs, name, cdk8s.App(), **more)}


def extra(folder: str, value: dict[str, Any], cluster: str = "test") -> ExtraFile:
    """Return an object of the repository's own."""
    return ExtraFile(cluster, folder, make_source(f"platform/extra/{cluster}/{folder}/own.yaml", value))


def with_extra(*files: ExtraFile) -> Specs:
    """Return a small repository with objects of its own."""
    base = make_specs()
    return Specs(base.repository, base.clusters, base.teams, base.jobs, files, base.sources)


def with_folder() -> set[str]:
    """Return the operators that have more than a chart in a system namespace."""
    alone = {name for name, facts in releases().items() if facts.chart and not facts.own_namespace}
    return set(OPERATORS) - alone


def test_every_folder_of_a_cluster_is_there():
    """Classes of Application, node files, teams and the place of their runs."""
    assert set(folders(everything_specs())) == {
        "argocd",
        "argocd/settings",
        "hardware",
        "nodes/h100",
        "platform",
        *(f"operators/{name}" for name in with_folder()),
        *(f"{kind}/{team}" for kind in ("teams", "runs") for team in ("ads", "nlp", "vision")),
    }


def test_no_object_is_in_two_folders():
    """Two Applications that own one object undo each other; node files are nobody's."""
    seen: dict[tuple[Any, ...], str] = {}
    for path, folder in folders(everything_specs()).items():
        for value, _ in folder.objects():
            metadata = value.get("metadata") or {}
            key = (value["apiVersion"], value["kind"], metadata.get("namespace"), metadata.get("name"))
            if not path.startswith("nodes/"):
                assert key not in seen, (path, seen.get(key))
                seen[key] = path


def test_objects_know_the_spec_they_come_from():
    """The queue comes from the cluster's file, the claim from the team's."""
    built = folders(everything_specs())
    queues = {value["metadata"]["name"]: origin for value, origin in built["platform"].objects()}
    claims = {value["kind"]: origin for value, origin in built["teams/nlp"].objects()}
    assert (queues["research"].file, queues["research"].path) == ("platform/clusters/test.yaml", ("queues", "research"))
    assert claims["PersistentVolumeClaim"].file == "platform/teams/nlp.yaml"


def test_node_files_have_no_metadata():
    """With one field that it does not know the kubelet ignores all such fields, misspelt settings included."""
    built = folders(everything_specs())["nodes/h100"].objects()
    (kubelet,) = [value for value, _ in built if value["kind"] == "KubeletConfiguration"]
    assert "metadata" not in kubelet
    assert kubelet["topologyManagerPolicy"] == KUBELET["topologyManagerPolicy"]


def test_locked_memory_is_allowed_on_the_node_or_in_the_pod():
    """With `memlock: capability` there is nothing to install."""
    fabric = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "memlock": "capability"}
    built = folders(everything_specs(fabric={**fabric, "pools": ["h100"]}))["nodes/h100"].objects()
    assert [value["kind"] for value, _ in built] == ["KubeletConfiguration"]


def test_objects_of_ones_own_stand_as_written():
    """Every field is kept, in the folder that the file names, on its cluster alone."""
    own = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "pods", "namespace": "nlp", "finalizers": ["example.com/keep"]},
        "spec": {"hard": {"pods": "100"}},
    }
    built = folders(with_extra(extra("teams/nlp", own), extra("teams/nlp", own, cluster="other")))
    found = [(value, origin.file) for value, origin in built["teams/nlp"].objects() if value["kind"] == "ResourceQuota"]
    assert found == [(own, "platform/extra/test/teams/nlp/own.yaml")]


def test_an_object_of_ones_own_takes_the_place_of_ours():
    """A service account with an identity of the cloud, a role with more rights."""
    own = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "team", "namespace": "nlp"},
        "rules": [],
    }
    built = folders(with_extra(extra("teams/nlp", own)))["teams/nlp"].objects()
    assert [value for value, _ in built if value["kind"] == "Role"] == [own]


def test_policies_are_shipped_with_the_platform():
    """The file that fails a pull request is the file that the cluster enforces."""
    document = {"metadata": {"name": "gpu-limits", "annotations": {}}, "spec": {"validations": []}}
    built = folders(make_specs(), policies=[document])["platform"].objects()
    kinds = [value["kind"] for value, _ in built if value["metadata"]["name"] == "gpu-limits"]
    assert kinds == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]


def test_a_cluster_without_queues_and_operators_has_no_empty_folder():
    """A folder that Git would not keep does not come to be."""
    cluster = make_cluster(operators=None, queues=None, priorities=None, storage=None, topology=None)
    assert set(folders(make_specs(clusters={"test": cluster}))) == {"argocd", "argocd/settings"}


def test_building_twice_gives_the_same():
    """Order and names do not depend on the run."""
    first, second = ({path: folder.objects() for path, folder in folders(everything_specs()).items()} for _ in range(2))
    assert first == second
