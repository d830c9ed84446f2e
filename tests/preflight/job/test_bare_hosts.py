"""A host without a domain in a URL of a job is a Service of its namespace, or a warning says that it is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import JOB, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "mlflow", "namespace": "nlp"}, "spec": {}}
EXTRA = "platform/extra/test/teams/nlp/own.yaml"
URL = {"env": {"TRACKER": "http://mlflow:5000"}}


def found(root: Path, *, extra: dict[str, Any] | None = None, **job: Any) -> list[str]:
    """Return what is said of the hosts of a job, in a repository with these objects besides."""
    write_repository(root, jobs={"nlp/train": {**JOB, **job}})
    for path, value in (extra or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(value if isinstance(value, str) else dump(value))
    findings = preflight.check_repository(root).findings
    return [f"{finding.path}: {finding.message}" for finding in findings if finding.rule == "run/unknown-host"]


def test_a_host_that_nobody_has_is_told_once(tmp_path):
    """At the first field that names it, with the form of the name to write."""
    (said,) = found(tmp_path, env={"TRACKER": "http://mlflow:5000"}, args=["--tracker=http://mlflow:5000/api"])
    assert said.startswith("args[0]: 'mlflow' is no Service of namespace 'nlp' here")
    assert said.endswith("mlflow.<namespace>.svc")


def test_a_host_in_a_small_file_is_told(tmp_path):
    """Where the file is named."""
    files = [{"source": "train/config.yaml", "mountPath": "/config"}]
    (said,) = found(tmp_path, files=files, extra={"jobs/nlp/train/config.yaml": "store: redis://cache:6379/0\n"})
    assert said.startswith("files[0].source: 'cache'")


QUIET: dict[str, dict[str, Any]] = {
    "a Service of the namespace": {**URL, "extra": {EXTRA: SERVICE}},
    "what a program may add": {**URL, "extra": {"platform/extra/test/teams/nlp/a.py": "def objects(s):\n    pass\n"}},
    "names that a patch adds": {
        **URL,
        "patches": [
            {
                "object": "JobSet",
                "role": "worker",
                "merge": {"spec": {"hostAliases": [{"ip": "192.0.2.7", "hostnames": ["mlflow"]}]}},
                "reason": "it is outside",
            }
        ],
    },
    "a container beside it": {"env": {"PROXY": "http://localhost:3128"}},
    "a host with its domain": {"env": {"TRACKER": "http://mlflow.example.com", "B": "http://mlflow.nlp:5000"}},
    "a bucket": {"env": {"DATA": "s3://corpus/web", "MORE": "gs://corpus"}},
    "an address": {"env": {"TRACKER": "http://192.0.2.7:5000"}},
    "a variable": {"env": {"HOST": "mlflow.example.com"}, "args": ["http://$(HOST):5000"]},
    "a pod of its own": {"args": ["http://train-worker-0-0:8000"]},
}


@pytest.mark.parametrize("quiet", QUIET.values(), ids=QUIET)
def test_a_host_that_may_be_there_is_none(tmp_path, quiet):
    """Whoever makes it, and where it is no host of the cluster."""
    assert found(tmp_path, **quiet) == []
