"""Secrets, ConfigMaps, tokens and the job's own volumes reach the training container, and no other."""

from __future__ import annotations

from typing import Any

from make import IMAGE, make_resolved
from trainyard.render.kinds.objects import pod

MOUNTS: list[dict[str, Any]] = [
    {"secret": "kaggle", "mountPath": "/etc/kaggle", "items": {"token": "kaggle.json"}},
    {"configMap": "site.example.com", "mountPath": "/etc/site"},
    {"token": {"audience": "vault"}, "mountPath": "/var/run/vault"},
    {"volume": "cache", "mountPath": "/cache", "readOnly": False},
    {"volume": "cache", "mountPath": "/seen", "subPath": "seen"},
]
VOLUMES = [{"name": "cache", "emptyDir": {}}, {"name": "logs", "emptyDir": {}}]
OWN = {"mounts": MOUNTS, "volumes": VOLUMES}
SIDE = {"name": "side", "image": IMAGE}


def specs(**job: Any) -> dict[str, dict[str, Any]]:
    """Return the pod spec of each role."""
    run = make_resolved(**job)
    return {role.name: pod(run, role)["spec"] for role in run.roles}


def test_everything_is_mounted_where_the_job_says():
    """Only volumes are ever writable; names of Secrets, which may be long, name no volume."""
    spec = specs(**OWN)["worker"]
    mounts = {volume_mount["mountPath"]: volume_mount for volume_mount in spec["containers"][0]["volumeMounts"]}
    assert [mounts[mount["mountPath"]] for mount in MOUNTS] == [
        {"name": "mount-0", "mountPath": "/etc/kaggle", "readOnly": True},
        {"name": "mount-1", "mountPath": "/etc/site", "readOnly": True},
        {"name": "mount-2", "mountPath": "/var/run/vault", "readOnly": True},
        {"name": "cache", "mountPath": "/cache"},
        {"name": "cache", "mountPath": "/seen", "subPath": "seen", "readOnly": True},
    ]
    assert [volume for volume in spec["volumes"] if volume["name"] != "shared-memory"] == [
        {"name": "mount-0", "secret": {"secretName": "kaggle", "items": [{"key": "token", "path": "kaggle.json"}]}},
        {"name": "mount-1", "configMap": {"name": "site.example.com"}},
        {
            "name": "mount-2",
            "projected": {
                "sources": [{"serviceAccountToken": {"audience": "vault", "expirationSeconds": 3600, "path": "token"}}]
            },
        },
        *VOLUMES,
    ]


def test_all_keys_of_a_secret_are_variables():
    """A prefix goes before every key."""
    given = [{"secret": "wandb"}, {"configMap": "proxy", "prefix": "SITE_"}]
    container = specs(env_from=given, containers=[SIDE])["worker"]["containers"][0]
    assert container["envFrom"] == [
        {"secretRef": {"name": "wandb"}},
        {"prefix": "SITE_", "configMapRef": {"name": "proxy"}},
    ]


def test_other_containers_get_none_of_it():
    """What the job's own containers mount, they say themselves."""
    side = specs(**OWN, env_from=[{"secret": "wandb"}], containers=[SIDE])["worker"]["initContainers"][0]
    assert not {"envFrom", "volumeMounts"} & side.keys()


def test_every_role_that_trains_gets_it():
    """Pods of other roles have of the job's volumes those that the program mounts."""
    found = specs(launcher="tensorflow", roles={"ps": {"cpusPerNode": 2}}, env_from=[{"secret": "wandb"}], **OWN)
    names = {name: [volume["name"] for volume in spec["volumes"]] for name, spec in found.items()}
    ours = ["shared-memory", "mount-0", "mount-1", "mount-2", "cache"]
    assert names == {"worker": [*ours, "logs"], "ps": ours, "chief": ours}
    for spec in found.values():
        assert spec["containers"][0]["envFrom"]
        mounted = {volume_mount["name"] for volume_mount in spec["containers"][0]["volumeMounts"]}
        assert mounted <= {volume["name"] for volume in spec["volumes"]}


def test_a_role_that_only_starts_ranks_gets_nothing():
    """The launcher of mpirun runs no program."""
    launcher = specs(kind="MPIJob", launcher="mpirun", env_from=[{"secret": "wandb"}], **OWN)["launcher"]
    assert "envFrom" not in launcher["containers"][0]
    assert [volume["name"] for volume in launcher["volumes"]] == ["shared-memory", "launch"]
