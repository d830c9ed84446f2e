"""Jobs that come after others need somebody who keeps the order, and others that are there."""

from __future__ import annotations

import pytest

import command
from make import CLUSTER, JOB, make_cluster, make_job_file, make_specs, write_repository
from trainyard.judge.preflight.between import order

PIPELINES = {"image": "registry.example.com/python@sha256:" + "0" * 64, "namespace": "kubeflow"}


PROFILES = {"image": PIPELINES["image"], "namespaces": {"nlp": "nlp-pipelines"}}


def found(*files, pipelines=PIPELINES, names=(), broken=()):
    """Return what is said of the order of jobs."""
    cluster = make_cluster(pipelines=pipelines or None)
    specs = make_specs(*files, clusters={"test": cluster, "other": cluster})
    return [
        (check_step.location.file, check_step.message)
        for check_step in order.check_steps(specs, names, broken=frozenset(broken))
    ]


A = make_job_file("a", after=[])
CASES = {
    "a chain": ((A, make_job_file("b", after=["a"]), make_job_file("c", after=["nlp/b", "a"])), {}, []),
    "jobs that say nothing of it": ((make_job_file("a"), make_job_file("b")), {"pipelines": False}, []),
    "a cluster that nobody runs pipelines on": (
        (A,),
        {"pipelines": False},
        ["cluster 'test' has no pipelines, so field 'after' has no effect; set pipelines there, or remove after"],
    ),
    "a job that does not exist": (
        (A, make_job_file("b", after=["aa"])),
        {},
        ["job 'nlp/aa' does not exist; did you mean 'nlp/a'?"],
    ),
    "a job that Argo CD starts": (
        (A, make_job_file("b", after=["c"])),
        {"names": [("nlp", "c")]},
        ["Argo CD starts nlp/c, so it is no step of a pipeline; add after: [] to job nlp/c"],
    ),
    "a job that cannot be read": ((make_job_file("b", after=["c"]),), {"broken": [("nlp", "c")]}, []),
    "a job on another cluster": (
        (make_job_file("a", after=[], cluster="other"), make_job_file("b", after=["a"])),
        {},
        ["nlp/a runs on cluster 'other', but a pipeline has one cluster; use jobs on 'test'"],
    ),
    "a circle": (
        (make_job_file("a", after=["b"]), make_job_file("b", after=["a"])),
        {},
        ["job nlp/a waits for itself; remove a job from after", "job nlp/b waits for itself; remove a job from after"],
    ),
    "a kind without an end": (
        (make_job_file("a", after=[], kind="RayCluster", launcher="ray"), make_job_file("b", after=["a"])),
        {},
        ["kind 'RayCluster' never completes, so later steps would not start; use another kind, or remove after"],
    ),
    "a team with a profile": ((A,), {"pipelines": PROFILES}, []),
    "a team without a profile": (
        (make_job_file("a", team="ads", after=[]),),
        {"pipelines": PROFILES},
        ["team 'ads' has no pipelines on cluster 'test'; add it to pipelines.namespaces, or remove after"],
    ),
    "a job of another team, by an account for all": (
        (make_job_file("a", team="ads", after=[]), make_job_file("b", after=["ads/a"])),
        {},
        [],
    ),
    "a job of another team, by each team's account": (
        (make_job_file("a", team="ads", after=[]), make_job_file("b", after=["ads/a"])),
        {"pipelines": {"image": PIPELINES["image"]}},
        ["ads/a belongs to another team, whose jobs pipelines of 'nlp' may not start; remove it"],
    ),
    "itself": ((make_job_file("a", after=["a"]),), {}, ["job nlp/a waits for itself; remove a job from after"]),
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
