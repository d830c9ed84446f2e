"""What the training container has of Secrets, ConfigMaps, tokens and the job's own volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.specs import Job
from trainyard.specs.models.mounts import Mount

PREFIX = "mount-"
"""What the names of volumes of ours begin with that a job's `mounts` bring."""

TOKEN = "token"  # noqa: S105 - the name of a file
"""File that a token is in."""


def variables(job: Job) -> list[dict[str, Any]]:
    """Return where a container's variables come from that stand nowhere by name."""
    found: list[dict[str, Any]] = []
    for variable in job.env_from:
        source = (
            {"secretRef": {"name": variable.secret}}
            if variable.secret
            else {"configMapRef": {"name": variable.config_map}}
        )
        found.append({"prefix": variable.prefix, **source} if variable.prefix else source)
    return found


def volumes(job: Job, *, worker: bool) -> list[dict[str, Any]]:
    """Return the volumes of a pod that trains: those of its mounts, and the job's own.

    The workers have all of the job's own, for its containers; pods of other roles those that the program mounts.
    """
    mounted = {mount.volume for mount in job.mounts if mount.volume}
    own = [dict(volume) for volume in job.volumes if worker or volume.get("name") in mounted]
    made = [{"name": name(index, mount), **source(mount)} for index, mount in enumerate(job.mounts) if not mount.volume]
    return [*made, *own]


def source(mount: Mount) -> dict[str, Any]:
    """Return the source of a volume."""
    items = [{"key": key, "path": path} for key, path in mount.items.items()]
    if mount.secret:
        return {"secret": {"secretName": mount.secret, "items": items}}
    if mount.config_map:
        return {"configMap": {"name": mount.config_map, "items": items}}
    token = mount.token.model_dump(by_alias=True) if mount.token else {}
    return {"projected": {"sources": [{"serviceAccountToken": {**token, "path": TOKEN}}]}}


def mounts(job: Job) -> list[Mapping[str, Any]]:
    """Return the mounts of the training container."""
    return [
        {
            "name": name(index, mount),
            "mountPath": mount.mount_path,
            **({"subPath": mount.sub_path} if mount.sub_path else {}),
            **({"readOnly": True} if mount.read_only else {}),
        }
        for index, mount in enumerate(job.mounts)
    ]


def name(index: int, mount: Mount) -> str:
    """Return the name of a mount's volume: the job's own, or one that no name of a Secret makes too long."""
    return mount.volume or f"{PREFIX}{index}"
