"""AppWrapper as the documentation shows it: a kind around any other, rendered and judged by the recipe alone."""

from __future__ import annotations

from typing import Any

import pytest

import recipes
from make import CLUSTER, JOB, write_repository
from trainyard.faces.local import work_of
from trainyard.judge import preflight
from trainyard.judge.preflight.job.tenants import of_team
from trainyard.render import operators
from trainyard.render.kinds import build, kind_of, kinds
from trainyard.render.kinds.starts import starts
from trainyard.render.tenancy.check import breaches
from trainyard.specs import releases
from trainyard.specs.load import read_repository
from trainyard.upstream import workloads
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.requests.jobs import workloads as queued

(MODULE,) = recipes.code("A kind around others")
(FACTS,) = recipes.code("A kind around others", "yaml")
READS = """
from importlib.resources import files

from trainyard.specs.releases import read

FACTS = read(files(__package__) / "appwrapper.yaml")
"""
POINTS = """
[project.entry-points."trainyard.kinds"]
AppWrapper = "acme.wrapper:KIND"

[project.entry-points."trainyard.releases"]
appwrapper = "acme.operator:FACTS"
"""
CACHES = (kinds, workloads.table, workloads.carriers, releases.releases, operators.operators)
INSIDE = {
    "JobSet": ("jobset", "torchrun"),
    "Job": ("job", "torchrun"),
    "PyTorchJob": ("pytorchjob", "torchrun"),
    "RayCluster": ("raycluster", "ray"),
    "RayJob": ("rayjob", "ray"),
}
"""Kinds whose pods AppWrapper counts by itself: their modules, and a launcher of theirs."""

MORE = {"JobSet": {}, "Job": {}, "PyTorchJob": {"training-operator": {"version": "1.9.4"}}}
RAY = {"kuberay": {"version": "1.6.2"}}


@pytest.fixture(params=INSIDE)
def inside(request, tmp_path):
    """The package of the page, with one kind or another in the AppWrapper."""
    module, _ = INSIDE[request.param]
    text = MODULE.replace("kinds.jobset import JobSet", f"kinds.{module} import {request.param}")
    text = text.replace("JobSet)", f"{request.param})").replace("JobSet()", f"{request.param}()")
    modules = {"wrapper.py": text, "operator.py": READS, "appwrapper.yaml": FACTS}
    with recipes.installed(tmp_path / "site", modules, POINTS, *CACHES):
        yield request.param


def repository(root: Any, kind: str, **more: Any) -> Any:
    """Write a small repository with a job of the kind, on a cluster with the operators."""
    operators = {**CLUSTER["operators"], "appwrapper": {"version": "1.2.1"}, **MORE.get(kind, RAY)}
    plain = {name: said for name, said in JOB.items() if name != "priority"}
    job = {**plain, "kind": "AppWrapper", "launcher": INSIDE[kind][1], **more}
    root.mkdir()
    write_repository(root, clusters={"test": {**CLUSTER, "operators": operators}}, jobs={"nlp/train": job})
    return root


def test_it_is_rendered_and_right(inside, tmp_path):
    """Nothing is found in a job of the kind; its run is an AppWrapper of the other kind's object, with its files."""
    root = repository(tmp_path / "own", inside)
    checked = preflight.check_repository(root)
    assert [finding.message for finding in checked.findings if finding.is_error] == []
    (run,) = checked.runs
    values = [item.value() for item in build(run)]
    (wrapper,) = (value for value in values if value["kind"] == "AppWrapper")
    ((path, held),) = workloads.held_by(wrapper)
    assert (held["kind"], path) == (inside, ("spec", "components", 0, "template"))
    assert (wrapper["metadata"]["name"], held["metadata"]["name"]) == (run.run.name,) * 2
    assert "kueue.x-k8s.io/queue-name" in wrapper["metadata"]["labels"]
    assert "kueue.x-k8s.io/queue-name" not in held["metadata"]["labels"]
    assert inside not in [value["kind"] for value in values]


def test_every_reader_knows_it(inside, tmp_path):
    """The statement of its team lets it be, Kueue counts its pods, `run` starts them, and they start on nodes."""
    root = repository(tmp_path / "own", inside)
    checked = preflight.check_repository(root)
    (run,) = checked.runs
    values = [item.value() for item in build(run)]
    allowed = of_team(read_repository(root).specs, "test", "nlp")
    assert [breach for value in values for breach in breaches(value, allowed, run=run.run.name)] == []
    wrapper = next(value for value in values if value["kind"] == "AppWrapper")
    assert kind_of(wrapper) is run.kind
    (made,) = queued(wrapper, values, Gates(None))
    pods = sum(role.pods for role in run.roles)
    assert sum(pod_set["count"] for pod_set in made["spec"]["podSets"]) == pods - (inside == "RayJob")
    assert [work.controller.kind for work in work_of(values)] == [inside]
    assert len(list(starts(run))) == len(run.roles)


def test_patches_reach_the_app_wrapper_and_what_is_in_it(tmp_path):
    """A patch of the AppWrapper is merged into it, and one of the kind inside into that."""
    modules = {"wrapper.py": MODULE, "operator.py": READS, "appwrapper.yaml": FACTS}
    patches = [
        {"object": "AppWrapper", "merge": {"spec": {"suspend": True}}, "reason": "a test"},
        {
            "object": "JobSet",
            "merge": {"spec": {"startupPolicy": {"startupPolicyOrder": "InOrder"}}},
            "reason": "a test",
        },
    ]
    with recipes.installed(tmp_path / "site", modules, POINTS, *CACHES):
        checked = preflight.check_repository(repository(tmp_path / "own", "JobSet", patches=patches))
        assert [finding.message for finding in checked.findings] == []
        (run,) = checked.runs
        wrapper = next(value for item in build(run) if (value := item.value())["kind"] == "AppWrapper")
        assert wrapper["spec"]["suspend"] is True
        assert wrapper["spec"]["components"][0]["template"]["spec"]["startupPolicy"] == {
            "startupPolicyOrder": "InOrder"
        }
