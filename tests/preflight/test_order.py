"""Jobs that come after others need somebody who keeps the order, and others that are there."""

from __future__ import annotations

import pytest

import command
from make import CLUSTER, JOB, make_cluster, make_job_file, make_specs, write_repository
from trainyard.preflight import order

PIPELINES = {"image": "registry.example.com/python@sha256:" + "0" * 64, "namespace": "kubeflow"}


PROFILES = {"image": PIPELINES["image"], "namespaces": {"nlp": "nlp-pipelines"}}


def found(*files, pipelines=PIPELINES, names=(), broken=()):
    """Return what is said of the order of jobs."""
    cluster = make_cluster(pipelines=pipelines or None)
    specs = make_specs(*files, clusters={"test": cluster, "other": cluster})
    return [(each.location.file, each.message) for each in order.check(specs, names, broken=frozenset(broken))]


A = make_job_file("a", after=[])
CASES = {
    "a chain": ((A, make_job_file("b", after=["a"]), make_job_file("c", after=["nlp/b", "a"])), {}, []),
    "jobs that say nothing of it": ((make_job_file("a"), make_job_file("b")), {"pipelines": False}, []),
    "a cluster that nobody runs pipelines on": (
        (A,),
        {"pipelines": False},
        ["nobody keeps the order of jobs on cluster 'test'; say pipelines there, or remove after"],
    ),
    "a job that does not exist": (
        (A, make_job_file("b", after=["aa"])),
        {},
        ["job 'nlp/aa' does not exist; did you mean 'nlp/a'?"],
    ),
    "a job that Argo CD starts": (
        (A, make_job_file("b", after=["c"])),
        {"names": [("nlp", "c")]},
        ["nlp/c is no step of a pipeline, since Argo CD starts it; write after: [] into it"],
    ),
    "a job that cannot be read": ((make_job_file("b", after=["c"]),), {"broken": [("nlp", "c")]}, []),
    "a job on another cluster": (
        (make_job_file("a", after=[], cluster="other"), make_job_file("b", after=["a"])),
        {},
        ["nlp/a runs on cluster 'other', but a pipeline is of one; name jobs of 'test'"],
    ),
    "a circle": (
        (make_job_file("a", after=["b"]), make_job_file("b", after=["a"])),
        {},
        ["nlp/a comes after itself; remove a job from after", "nlp/b comes after itself; remove a job from after"],
    ),
    "a kind without an end": (
        (make_job_file("a", after=[], kind="RayCluster", launcher="ray"), make_job_file("b", after=["a"])),
        {},
        ["kind 'RayCluster' has no end, so that no step after it would begin; choose another, or remove after"],
    ),
    "a team with a profile": ((A,), {"pipelines": PROFILES}, []),
    "a team without a profile": (
        (make_job_file("a", team="ads", after=[]),),
        {"pipelines": PROFILES},
        ["team 'ads' has no pipelines on cluster 'test'; add it to namespaces of pipelines, or remove after"],
    ),
    "a job of another team, by an account for all": (
        (make_job_file("a", team="ads", after=[]), make_job_file("b", after=["ads/a"])),
        {},
        [],
    ),
    "a job of another team, by each team's account": (
        (make_job_file("a", team="ads", after=[]), make_job_file("b", after=["ads/a"])),
        {"pipelines": {"image": PIPELINES["image"]}},
        ["ads/a is another team's, whose runs pipelines of 'nlp' may not start; remove it"],
    ),
    "itself": ((make_job_file("a", after=["a"]),), {}, ["nlp/a comes after itself; remove a job from after"]),
}


@pytest.mark.parametrize(("files", "more", "messages"), CASES.values(), ids=CASES)
def test_the_order_can_be_kept(files, more, messages):
    """Whatever breaks the chain is said at the job that names it."""
    assert [message for _, message in found(*files, **more)] == messages


def test_argo_cd_gets_no_step(tmp_path):
    """A step is checked like every job and rendered nowhere; a job that becomes one stops where Argo CD started it."""
    cluster = {**CLUSTER, "pipelines": PIPELINES}
    jobs = {"nlp/first": {**JOB, "after": []}, "nlp/second": {**JOB, "after": ["first"]}, "nlp/plain": JOB}
    root = write_repository(tmp_path, jobs=jobs, clusters={"test": cluster})
    done = command.call(root, "synth")
    assert done.returncode == 0, done.stderr
    runs = [path.name for path in (root / "generated/test/runs/nlp").iterdir() if path.is_dir()]
    assert [name.rpartition("-")[0] for name in runs] == ["plain"]
    (root / "jobs/nlp/first.yaml").unlink()
    for _ in range(2):  # the second time what can be is remembered
        done = command.call(root, "synth")
        assert "jobs/nlp/second.yaml" in done.stderr
        assert "job 'nlp/first' does not exist" in done.stderr


def test_what_a_pipeline_may_do_is_a_role_in_each_team(tmp_path):
    """The account of the steps starts, sees and ends runs in a team's namespace, and gets nothing elsewhere."""
    root = write_repository(tmp_path, clusters={"test": {**CLUSTER, "pipelines": PIPELINES}})
    assert command.call(root, "synth").returncode == 0
    folder = root / "generated/test/teams/nlp"
    assert "jobsets" in (folder / "role.pipelines.yaml").read_text()
    assert "namespace: kubeflow" in (folder / "rolebinding.pipelines.yaml").read_text()
