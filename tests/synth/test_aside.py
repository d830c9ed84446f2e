"""An error of a cluster that leaves its runs as they are keeps none of them from being judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from mistake_cases import ALWAYS, Slip, slips, write
from trainyard.base.findings import Finding, Location
from trainyard.change.plan.read.findings import everything
from trainyard.judge.checks.left_out import LeftOut, NamedJob, left_out
from trainyard.judge.checks.of_runs import run_of
from trainyard.judge.checks.result import Result

CLUSTER = "platform/clusters/roce.yaml"
NAMES = {"borrowing of nobody", "lending more than one has"}
ASIDE = {slip.name: slip for slip in slips("platform") if slip.file == CLUSTER and slip.name in NAMES}


def judged(slip: Slip, root: Path, text: str) -> Result:
    """Return everything that is said of the mistakes' repository with another cluster."""
    write(slip, root)
    (root / CLUSTER).write_text(text)
    return everything(root, "1.0.0")[0]


def runs(result: Result) -> set[tuple[str, str]]:
    """Return the objects of runs that were judged, with their verdicts."""
    return {(item.file, item.verdict) for item in result.objects if run_of(item.file)}


def of_jobs(findings: list[Finding]) -> set[tuple[str, str]]:
    """Return what is said of jobs and their objects."""
    about = (item for item in findings if item.location.file.startswith("jobs/") or run_of(item.location.file))
    return {(item.rule, item.message) for item in about if item.rule not in ALWAYS}


@pytest.mark.node
@pytest.mark.slow
@pytest.mark.parametrize("slip", ASIDE.values(), ids=ASIDE)
def test_runs_are_judged_as_if_the_error_were_not_there(slip: Slip, tmp_path: Path) -> None:
    """The same objects of runs have the same verdicts and findings, and the cluster has its error."""
    right = judged(slip, tmp_path / "right", (Path(__file__).parents[1] / "mistakes/base" / CLUSTER).read_text())
    wrong = judged(slip, tmp_path / "wrong", slip.written)
    assert runs(right)
    assert runs(wrong) == runs(right)
    assert of_jobs(wrong.findings) == of_jobs(right.findings)
    assert slip.says in {finding.rule for finding in wrong.findings if finding.is_error}
    assert "the platform of cluster 'roce'" in " ".join(item.why for item in wrong.skipped)


JOB = NamedJob("nlp", "train", "eu", "jobs/nlp/train.yaml")


def without(*paths: str, readable: tuple[str, ...] = ("eu",)) -> LeftOut:
    """Return what errors at fields of a cluster leave out."""
    place = Location("platform/clusters/eu.yaml", 1, 1)
    return left_out([Finding("a/b", "spec", "is odd", place, path=path) for path in paths], [JOB], readable=readable)


@pytest.mark.parametrize("path", ["pipelines.namespaces.nlp", "pipelines", "queues.a.nominalQuota.h100.gpus"])
def test_an_error_aside_leaves_runs(path: str) -> None:
    """Quotas and profiles of pipelines are in no object of a run; the cluster's other objects are not judged."""
    found = without(path)
    assert (found.clusters, found.own, found.jobs) == (set(), {"eu"}, set())
    assert not found.has_path("eu/runs/nlp/train-a/job.a.yaml")
    assert found.is_quiet("eu/platform/clusterqueue.a.yaml")
    assert not found.is_quiet("eu/runs/nlp/train-a/job.a.yaml")


WHOLE = {
    "a field that shapes runs": without("pools.h100.shape"),
    "a queue's teams": without("queues.a.teams"),
    "both together": without("pipelines", "operators.kueue"),
    "a file that cannot be read": without("pipelines", readable=()),
    "an error at no field": without(""),
}


@pytest.mark.parametrize("found", WHOLE.values(), ids=WHOLE)
def test_any_other_error_leaves_the_cluster_out(found: LeftOut) -> None:
    """Runs may follow from the field, or nothing can be rendered."""
    assert (found.clusters, found.own, found.jobs) == ({"eu"}, set(), {JOB.key})
