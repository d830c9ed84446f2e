"""Root is for teams whose level allows it, and closed GPUs are for those who may open them."""

from __future__ import annotations

import pytest

from make import make_cluster, make_job_file, make_source, make_specs, make_team
from trainyard.preflight import jobs, users

OTHERS = {"default": "restricted", "test": "baseline"}
REFUSED = "runAsUser is 0, but team 'nlp' is restricted on cluster 'test'; name another user"
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
    assert [(each.location.file, each.message) for each in findings if each.rule == "spec/root"] == expected


POOLS = {
    "AMD GPUs that nobody may open": ({"shape": "mi300x"}, True),
    "groups": ({"shape": "mi300x", "deviceAccess": [109]}, False),
    "a rule": ({"shape": "mi300x", "deviceAccess": "udev"}, False),
    "open": ({"shape": "mi300x", "deviceAccess": "open"}, False),
    "NVIDIA": ({"shape": "dgx-h100"}, False),
    "CPUs": ({"shape": "cpu-64"}, False),
    "a shape that does not exist": ({"shape": "mi3000"}, False),
}


@pytest.mark.parametrize(("pool", "expected"), POOLS.values(), ids=POOLS)
def test_a_pool_with_amd_gpus_says_who_may_open_them(pool, expected):
    """NVIDIA's device files are open to all; AMD's are on some distributions."""
    cluster = make_cluster(pools={"gpu": {**pool, "nodes": 4}})
    value = cluster.model_dump(by_alias=True, exclude_unset=True, mode="json")
    found = list(users.check_pools(cluster, make_source("platform/clusters/test.yaml", value)))
    message = "pool 'gpu' does not say who may open its AMD GPUs; write deviceAccess: groups, udev or open"
    assert [each.message for each in found] == [message] * expected
    assert all(each.location.line for each in found)
