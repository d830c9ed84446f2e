"""What a reviewer reads where a change turns what becomes of runs: by quota, flavor, topology, machines and jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command import call as trainyard
from make import CLUSTER, JOB, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.base.documents import dump
from trainyard.change import plan
from trainyard.change.plan.effects import Decision
from trainyard.faces.report import View, render
from trainyard.faces.report.json_ import schema
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.checks.result import Result
from trainyard.judge.preflight import check_repository
from trainyard.render.tree.commit import Base

pytestmark = [pytest.mark.node, pytest.mark.slow]

QUOTA = {"gpu": {"gpus": 32}, "cpu": {"nodes": 4}}
SITE: dict[str, Any] = {**CLUSTER, "queues": {"research": {"teams": ["nlp"], "nominalQuota": QUOTA}}}
FLAT = {**SITE, "topology": None, "pools": {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 4}}}
AGENT = {"daemons": [{"name": "agent", "cpus": 8, "memory": "64Gi"}]}
"""What takes CPUs and memory of every node, for which runs that exist leave no room."""

WHOLE: dict[str, Any] = {"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1, "gpusPerNode": 1}}
ALL: dict[str, Any] = {"nlp/train": {**JOB, "nodes": 4}}
"""A job that asks for all CPUs for which the queue of `SITE` has quota."""

COHORT: dict[str, Any] = {
    **SITE,
    "queues": {
        name: {
            "teams": ["nlp"],
            "nominalQuota": {"gpu": {"gpus": 16}},
            "cohort": "all",
            "preemption": {"reclaimWithinCohort": "Any"},
        }
        for name in ("research", "production")
    },
}
SPOKEN: dict[str, Any] = {
    **FLAT,
    "operators": {**FLAT["operators"], "volcano": {"version": "1.15.1"}},
    "queues": {"speech": {"teams": ["nlp"], "scheduler": "volcano", "nominalQuota": {"gpu": {"gpus": 32}}}},
}
SPEECH: dict[str, Any] = {"nlp/train": {**JOB, "kind": "VolcanoJob", "queue": "speech", "nodes": 4}}
KEPT = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "kept", "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}},
    "spec": {
        "weight": 1,
        "reclaimable": True,
        "guarantee": {"resource": {"nvidia.com/gpu": "8"}},
        "deserved": {"nvidia.com/gpu": "8"},
    },
}
OURS: dict[str, Any] = {"nlp/loan": {**JOB, "nodes": 4, "queue": "research"}}
SERVED: dict[str, Any] = {
    "nlp/served": {
        **JOB,
        "launcher": "tensorflow",
        "nodes": 3,
        "roles": {"chief": {"nodes": 1}, "ps": {"nodes": 2, "cpusPerNode": 16}},
    }
}
"""Its small pods leave no node for one of those that need a whole one, unless they are on one themselves."""
TAINTED = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "gpu", "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}},
    "spec": {
        "nodeLabels": {"trainyard.dev/pool": "gpu"},
        "nodeTaints": [{"key": "example.com/repair", "value": "yes", "effect": "NoSchedule"}],
    },
}


def pool(site: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a cluster with other fields in the pool of GPUs."""
    return {**site, "pools": {**site["pools"], "gpu": {**site["pools"]["gpu"], **changes}}}


Step = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""A cluster, jobs, and plain objects of the repository's own for it."""

