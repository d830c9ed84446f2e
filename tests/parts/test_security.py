"""Who pods run as: the job's words, the team's, or a user that every namespace admits."""

from __future__ import annotations

from typing import Any

import pytest

from make import IMAGE, make_cluster, make_pool, make_resolved, make_team
from trainyard.render.kinds.objects import pod

DEFAULT = {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000}
GROUPS: dict[str, Any] = {"runAsGroup": 500, "supplementalGroups": [7, 8]}
WHO: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "nobody says anything": ({}, {}, DEFAULT),
    "the team": (
        {"runAsUser": 2001, **GROUPS},
        {},
        {"runAsNonRoot": True, "runAsUser": 2001, "runAsGroup": 500, "fsGroup": 500, "supplementalGroups": [7, 8]},
    ),
    "the job before its team": (
        {"runAsUser": 2001, **GROUPS},
        {"runAsUser": 65532, "runAsGroup": 65532, "supplementalGroups": [9]},
        {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532, "supplementalGroups": [9]},
    ),
    "a user of the job in the group of its team": (
        GROUPS,
        {"runAsUser": 65532},
        {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 500, "fsGroup": 500, "supplementalGroups": [7, 8]},
    ),
    "none of the team's groups": ({"supplementalGroups": [7]}, {"supplementalGroups": []}, DEFAULT),
    "a user in a group of its own": (
        {},
        {"runAsUser": 2001},
        {"runAsNonRoot": True, "runAsUser": 2001, "runAsGroup": 2001, "fsGroup": 2001},
    ),
    "root": ({}, {"runAsUser": 0}, {"runAsUser": 0, "runAsGroup": 0, "fsGroup": 0}),
}


@pytest.mark.parametrize(("team", "job", "expected"), WHO.values(), ids=WHO)
def test_who_pods_run_as(team, job, expected):
    """What pods write on volumes belongs to the user's own group, and big volumes are not walked through."""
    run = make_resolved(team=make_team(**team), **job)
    found = pod(run, run.roles[0])["spec"]["securityContext"]
    told = dict(run.facts())
    assert (told["user"].value, told["group"].value) == (expected["runAsUser"], expected["runAsGroup"])
    rest = {"fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}
    assert found == expected | rest


def test_explain_says_who_says_it():
    """Each number has the file that it is from."""
    team = make_team(**GROUPS)
    told = dict(make_resolved(team=team, run_as_user=5).facts())
    origins = {name: told[name].origin for name in ("user", "group", "groups")}
    assert origins == {
        "user": "runAsUser of the job",
        "group": "runAsGroup of the team",
        "groups": "supplementalGroups of the team",
    }
    assert told["groups"].value == "7, 8"
    alone = dict(make_resolved(run_as_user=5).facts())
    assert (alone["group"].value, alone["group"].origin) == (5, "default: same as runAsUser")
    assert "groups" not in alone


def test_root_has_what_its_runtime_gives():
    """Without any capability root could not even read the files of others; another user has none to lose."""
    side = {"name": "side", "image": IMAGE}
    for user, capabilities, name in ((0, None, "root"), (1000, {"drop": ["ALL"]}, "trainer")):
        run = make_resolved(run_as_user=user, containers=[side])
        spec = pod(run, run.roles[0])["spec"]
        for container in (*spec["containers"], *spec["initContainers"]):
            assert container["securityContext"].get("capabilities") == capabilities
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert {"name": "USER", "value": name} in spec["containers"][0]["env"]


AMD = {"shape": "mi300x", "nodes": 4}
ACCESS: dict[str, tuple[dict[str, Any], int, list[int] | None]] = {
    "groups of the device files": ({"deviceAccess": [44, 109]}, 8, [7, 44, 109]),
    "a part of a node": ({"deviceAccess": [44]}, 1, [7, 44]),
    "a rule on the nodes": ({"deviceAccess": "udev"}, 8, [7]),
    "files that are open": ({"deviceAccess": "open"}, 8, [7]),
    "no GPUs, no groups": ({"deviceAccess": [44, 109]}, 0, [7]),
}


@pytest.mark.parametrize(("pool", "gpus", "expected"), ACCESS.values(), ids=ACCESS)
def test_pods_are_in_the_groups_that_may_open_their_gpus(pool, gpus, expected):
    """AMD's device files belong to groups whose numbers differ from node image to node image."""
    cluster = make_cluster(pools={"gpu": {**AMD, **pool}, "cpu": {"shape": "cpu-64", "nodes": 4}})
    run = make_resolved(cluster=cluster, gpus_per_node=gpus, cpus_per_node=2, supplemental_groups=[7])
    assert pod(run, run.roles[0])["spec"]["securityContext"]["supplementalGroups"] == expected


def test_roles_on_other_nodes_are_not_in_the_groups_of_gpus():
    """Only pods with GPUs open them."""
    pools = {"gpu": make_pool(shape="mi300x", device_access=[44]), "cpu": make_pool(shape="cpu-64")}
    ps = {"ps": {"pool": "cpu", "cpusPerNode": 2, "memoryPerNode": "4Gi"}}
    run = make_resolved(launcher="tensorflow", cluster=make_cluster(pools=pools), roles=ps)
    groups = {role.name: pod(run, role)["spec"]["securityContext"].get("supplementalGroups") for role in run.roles}
    assert groups == {"worker": [44], "ps": None, "chief": None}
