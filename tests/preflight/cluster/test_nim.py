"""Services of NVIDIA NIM have an operator, a team, GPUs that no quota promises, and a volume for all their pods."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import CLUSTER, IMAGE, make_cluster, make_source
from trainyard.judge.preflight.cluster import nim, overcommit

SERVICE, VOLUME = "spec/nim-service", "spec/nim-storage"
CHAT = {"team": "nlp", "image": IMAGE, "pool": "gpu", "storage": "shared", "size": "100Gi", "profiles": ["all"]}
OPERATOR = {"nim-operator": {"version": "3.1.2"}}


def quota(gpus: int, *teams: str) -> dict[str, Any]:
    """Return the cluster's one queue with so many of its 32 GPUs."""
    return {"queues": {"research": {"teams": ["nlp", *teams], "nominalQuota": {"gpu": {"gpus": gpus}}}}}


FREE = quota(30)
DISK = {"storage": {**CLUSTER["storage"], "disk": {"provisioner": "topolvm.io", "access": "ReadWriteOnce"}}}
FIELD = "nim.services.chat"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "a service": ({}, FREE, []),
    "two pods on a class for many nodes": ({"replicas": 2}, FREE, []),
    "no operator": ({}, {**FREE, "operators": CLUSTER["operators"]}, [(SERVICE, "nim")]),
    "a slip in the team": ({"team": "nlq"}, FREE, [(SERVICE, f"{FIELD}.team")]),
    "a slip in the pool": ({"pool": "gpus"}, FREE, [(SERVICE, f"{FIELD}.pool")]),
    "a pool without GPUs": ({"pool": "cpu"}, FREE, [(SERVICE, f"{FIELD}.pool")]),
    "more GPUs than a node has": (
        {"gpusPerPod": 9},
        quota(8),
        [(SERVICE, f"{FIELD}.gpusPerPod")],
    ),
    "more pods than nodes have room for": (
        {"gpusPerPod": 5, "replicas": 5},
        quota(4),
        [(SERVICE, f"{FIELD}.replicas")],
    ),
    "a slip in the class": ({"storage": "shard"}, FREE, [(VOLUME, f"{FIELD}.storage")]),
    "a disk for one pod": ({"storage": "disk"}, {**FREE, **DISK}, []),
    "a disk for two pods": ({"storage": "disk", "replicas": 2}, {**FREE, **DISK}, [(VOLUME, f"{FIELD}.storage")]),
    "all GPUs in quotas": (
        {},
        quota(32),
        [("kq-overcommit", "queues.research.nominalQuota.gpu")],
    ),
    "a team of the services' name": (
        {},
        quota(30, "nim-nlp"),
        [(SERVICE, f"{FIELD}.team")],
    ),
}


@pytest.mark.parametrize(("service", "more", "found"), CASES.values(), ids=CASES)
def test_a_service_has_what_it_needs(service, more, found):
    """What is missing is reported at its field, and quotas that promise its GPUs at the quota."""
    written = {**CLUSTER, "operators": {**CLUSTER["operators"], **OPERATOR}, **more}
    written = {**written, "nim": {"services": {"chat": {**CHAT, **service}}}}
    cluster, source = make_cluster(**written), make_source("platform/clusters/test.yaml", written)
    every = [*nim.check(cluster, source), *overcommit.check(cluster, source)]
    assert [(item.rule, item.path) for item in every] == found


@pytest.mark.parametrize("name", ["Chat", "2chat", "a" * 51])
def test_a_service_has_a_name_that_its_objects_can_have(name):
    """The operator makes a Service of it, and a Job with ten more characters."""
    with pytest.raises(ValidationError):
        make_cluster(nim={"services": {name: CHAT}})