CASES: dict[str, tuple[list[Step], str, str, str]] = {
    "never fits by quota": (
        [(FLAT, ALL, {}), (pool(FLAT, **AGENT), ALL, {})],
        "kq-never-fits",
        "fits",
        "its queue can get at most",
    ),
    "never fits by flavor": (
        [(FLAT, ALL, {}), (FLAT, ALL, {"flavor": TAINTED})],
        "kq-never-fits",
        "fits",
        "untolerated taint",
    ),
    "never fits by topology": (
        [(SITE, WHOLE, {}), (pool(SITE, **AGENT), WHOLE, {})],
        "kq-never-fits",
        "fits",
        "topology",
    ),
    "never fits by machines": (
        [(FLAT, WHOLE, {}), (pool(FLAT, **AGENT), WHOLE, {})],
        "node/never-fits",
        "fits",
        "even on an empty cluster it waits for a node for pods of worker",
    ),
    "fits again on machines": (
        [(FLAT, WHOLE, {}), (pool(FLAT, **AGENT), WHOLE, {}), (FLAT, WHOLE, {})],
        "",
        "never fits",
        "2 pods in flavor gpu",
    ),
    "may fit on machines": (
        [(pool(FLAT, nodes=6), SERVED, {}), (FLAT, SERVED, {})],
        "node/may-not-fit",
        "fits",
        "if the scheduler picks other nodes, it waits for a node for 1 pod of worker",
    ),
    "begins and may fit": (
        [(FLAT, {}, {}), (FLAT, SERVED, {})],
        "node/may-not-fit",
        "",
        "if the scheduler picks other nodes, it waits for a node for 1 pod of worker",
    ),
    "never fits by Volcano": (
        [(SPOKEN, SPEECH, {}), (SPOKEN, SPEECH, {"kept": KEPT})],
        "vc-never-fits",
        "fits",
        "queue speech can give at most 24 nvidia.com/gpu, but 32 are needed",
    ),
    "another job takes back what is lent": (
        [(COHORT, OURS, {}), (COHORT, {**OURS, "nlp/ours": {**JOB, "queue": "production"}}, {})],
        "",
        "",
        "nlp/loan",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_reviewer_reads_of_runs_that_turn(tmp_path: Path, case: str, golden: Callable[[str, str], None]) -> None:
    """Rule and reason are told of the run, text and Markdown are as reviewed, and data is as its schema says."""
    steps, rule, before, detail = CASES[case]
    repo = Repo(tmp_path / "repo")
    for number, step in enumerate(steps):
        rendered(repo, *step)
        if number < len(steps) - 1:
            repo.commit()
        if number == 0:
            repo.git("switch", "-qc", "work")
        elif number < len(steps) - 1:
            repo.git("branch", "-f", "main", "work")
    found = plan.make_plan(repo.root, __version__, ref="main")
    assert not found.refused, found.findings
    (turned,) = found.decisions
    assert (turned.rule, turned.before or "", detail in turned.detail) == (rule, before, True), turned
    assert_counted(found, turned)
    objects = tuple(item for item in found.objects if item.object.kind == "ResourceFlavor")
    found = replace(found, base="0" * 40, compared=str(Base("0" * 40)), findings=(), objects=objects)
    name = case.replace(" ", "-")
    golden(f"golden/plan/turned/{name}.txt", plan.render(found))
    view = View("plan", plan=found)
    golden(f"golden/plan/turned/{name}.md", render(Result(), "markdown", view))
    data = json.loads(render(Result(), "json", view))
    jsonschema.validate(data, schema())
    assert data["plan"]["decisions"][0]["rule"] == rule


def test_jobs_that_wait_are_drawn(tmp_path: Path) -> None:
    """What is remembered of a job is what its objects ask: a picture asks about the objects of those that wait."""
    repo = Repo(tmp_path / "repo")
    rendered(repo, FLAT, ALL, {})
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, FLAT, {**ALL, "nlp/late": {**JOB, "nodes": 4}}, {})
    for _ in range(2):
        done = trainyard(repo.root, "plan", "--base", "main", "--svg", str(tmp_path / "svg"))
        assert done.returncode == 0, done.stderr
        assert "waits for" in done.stdout
    assert "late" in (tmp_path / "svg/test.hosts.svg").read_text()


@pytest.mark.parametrize("own", [{}, {"flavor": TAINTED}])
def test_a_run_that_begins_in_vain_is_refused(tmp_path: Path, own: dict[str, Any]) -> None:
    """It is an error at the queue of its job, and one that was there is none."""
    repo = Repo(tmp_path / "repo")
    rendered(repo, FLAT, {"nlp/train": JOB}, own)
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, FLAT, {"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1}}, own)
    found = plan.make_plan(repo.root, __version__, ref="main")
    assert {decision.before for decision in found.decisions} == {None}
    assert [(finding.rule, finding.location.file) for finding in found.findings if finding.is_error] == [
        ("kq-never-fits", "jobs/nlp/small.yaml") for _ in own
    ]
    lines = (repo.root / "jobs/nlp/small.yaml").read_text().splitlines()
    assert all(lines[finding.location.line - 1].startswith("queue:") for finding in found.findings if finding.is_error)
    assert found.refused == bool(own)


def test_a_step_that_never_fits_is_refused(tmp_path: Path) -> None:
    """A tree has no run of it, so a plan asks what becomes of it when somebody starts it, where a change brings it."""
    site = {**FLAT, "pipelines": {"image": JOB["image"], "serviceAccount": "runner"}}
    step = {**JOB, "after": []}
    repo = Repo(tmp_path / "repo")
    rendered(repo, site, {"nlp/train": step}, {"flavor": TAINTED})
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, site, {"nlp/train": step, "nlp/small": {**step, "nodes": 1}}, {"flavor": TAINTED})
    for _ in range(2):
        found = plan.make_plan(repo.root, __version__, ref="main")
        assert [(finding.rule, finding.location.file) for finding in found.findings if finding.is_error] == [
            ("kq-never-fits", "jobs/nlp/small.yaml")
        ]
        assert found.refused


def test_a_run_that_begins_and_may_fit_is_warned_of(tmp_path: Path) -> None:
    """In the words of `trainyard admit`, at the same field of the job, and with the same verdict; it passes."""
    repo = Repo(tmp_path / "repo")
    rendered(repo, FLAT, {}, {})
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, FLAT, SERVED, {})
    found = plan.make_plan(repo.root, __version__, ref="main")
    checked = check_repository(repo.root)
    admitted = verdicts(checked)
    (warned,) = findings(admitted, checked.findings)
    (mine,) = (finding for finding in found.findings if finding.rule == "node/may-not-fit")
    assert (mine.message, mine.location.file, mine.location.line) == (
        warned.message,
        warned.location.file,
        warned.location.line,
    )
    assert not found.refused
    assert [decision.after for decision in found.decisions] == [item.word for item in admitted] == ["may fit"]


