"""The launcher that the documentation shows is one file, and works in every kind that gives what it needs."""

from __future__ import annotations

import pytest

import recipes
import trainyard.render.launchers as package
from conftest import ROOT
from make import CLUSTER, JOB, TEAM, make_cluster, make_job_file, make_specs, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight
from trainyard.judge.checks.validate import strangers
from trainyard.render.clusters import volcano
from trainyard.render.kinds import build, kinds
from trainyard.render.launchers import NEEDS, launchers

(MODULE,) = recipes.code("A launcher")
(POINTS,) = recipes.code("A launcher", "toml")
RELEASES = {"training-operator": "1.9.4", "mpi-operator": "0.8.2", "kuberay": "1.6.2", "trainer": "2.3.0"}
RELEASES |= {"lws": "0.10.0", "volcano": "1.15.1"}
OPERATORS = {**CLUSTER["operators"], **{name: {"version": version} for name, version in RELEASES.items()}}


@pytest.fixture
def launcher(tmp_path, monkeypatch):
    """The launcher of the page, put into the folder of launchers."""
    recipes.put(tmp_path, package, "composer.py", MODULE, monkeypatch)
    with recipes.fresh(launchers):
        yield launchers()["composer"]


def checked(kind: str | None):
    """Return a run that the launcher starts, in a kind, and what is wrong with it."""
    scheduler = kinds()[kind].scheduler if kind else "kueue"
    queue = {**CLUSTER["queues"]["research"], "scheduler": scheduler}
    cluster = make_cluster(operators=OPERATORS, queues={"research": queue})
    specs = make_specs(make_job_file(kind=kind, launcher="composer"), clusters={"test": cluster})
    return preflight.jobs.check(specs, specs.jobs[0])


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_it_works_in_every_kind_that_gives_what_it_needs(launcher, kind):
    """There its objects are valid; elsewhere the finding names what is missing, and the kinds that have it."""
    run, findings = checked(kind)
    if launcher.needs <= kinds()[kind].gives:
        assert [finding.message for finding in findings if finding.is_error] == []
        queues = volcano.resources(run.run.cluster)
        text = "---\n".join(dump(queue.value()) for queue in (*queues, *build(run)))
        result = strangers([("run.yaml", text.encode())], ROOT / "schemas", kubernetes="1.35")
        assert [finding.message for finding in result.findings if finding.is_error] == []
        assert "composer" in text
        assert f"--node_rank=$({run.wiring.rank})" in text
    else:
        assert run is None
        assert [finding.rule for finding in findings if finding.is_error] == ["run/pair"]
        assert "kinds that can: Job, JobSet" in findings[0].message


def test_a_job_that_names_no_kind_gets_one_that_can(launcher):
    """What it needs are words that kinds know."""
    run, findings = checked(None)
    assert findings == []
    assert run.kind.name == "JobSet"
    assert launcher.needs <= NEEDS.keys()


def test_a_package_brings_it_by_an_entry_point(tmp_path):
    """The same module, named as the page says, is what a job's `launcher` names."""
    root = write_repository(tmp_path / "own", jobs={"nlp/train": {**JOB, "launcher": "composer"}}, teams={"nlp": TEAM})
    with recipes.installed(tmp_path / "site", {"composer.py": MODULE}, POINTS, launchers):
        assert preflight.check_repository(root).findings == []
    assert "composer" not in launchers()
