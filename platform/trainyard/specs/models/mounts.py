"""What a job takes from its namespace into the training container: variables and files of Secrets and ConfigMaps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, model_validator

from trainyard.specs.models.base import (
    MOST,
    MountPath,
    Name,
    RelativePath,
    Spec,
    SubdomainName,
    Text,
    VariableName,
    validation_error,
)


def one_of(spec: Spec, *fields: str) -> None:
    """Refuse a spec that has none of some fields, or several."""
    names = [type(spec).model_fields[field].alias or field for field in fields]
    if sum(getattr(spec, field) is not None for field in fields) != 1:
        raise validation_error("one-of", f"must have exactly one of: {', '.join(names)}")


class EnvFrom(Spec):
    """All keys of a Secret or a ConfigMap as environment variables; variables that are set by name override them."""

    secret: SubdomainName | None = None
    """A Secret that the team lists."""
    config_map: SubdomainName | None = None
    """A ConfigMap that the team lists."""
    prefix: VariableName | None = None
    """Text before each key in the variable's name; default: none."""

    @model_validator(mode="after")
    def one_source(self) -> EnvFrom:
        """Refuse both a Secret and a ConfigMap, or neither."""
        one_of(self, "secret", "config_map")
        return self


class Token(Spec):
    """A token of the job's service account, which the kubelet renews."""

    audience: Text
    """Service that the token is for, such as `vault` or `sts.amazonaws.com`."""
    expiration_seconds: Annotated[StrictInt, Field(ge=600, le=MOST)] = 3600
    """Seconds until the token expires; the kubelet renews it after 80% of them."""


class Mount(Spec):
    """A Secret, a ConfigMap, a token or one of the job's `volumes` as files in the training container."""

    secret: SubdomainName | None = None
    """A Secret that the team lists."""
    config_map: SubdomainName | None = None
    """A ConfigMap that the team lists."""
    token: Token | None = None
    """A token of the service account, in a file named `token`."""
    volume: Name | None = None
    """Name of an entry of the job's `volumes`; for volumes of the team use `data`."""
    mount_path: MountPath
    """Folder in the container."""
    items: dict[Text, RelativePath] = {}
    """Keys of the Secret or ConfigMap to mount, each `key: path` below the folder; default: all."""
    sub_path: RelativePath | None = None
    """Folder of the volume; default: the whole volume."""
    read_only: StrictBool = True
    """`false` if the program writes to the volume; other mounts are always read-only."""

    @model_validator(mode="after")
    def one_source(self) -> Mount:
        """Refuse several sources or none, and what means nothing to the one that is there."""
        one_of(self, "secret", "config_map", "token", "volume")
        if self.items and not (self.secret or self.config_map):
            raise validation_error("one-of", "has items, which only work with secret or configMap; remove items")
        if self.volume is None and (self.sub_path is not None or not self.read_only):
            raise validation_error("one-of", "has subPath or readOnly, which only work with volume; remove them")
        return self
