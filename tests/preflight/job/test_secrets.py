"""What a job reads of its namespace is there: its team lists it."""

from __future__ import annotations

from typing import Any

import pytest

from make import IMAGE, make_job_file, make_specs, make_team
from trainyard.base.findings import format_path
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.job import secrets

MISSING = "{} {!r} is not listed in platform/teams/nlp.yaml; {}"
TOKENS = "did you mean 'tokens'?"
SITE = "there are: kube-root-ca.crt, site"
VOLUMES = [
    {"name": "a", "secret": {"secretName": "own"}},
    {"name": "b", "projected": {"sources": [{"secret": {"name": "part"}}, {"configMap": {"name": "site"}}]}},
    {"name": "c", "configMap": {"name": "maybe", "optional": True}},
    {"name": "d", "secret": {"secretName": 5}},
    {"name": "e", "csi": {"driver": "x", "nodePublishSecretRef": {"name": "of-the-driver"}}},
]
SIDE: dict[str, Any] = {
    "name": "side",
    "image": IMAGE,
    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "x"}}}],
    "envFrom": [{"configMapRef": {"name": "conf"}}, {"secretRef": {"name": "tokens"}}],
}
CASES: dict[str, tuple[dict[str, Any], list[tuple[tuple[str | int, ...], str]]]] = {
    "what the team lists": (
        {
            "env_from": [{"secret": "tokens"}, {"configMap": "site"}],
            "mounts": [
                {"secret": "tokens", "mountPath": "/a"},
                {"configMap": "site", "mountPath": "/b"},
                {"configMap": "kube-root-ca.crt", "mountPath": "/c"},
            ],
        },
        [],
    ),
    "variables": (
        {"env_from": [{"secret": "token"}, {"configMap": "proxy"}]},
        [
            (("envFrom", 0, "secret"), MISSING.format("secret", "token", TOKENS)),
            (("envFrom", 1, "configMap"), MISSING.format("config map", "proxy", SITE)),
        ],
    ),
    "files": (
        {"mounts": [{"secret": "token", "mountPath": "/a"}, {"configMap": "proxy", "mountPath": "/b"}]},
        [
            (("mounts", 0, "secret"), MISSING.format("secret", "token", TOKENS)),
            (("mounts", 1, "configMap"), MISSING.format("config map", "proxy", SITE)),
        ],
    ),
    "volumes of Kubernetes' own": (
        {"volumes": VOLUMES},
        [
            (("volumes", 0, "secret", "secretName"), MISSING.format("secret", "own", "there are: tokens")),
            (
                ("volumes", 1, "projected", "sources", 0, "secret", "name"),
                MISSING.format("secret", "part", "there are: tokens"),
            ),
        ],
    ),
    "containers of Kubernetes' own": (
        {"containers": [SIDE]},
        [
            (
                ("containers", 0, "env", 0, "valueFrom", "secretKeyRef", "name"),
                MISSING.format("secret", "wandb", "there are: tokens"),
            ),
            (("containers", 0, "envFrom", 0, "configMapRef", "name"), MISSING.format("config map", "conf", SITE)),
        ],
    ),
}


@pytest.mark.parametrize(("job", "expected"), CASES.values(), ids=CASES)
def test_what_a_job_reads_is_listed(job, expected):
    """Each finding is at the name, wherever it stands."""
    file = make_job_file(**job)
    found = list(secrets.unlisted(file, make_team(config_maps=["site"])))
    assert [(item.path, item.message) for item in found] == [(format_path(path), text) for path, text in expected]
    assert all(item.location.line for item in found)


MOUNTED = {
    "a volume of the job": ({"volume": "own", "mountPath": "/a"}, {}, []),
    "a volume that it lacks": (
        {"volume": "owm", "mountPath": "/a"},
        {},
        ["volumes does not contain 'owm'; did you mean 'own'?"],
    ),
    "a volume of the team": (
        {"volume": "checkpoints", "mountPath": "/a"},
        {},
        ["volumes does not contain 'checkpoints'; mount it under data"],
    ),
    "a token": ({"token": {"audience": "x"}, "mountPath": "/a"}, {"service_account": "reader"}, []),
    "a path that is taken": (
        {"secret": "tokens", "mountPath": "/scratch/"},
        {"scratch": "1Gi"},
        ["path '/scratch' is already mounted, by scratch; use another"],
    ),
    "the root": (
        {"secret": "tokens", "mountPath": "/"},
        {},
        ["mountPath is '/', which would hide the image; use a folder"],
    ),
    "a folder of the image by a way around": (
        {"secret": "tokens", "mountPath": "/data/../etc/"},
        {},
        ["mountPath is '/etc', a folder of the image or the kernel; use one such as /data"],
    ),
    "a volume by a name of ours": (
        {"volume": "mount-0", "mountPath": "/a"},
        {"volumes": [{"name": "mount-0", "emptyDir": {}}]},
        ["volumes[0].name is 'mount-0', which the pod has already; use another name"],
    ),
}


@pytest.mark.parametrize(("mount", "job", "messages"), MOUNTED.values(), ids=MOUNTED)
def test_what_is_mounted_can_be(mount, job, messages):
    """Volumes are the job's own, paths are free, and a token is somebody's."""
    file = make_job_file(**{"volumes": [{"name": "own", "emptyDir": {}}], "mounts": [mount], **job})
    team = make_team(service_accounts=["reader"])
    _, found = jobs.check(make_specs(file, teams={"nlp": team}), file)
    assert [item.message for item in found] == messages
    assert all(item.location.line for item in found)


def test_an_account_by_a_patch_is_the_team_s_too():
    """A patch names an account of the team's, at any depth; taking one away names none."""
    merges = [{"spec": {"serviceAccountName": name}} for name in ("other", "trainer", None)]
    patches = [{"object": "Pod", "merge": merge, "reason": "a test"} for merge in merges]
    job = make_job_file(patches=patches)
    found = list(secrets.unlisted(job, make_team(serviceAccounts=["trainer"])))
    assert [(item.rule, item.path) for item in found] == [
        ("spec/unknown-service-account", "patches[0].merge.spec.serviceAccountName")
    ]
