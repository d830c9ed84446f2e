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
        raise validation_error("one-of", f"should have exactly one of: {', '.join(names)}")


class EnvFrom(Spec):
    """All keys of a Secret or a ConfigMap as variables; a variable that is set otherwise goes before."""

    secret: SubdomainName | None = None
    """A Secret that the team lists."""
    config_map: SubdomainName | None = None
    """A ConfigMap that the team lists."""
    prefix: VariableName | None = None
    """What their names begin with beside the key."""

    @model_validator(mode="after")
    def one_source(self) -> EnvFrom:
        """Refuse both a Secret and a ConfigMap, or neither."""
        one_of(self, "secret", "config_map")
        return self


class Token(Spec):
    """A token of the job's service account, which the kubelet renews."""

    audience: Text
    """Who is to take it, such as `vault` or `sts.amazonaws.com`."""
    expiration_seconds: Annotated[StrictInt, Field(ge=600, le=MOST)] = 3600
    """Seconds that one is good for; it is renewed after four fifths of them."""


class Mount(Spec):
    """A Secret, a ConfigMap, a token or one of the job's `volumes` as files in the training container."""

    secret: SubdomainName | None = None
    """A Secret that the team lists."""
    config_map: SubdomainName | None = None
    """A ConfigMap that the team lists."""
    token: Token | None = None
    """A token of the service account, in a file `token`."""
    volume: Name | None = None
    """One of the job's `volumes`; those of the team are under `data`."""
    mount_path: MountPath
    """The folder in the container."""
    items: dict[Text, RelativePath] = {}
    """`key: path` of a Secret or ConfigMap: only these keys, at these paths below the folder."""
    sub_path: RelativePath | None = None
    """A folder of the volume instead of all of it."""
    read_only: StrictBool = True
    """False where the program writes to the volume; all else is read-only."""

    @model_validator(mode="after")
    def one_source(self) -> Mount:
        """Refuse several sources or none, and what means nothing to the one that is there."""
        one_of(self, "secret", "config_map", "token", "volume")
        if self.items and not (self.secret or self.config_map):
            raise validation_error("one-of", "has items, which are keys of a secret or a configMap; remove them")
        if self.volume is None and (self.sub_path is not None or not self.read_only):
            raise validation_error("one-of", "has subPath or readOnly, which a volume alone may have; remove it")
        return self