def test_admit_says_what_the_plan_says(tmp_path: Path) -> None:
    """Of a job that the change makes smaller, and of the one that gets its quota before it."""
    repo = Repo(tmp_path / "repo")
    jobs = {f"nlp/{name}": JOB for name in ("a", "b", "c")}
    rendered(repo, FLAT, jobs, {})
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, FLAT, {**jobs, "nlp/b": {**JOB, "nodes": 1}}, {})
    found = plan.make_plan(repo.root, __version__)
    told = {decision.job: (decision.after, decision.detail) for decision in found.decisions}
    said = json.loads(trainyard(repo.root, "admit", "--format", "json").stdout)
    admitted = {row["job"].removeprefix("nlp/"): (row["verdict"], row["detail"]) for row in said}
    assert {name: word for name, (word, _) in admitted.items()} == {"a": "fits", "b": "waits for", "c": "fits"}
    assert told["b"] == admitted["b"]
    assert told["c"][0] == admitted["c"][0]


def assert_counted(found: plan.Plan, turned: Decision) -> None:
    """A run that never or only may fit is in the table of queues, the warnings and at the run itself; no other is."""
    said = plan.render(found)
    for word, warning, count in (
        ("never fits", "! never fits: ", sum(row.never for row in found.queues)),
        (
            "may fit",
            "! may not fit, depending on the nodes that the scheduler picks: ",
            sum(row.may for row in found.queues),
        ),
    ):
        is_so = turned.after == word
        assert count == is_so
        assert (f"{warning}nlp/{turned.run}" in said) == is_so
        assert [run.run for run in found.runs if run.decided == word] == [turned.run] * is_so


def rendered(repo: Repo, cluster: dict[str, Any], jobs: dict[str, Any], own: dict[str, Any]) -> None:
    """Write the specs, and render them."""
    site = {name: value for name, value in cluster.items() if value is not None}
    write_repository(repo.root, jobs=jobs, teams={"nlp": TEAM}, clusters={"test": site})
    for name, value in own.items():
        repo.put(f"platform/extra/test/platform/{name}.yaml", dump(value))
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
