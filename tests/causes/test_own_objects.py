"""An error in an object of the repository's own is told first, and findings on jobs that name it are below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainyard.base.findings import Finding, Location, ObjectRef, Severity, arrange
from trainyard.judge.causes.own_objects import below_objects

JOB = "jobs/nlp/train.yaml"
ERROR = Finding(
    "schema/unknown-field",
    "schema",
    "unknown field 'graze'",
    Location("generated/test/platform/clustertrainingruntime.torch.yaml", 9, 3),
    object=ObjectRef("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", None, "torch"),
    spec=Location("platform/extra/test/platform/torch.yaml", 9, 3),
)
OF_JOB = Finding(
    "run/runtime-fields", "run", "runtime 'torch' gives its pods no grace", Location(JOB, 6, 10), path="runtime"
)
FILES = {(JOB, "test")}


def test_what_is_said_of_a_job_on_a_wrong_runtime_is_below_its_error():
    """The error comes first, whichever rule says more of the job."""
    warned = replace(OF_JOB, rule="run/runtime-restarts", severity=Severity.WARNING)
    ((first, below),) = arrange(below_objects([OF_JOB, warned, ERROR], FILES))
    assert first is ERROR
    assert [finding.rule for finding in below] == ["run/runtime-fields", "run/runtime-restarts"]


ALONE = {
    "another runtime": ([replace(OF_JOB, message="runtime 'torch2' gives its pods no grace"), ERROR], FILES),
    "a runtime of another cluster": ([OF_JOB, ERROR], {(JOB, "eu")}),
    "another field of the job": ([replace(OF_JOB, path="nodes"), ERROR], FILES),
    "a warning on the runtime": ([OF_JOB, replace(ERROR, severity=Severity.WARNING)], FILES),
    "an object that Trainyard makes": ([OF_JOB, replace(ERROR, spec=None)], FILES),
}


@pytest.mark.parametrize(("findings", "files"), ALONE.values(), ids=ALONE)
def test_what_has_nothing_to_do_with_the_error_stands_for_itself(findings, files):
    """Nothing is hidden below an error of something else."""
    assert below_objects(findings, files) == findings


def test_an_object_of_the_platforms_files_is_told_before_jobs():
    """Of what is rendered the line that a person edits decides; what comes of jobs stays behind them."""
    of_run = replace(ERROR, location=Location("generated/test/runs/nlp/a/job.a.yaml", 1, 1), spec=Location(JOB, 1, 1))
    ordered = sorted([of_run, OF_JOB, ERROR], key=lambda finding: finding.order)
    assert ordered == [ERROR, OF_JOB, of_run]
