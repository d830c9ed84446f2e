"""Root is for teams whose level allows it, and closed GPUs are for those who may open them."""

from __future__ import annotations

import pytest

from make import make_job_file, make_specs, make_team
from trainyard.judge.preflight import jobs

OTHERS = {"default": "restricted", "test": "baseline"}
REFUSED = "runAsUser is 0, but podSecurity of team 'nlp' is restricted on cluster 'test'; use another user"
ROOT = {
    "nobody": ({}, {}, []),
    "a job where root is refused": ({}, {"run_as_user": 0}, [("jobs/nlp/train.yaml", REFUSED)]),
    "a team where root is refused": ({"run_as_user": 0}, {}, [("platform/teams/nlp.yaml", REFUSED)]),
    "a job that is somebody": ({"run_as_user": 0}, {"run_as_user": 1}, []),
    "a level that allows root there": ({"pod_security": OTHERS}, {"run_as_user": 0}, []),
    "a level that allows it elsewhere": (
        {"pod_security": {"other": "baseline"}},
        {"run_as_user": 0},
        [("jobs/nlp/train.yaml", REFUSED)],
    ),
    "privileged": ({"pod_security": "privileged"}, {"run_as_user": 0}, []),
    "the group of root": ({}, {"run_as_user": 5, "run_as_group": 0}, []),
}


@pytest.mark.parametrize(("team", "job", "expected"), ROOT.values(), ids=ROOT)
def test_root_is_refused_where_the_namespace_refuses_it(team, job, expected):
    """The finding is at whoever says so, and goes away with another user or another level."""
    file = make_job_file(**job)
    _, findings = jobs.check(make_specs(file, teams={"nlp": make_team(**team)}), file)
    assert [(finding.location.file, finding.message) for finding in findings if finding.rule == "spec/root"] == expected
