"""A step is a program of Python's own library, what it makes, and what it waits for."""

from __future__ import annotations

import ast
import json
import sys

import pytest

from make import make_job_file, make_run
from trainyard.base.errors import SpecError
from trainyard.faces.pipelines import chosen, follow
from trainyard.faces.pipelines.steps import PROGRAM, plan, steps, text
from trainyard.judge.preflight.job.rendered import Objects
from trainyard.render.kinds import build, kinds, resolve
from trainyard.specs.run import EACH
from trainyard.upstream.workloads.ends import Ending

ONE = {"launcher": "python", "nodes": 1, "processes_per_node": 1}


def run(name="train", **job):
    """Return a step's run."""
    return resolve(make_run(name, **{"after": [], **job}))


def test_the_program_needs_nothing_but_python():
    """Whatever image has Python runs it, and nobody on the way finds a text in it to replace."""
    tree = ast.parse(PROGRAM)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert not {"$(", "{{"} & {PROGRAM[index : index + 2] for index in range(len(PROGRAM))}
    ast.parse(PROGRAM, feature_version=(3, 9))


def test_each_run_of_a_pipeline_is_a_run_of_its_own():
    """What stands for a run of the pipeline is in every name, and nowhere else; its length stays."""
    made = run(contents={"a.yaml": "b: c"}, files=[{"source": "a.yaml", "mountPath": "/etc/a"}])
    (step,) = steps([made])
    name = made.run.name
    assert name.endswith(EACH)
    assert step.plan.count(EACH) == step.plan.count(name) > 8
    real = name[: -follow.SUFFIX] + follow.suffix("4f0c7e2a-b95d-4136-8f0c-7e2ab95d8136")
    assert len(real) == len(name)
    assert json.loads(step.plan.replace(name, real))["objects"][0]["object"]["metadata"]["name"] == real
    assert follow.suffix("a") != follow.suffix("b")


def test_objects_are_those_of_the_run_with_the_run_first():
    """What Argo CD would apply a step makes, without what is said to Argo CD alone."""
    made = run(contents={"a.yaml": "b: c"}, files=[{"source": "a.yaml", "mountPath": "/etc/a"}])
    found = plan(made)
    assert [item["object"]["kind"] for item in found["objects"]] == ["JobSet", "ConfigMap"]
    assert [item["path"] for item in found["objects"]] == [
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/nlp/jobsets",
        "/api/v1/namespaces/nlp/configmaps",
    ]
    for item, resource in zip(found["objects"], build(made), strict=True):
        value = resource.value()
        assert item["object"]["spec" if "spec" in value else "data"] == value.get("spec", value.get("data"))
        assert "argocd" not in json.dumps(item["object"]["metadata"])
    labels = found["objects"][0]["object"]["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "research", "the queue still decides"


def test_no_argument_is_expanded_on_the_way():
    """Kubernetes reads `$(…)` of a step's own pod, Argo Workflows `{{…}}`; JSON says both in another way."""
    value = {"a": "$(RANK) {{x}} $$(Y)", "b": ["{{", "$"]}
    written = text(value)
    assert "$" not in written
    assert "{{" not in written
    assert json.loads(written) == value


ENDS = {
    "a condition that is true": (Ending("Complete"), {"conditions": [{"type": "Complete", "status": "True"}]}, True),
    "one that is not": (Ending("Complete"), {"conditions": [{"type": "Complete", "status": "False"}]}, None),
    "a failure": (Ending("Complete"), {"conditions": [{"type": "Failed", "status": "True", "reason": "X"}]}, False),
    "a word": (Ending("Done", word=("status", "phase")), {"phase": "Done"}, True),
    "a bad word": (Ending("Done", word=("status", "phase"), reason=("status", "why")), {"phase": "Failed"}, False),
    "another word": (Ending("Done", word=("status", "phase")), {"phase": "Running"}, None),
    "nothing": (Ending("Complete"), {}, None),
}


@pytest.mark.parametrize(("ending", "status", "well"), ENDS.values(), ids=ENDS)
def test_a_step_sees_the_same_end_as_everybody(ending, status, well):
    """The program reads an end as `workloads` does, which other commands read it by."""
    (step,) = steps([run()])
    told = json.loads(step.plan)["ending"]
    said = {**told, **{key: getattr(ending, key) for key in ("done", "failed", "word", "reason")}}
    found = follow.end({"status": status}, json.loads(json.dumps(said)))
    assert (found[0] if found else None) is well
    other = ending.of({"status": status})
    assert (other.result == "succeeded" if other else None) is well


def test_every_kind_with_an_end_can_be_followed():
    """What a kind's row says of a kind's end is all that a step needs."""
    for kind in kinds().values():
        ending = kind.carrier.ending
        assert ending is None or ending.done


def test_jobs_bring_those_they_come_after():
    """One name is enough for a whole chain, in an order that it can have; twice named is once there."""
    runs = [run("c", after=["b", "a"]), run("b", after=["nlp/a"]), run("a"), run("d")]
    found = [item.run.job_name for item in chosen(runs, [("nlp", "c"), ("nlp", "b")])]
    assert found == ["a", "b", "c"]
    assert [(step.name, step.after) for step in steps(chosen(runs, [("nlp", "c")]))] == [
        ("nlp/a", ()),
        ("nlp/b", (("nlp", "a"),)),
        ("nlp/c", (("nlp", "b"), ("nlp", "a"))),
    ]


def test_what_argo_cd_starts_is_no_step():
    """A run has one who starts it."""
    with pytest.raises(
        SpecError, match="job 'nlp/train' cannot be a step, because Argo CD starts it; add after: \\[\\]"
    ):
        chosen([resolve(make_run())], [("nlp", "train")])
    with pytest.raises(SpecError, match="job 'nlp/trian' does not exist or has errors; did you mean 'nlp/train'"):
        chosen([resolve(make_run())], [("nlp", "trian")])


def test_names_of_steps_are_held_to_their_length():
    """The length of a name counts what stands for the pipeline's run."""
    from trainyard.judge.preflight.jobs import check_run

    long = "a" * 30
    short = [item for item in check_run(make_run(long, **ONE))[1] if item.rule == "rdv-name-len"]
    roles = {"a-role-with-a-name": {"pool": "cpu"}}
    named = {**ONE, "roles": roles}
    plain, step = (
        [item.rule for item in check_run(make_run("a" * 21, **named, **more))[1] if item.rule == "rdv-name-len"]
        for more in ({}, {"after": []})
    )
    assert (short, plain, step) == ([], [], ["rdv-name-len"])


def test_objects_of_a_step_are_judged_like_those_of_a_run():
    """Policies look at what a step makes, before it is made."""
    (first, *_) = Objects(run()).manifests
    assert first.kind == "JobSet"
    assert make_job_file(after=[]).job.step
