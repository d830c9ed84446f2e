"""Jobs that share GPUs by MPS run as one user, or the second is told of the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_job_file, make_specs, make_team
from trainyard.judge.preflight.between.mps import check
from trainyard.specs.load import Loaded

SHARED = {"gpus_per_node": None, "nodes": 1, "gpu": {"shared": True}, "launcher": "python"}


def messages(*jobs: dict[str, Any], by: str = "mps", **team: Any) -> list[str]:
    """Return what is said of jobs on a pool whose GPUs are shared."""
    pools = {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 4, "sharing": {"by": by, "replicas": 4}}}
    files = [make_job_file(f"job-{number}", **{**SHARED, **job}) for number, job in enumerate(jobs)]
    specs = make_specs(*files, clusters={"test": make_cluster(pools=pools)}, teams={"nlp": make_team(**team)})
    return [finding.message for finding in check(Loaded(specs, Path()))]


def test_two_users():
    """The second job is told of the first, also where the team or nobody says its user."""
    said = "the job runs as user {}, but nlp/job-0 shares pool 'gpu' by MPS as user {}; use one user"
    assert messages({"run_as_user": 1000}, {"run_as_user": 65532}) == [said.format(65532, 1000)]
    assert messages({}, {"run_as_user": 65532}) == [said.format(65532, 1000)]
    assert messages({}, {"run_as_user": 1000}, run_as_user=2000) == [said.format(1000, 2000)]


SILENT: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one user": ([{}, {"run_as_user": 1000}], "mps"),
    "one job": ([{"run_as_user": 1}], "mps"),
    "GPUs that take turns": ([{}, {"run_as_user": 65532}], "timeSlicing"),
    "a job that ended": ([{}, {"run_as_user": 65532, "retired": True}], "mps"),
    "a job without a GPU": ([{}, {"run_as_user": 65532, "gpu": None, "cpus_per_node": 2}], "mps"),
}


@pytest.mark.parametrize(("jobs", "by"), SILENT.values(), ids=SILENT)
def test_one_user(jobs, by):
    """Where one user is served, or all are, nothing is said."""
    assert messages(*jobs, by=by) == []
