"""The quota of a team's namespace follows from its queues, so that no pod of an admitted job is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from make import TEAM, fields, make_cluster, make_team, write_repository
from trainyard.base.documents import Document
from trainyard.base.manifests import Manifest
from trainyard.judge import preflight
from trainyard.judge.policies.queues import Queues
from trainyard.judge.policies.world import World
from trainyard.render.clusters import limits, platform, team
from trainyard.specs import Cluster

GPU = "requests.nvidia.com/gpu"


def queue(*teams: str, gpus: int, **more: Any) -> dict[str, Any]:
    """Return a queue of GPUs for teams."""
    return {"teams": list(teams), "nominalQuota": {"gpu": {"gpus": gpus}}, **more}


def hard(cluster: Cluster, **said: Any) -> dict[str, str]:
    """Return the quota of the team's namespace on a cluster."""
    found = {item.kind: item for item in limits.resources(cluster, "nlp", make_team(limits=said))}
    spec: dict[str, str] = found["ResourceQuota"].fields["spec"]["hard"] if "ResourceQuota" in found else {}
    return spec


NO_LOAN = {"gpu": {"gpus": 0}}
QUEUES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "one queue": ({"a": queue("nlp", gpus=16)}, {}, "16"),
    "two queues": ({"a": queue("nlp", gpus=16), "b": queue("nlp", gpus=8)}, {}, "24"),
    "another team's": ({"a": queue("nlp", gpus=16), "b": queue("ads", gpus=8)}, {}, "16"),
    "a cohort": ({"a": queue("nlp", gpus=16, cohort="x"), "b": queue("ads", gpus=8, cohort="x")}, {}, "24"),
    "a cohort that lends nothing": (
        {"a": queue("nlp", gpus=16, cohort="x", borrowingLimit=NO_LOAN), "b": queue("ads", gpus=8, cohort="x")},
        {},
        "16",
    ),
    "both queues of a cohort": (
        {"a": queue("nlp", gpus=16, cohort="x"), "b": queue("nlp", gpus=8, cohort="x")},
        {},
        "24",
    ),
    "three levels": (
        {"a": queue("nlp", gpus=8, cohort="low"), "b": queue("ads", gpus=8, cohort="beside")},
        {"low": {"parent": "mid"}, "mid": {"parent": "top"}, "beside": {"parent": "top"}, "top": {}},
        "16",
    ),
    "quota of a cohort": (
        {"a": queue("nlp", gpus=8, cohort="low")},
        {"low": {"parent": "top"}, "top": {"nominalQuota": {"gpu": {"gpus": 8}}}},
        "16",
    ),
}


@pytest.mark.parametrize(("queues", "cohorts", "gpus"), QUEUES.values(), ids=QUEUES)
def test_the_quota_is_what_the_queues_admit(queues, cohorts, gpus):
    """Neither less, which would refuse pods, nor more; a policy agrees, whose numbers come from the objects."""
    cluster = make_cluster(queues=queues, cohorts=cohorts)
    found = hard(cluster, queues=True)
    assert found[GPU] == gpus
    values = [item.value() for item in (*platform.resources(cluster), *team.space("test", cluster, "nlp", make_team()))]
    world = World(tuple(Manifest(Document("", at, value), value) for at, value in enumerate(values)))
    assert Queues(world).most_admitted("nlp")["nvidia.com/gpu"] == int(gpus)


def test_room_beside_the_queues_is_added():
    """CPUs and memory alone: GPUs are all the queues'."""
    alone = hard(make_cluster(), queues=True)
    more = hard(make_cluster(), queues=True, beside={"cpus": "2", "memory": "4Gi"})
    assert int(more["requests.cpu"]) - int(alone["requests.cpu"]) == 2
    assert more[GPU] == alone[GPU]


def test_other_limits_are_as_written():
    """Pods, claims and storage have nothing to do with queues; defaults limit memory alone."""
    assert hard(make_cluster(), pods=9, claims=2, storage="1Ti") == {
        "pods": "9",
        "persistentvolumeclaims": "2",
        "requests.storage": "1Ti",
    }
    said = make_team(limits={"defaults": {"cpus": 1, "memory": "2Gi"}})
    (found,) = limits.resources(make_cluster(), "nlp", said)
    assert found.fields["spec"]["limits"] == [
        {"type": "Container", "default": {"memory": "2Gi"}, "defaultRequest": {"cpu": "1", "memory": "2Gi"}}
    ]
    assert not list(limits.resources(make_cluster(), "nlp", make_team()))


WRONG: dict[str, dict[str, Any]] = {
    "nothing": {},
    "room beside nothing": {"beside": {"cpus": 1, "memory": "1Gi"}},
    "half a default": {"defaults": {"cpus": 1}},
}


@pytest.mark.parametrize("said", WRONG.values(), ids=WRONG)
def test_limits_without_a_meaning_are_refused(said):
    """Where the file says nothing, or half of it."""
    with pytest.raises(ValidationError):
        make_team(limits=said)


ROOM: dict[str, tuple[dict[str, Any], list[str]]] = {
    "enough": ({"claims": 1, "storage": "1Ti"}, []),
    "too few": ({"claims": 0}, ["claims is 0, but the team's volumes on cluster 'test' are 1; raise it"]),
    "too small": (
        {"storage": "1Gi"},
        ["storage is 1Gi, but the team's volumes on cluster 'test' have 1Ti; raise it"],
    ),
}


@pytest.mark.parametrize(("said", "messages"), ROOM.values(), ids=ROOM)
def test_volumes_fit_into_the_limits(tmp_path: Path, said, messages):
    """A claim that the server refuses is found before it is written."""
    volume = {"checkpoints": {"storage": "shared", "size": "1Ti"}}
    write_repository(tmp_path, jobs={}, teams={"nlp": fields(TEAM, {"volumes": volume, "limits": said})})
    findings = preflight.check_repository(tmp_path).findings
    assert [item.message for item in findings if item.rule == "spec/team-limits"] == messages
