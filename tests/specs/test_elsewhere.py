"""What people bring along from Kubernetes and Slurm is told by the field that a job has for it."""

from __future__ import annotations

import pytest

import make
from trainyard.base.documents import dump
from trainyard.specs.load import read_repository
from trainyard.specs.models.job import Job
from trainyard.specs.reading.elsewhere import IN_JOBS

FIELDS = {
    "nodeSelector": "use pool",
    "metadata": "it belongs to Kubernetes objects; write the job's fields at the top level",
    "restartPolicy": "use restarts",
    "replicas": "use nodes",
}


@pytest.mark.parametrize(("field", "advice"), FIELDS.items(), ids=FIELDS)
def test_a_field_of_others_is_told_by_ours(tmp_path, field, advice):
    """A list of all fields there are helps nobody, nor does the one that is spelt most like it."""
    (found,) = read_repository(make.write_repository(tmp_path, jobs={"nlp/x": {**make.JOB, field: {}}})).findings
    assert found.message == f"field {field!r} does not exist in a job; {advice}"


def test_no_field_of_ours_is_told_to_be_of_others():
    """A field that a job has is never refused by its name."""
    own = {field.alias or name for name, field in Job.model_fields.items()}
    assert not own & set(IN_JOBS)


OBJECT = dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
PLACES = {
    "platform/clusters/x.yaml": (
        "file is a ConfigMap of Kubernetes, not a cluster; move it to platform/extra/<cluster>/"
    ),
    "platform/teams/x.yaml": "file is a ConfigMap of Kubernetes, not a team; move it to platform/extra/<cluster>/",
    "jobs/nlp/x.yaml": (
        "file is a ConfigMap of Kubernetes, not a job; write a job's fields, or move it to platform/extra/<cluster>/"
    ),
}


@pytest.mark.parametrize(("path", "message"), PLACES.items(), ids=PLACES)
def test_an_object_in_the_place_of_a_spec_is_one_finding(tmp_path, path, message):
    """All its fields are wrong, which is said once."""
    root = make.write_repository(tmp_path)
    (root / path).write_text(OBJECT, encoding="utf-8")
    assert [finding.message for finding in read_repository(root).findings] == [message]
