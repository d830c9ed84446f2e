"""What a folder of anybody's manifests says about its checks: `.trainyard.yaml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictStr, WithJsonSchema

from trainyard.specs.models.base import LABEL, Form, Name, Spec, Text, Version, validation_error

LEVELS = ("off", "warning", "error")


def level(value: Any) -> Any:
    """Return a level; YAML 1.1 reads a bare `off` as false."""
    return "off" if value is False else value


def glob(pattern: str) -> str:
    """Refuse a pattern that matches nothing below the folder."""
    if ".." in pattern.split("/"):
        raise validation_error("path", "must stay in the folder of this file; remove '..'")
    if not pattern.strip() or pattern.startswith(("#", "!")):
        raise validation_error("form", "must be a pattern such as vendor/ or *.test.yaml")
    return pattern


Level = Annotated[
    Literal["off", "warning", "error"], BeforeValidator(level), WithJsonSchema({"enum": [*LEVELS, False]})
]
RulePattern = Annotated[
    StrictStr, Form(rf"{LABEL}(?:/{LABEL})?|[a-z0-9][-a-z0-9]*(?:/[-a-z0-9]*)?\*", "a rule, or a group such as gpu-*")
]
Glob = Annotated[Text, AfterValidator(glob)]
Levels = Annotated[dict[RulePattern, Level], Field(max_length=1000)]


class ChecksFile(Spec):
    """Settings for the checks of the manifests in a folder and below."""

    kubernetes: Version | None = None
    """Kubernetes release of the cluster, in quotes; default: the newest known."""
    releases: dict[Name, Version] | None = None
    """Operators on the cluster, each `project: release`; default: all, in their newest known release."""
    whole: StrictBool = False
    """Whether the files are all that the cluster has; if `true`, queues that they do not define do not exist."""
    exclude: tuple[Glob, ...] = ()
    """Files and folders to skip, in the syntax of .gitignore, from the folder of this file."""
    rules: Levels = {}
    """How much a rule weighs: `off`, `warning` or `error`. `gpu-*` names a group; a longer name counts first."""
    paths: dict[Glob, Levels] = {}
    """The same for some files, each `pattern: {rule: level}`; of several patterns, the last that fits counts."""
