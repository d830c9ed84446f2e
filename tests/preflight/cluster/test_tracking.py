"""Trackers of a cluster are installed, or have an address; their servers have what they need."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from everything import TRACKING
from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.tracking import check

SERVER, STORAGE, IDENTITY = "spec/tracking-server", "spec/tracking-storage", "spec/tracking-identity"
MLFLOW, WANDB = TRACKING["mlflow"], TRACKING["wandb"]
OURS = {"mlflow": {"version": "3.17.2"}}
OPERATOR = {"wandb-operator": {"version": "1.4.8"}}
BUCKET = {"bucket": "s3://models/mlflow", "annotations": {"eks.amazonaws.com/role-arn": "strato-mlflow"}}

GOOGLE = {
    "bucket": "gs://models/mlflow",
    "annotations": {"iam.gke.io/gcp-service-account": "mlflow@models.iam.gserviceaccount.com"},
}

CASES: dict[str, tuple[dict[str, Any] | None, dict[str, Any], list[tuple[str, str]]]] = {
    "no tracking": (None, {}, []),
    "an operator without a server": (None, OURS, [(SERVER, "operators.mlflow")]),
    "somebody else's operator": (None, {"mlflow": {"version": "3.17.2", "managed": False}}, []),
    "a server of ours": ({"mlflow": MLFLOW}, OURS, []),
    "a server of ours without parts": (
        {"mlflow": {"url": "https://a.example.com"}},
        OURS,
        [(SERVER, "tracking.mlflow"), (SERVER, "tracking.mlflow")],
    ),
    "one elsewhere": ({"mlflow": {"url": "https://a.example.com"}}, {}, []),
    "one nowhere": ({"mlflow": {}}, {}, [(SERVER, "tracking.mlflow")]),
    "parts of one elsewhere": (
        {"mlflow": MLFLOW},
        {},
        [(SERVER, "tracking.mlflow.database"), (SERVER, "tracking.mlflow.artifacts")],
    ),
    "a login": ({"mlflow": {**MLFLOW, "login": {"secret": "login"}}}, OURS, []),
    "a login and a token": (
        {"mlflow": {**MLFLOW, "login": {"secret": "login"}, "token": "mlflow/token"}},
        OURS,
        [(SERVER, "tracking.mlflow.token")],
    ),
    "a login of one elsewhere": (
        {"mlflow": {"url": "https://a.example.com", "login": {"secret": "login"}}},
        {},
        [(SERVER, "tracking.mlflow.login")],
    ),
    "an unknown class": (
        {"mlflow": {**MLFLOW, "artifacts": {"storage": "shard"}}},
        OURS,
        [(STORAGE, "tracking.mlflow.artifacts.storage")],
    ),
    "a role that is no ARN": (
        {"mlflow": {**MLFLOW, "artifacts": BUCKET}},
        OURS,
        [(IDENTITY, 'tracking.mlflow.artifacts.annotations["eks.amazonaws.com/role-arn"]')],
    ),
    "an account of another cloud": (
        {"mlflow": {**MLFLOW, "artifacts": GOOGLE}},
        {**OURS, "system": "eks"},
        [(IDENTITY, 'tracking.mlflow.artifacts.annotations["iam.gke.io/gcp-service-account"]')],
    ),
    "an account of the cluster's cloud": (
        {"mlflow": {**MLFLOW, "artifacts": GOOGLE}},
        {**OURS, "system": "gke-cos"},
        [],
    ),
    "an account of a cloud on machines of one's own": ({"mlflow": {**MLFLOW, "artifacts": GOOGLE}}, OURS, []),
    "the service": ({"wandb": {**WANDB, "server": None}}, {}, []),
    "the page of the service": (
        {"wandb": {**WANDB, "server": None, "url": "https://wandb.ai"}},
        {},
        [(SERVER, "tracking.wandb.url")],
    ),
    "the service without TLS": (
        {"wandb": {**WANDB, "server": None, "url": "http://api.wandb.ai"}},
        {},
        [(SERVER, "tracking.wandb.url")],
    ),
    "a host that begins like it": ({"wandb": {**WANDB, "server": None, "url": "https://wandb.ai.example.com"}}, {}, []),
    "a server without its operator": ({"wandb": WANDB}, {}, [(SERVER, "tracking.wandb.server")]),
    "a server with its operator": ({"wandb": WANDB}, OPERATOR, []),
}


@pytest.mark.parametrize(("said", "operators", "expected"), CASES.values(), ids=CASES)
def test_trackers_have_what_they_need(said, operators, expected):
    """Each problem at the field that it is about."""
    system = {"system": {"distribution": operators["system"]}} if "system" in operators else {}
    chosen = {name: choice for name, choice in operators.items() if name != "system"}
    changes = {"operators": {**CLUSTER["operators"], **chosen}, **({"tracking": said} if said else {}), **system}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    assert [(item.rule, item.path) for item in check(make_cluster(**changes), source)] == expected


REFUSED = {
    "files in two places": {"mlflow": {**MLFLOW, "artifacts": {"storage": "shared", "bucket": "s3://a"}}},
    "files in none": {"mlflow": {**MLFLOW, "artifacts": {}}},
    "a bucket without its scheme": {"mlflow": {**MLFLOW, "artifacts": {"bucket": "models"}}},
    "an address without a scheme": {"wandb": {**WANDB, "url": "wandb.example.com"}},
    "a password as it is": {"mlflow": {**MLFLOW, "database": {"secret": "hunter2"}}},
}


@pytest.mark.parametrize("said", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused(said):
    """The model says so at its field."""
    with pytest.raises(ValidationError):
        make_cluster(tracking=said)


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ({}, "add mlflow to operators, with database and artifacts"),
        ({"database": MLFLOW["database"]}, "add mlflow to operators, with artifacts"),
    ],
)
def test_a_server_nowhere_is_told_with_all_that_it_needs(said: dict[str, Any], ends: str) -> None:
    """Who adds the operator alone would otherwise read of the rest only then."""
    changes = {"tracking": {"mlflow": said}}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    first = next(iter(check(make_cluster(**changes), source)))
    assert first.message.endswith(ends)
    assert len(first.message.split()) <= 20
