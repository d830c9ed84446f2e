"""The repository: where Argo CD finds it, which registries images may come from, what is switched off."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool, StrictStr

from trainyard.specs.models.base import Form, Name, Reason, Spec, Text, Waive

RepositoryPath = Annotated[
    StrictStr,
    Form(r"(?!.*(?:^|/)\.\.?(?:/|$))[^/\s]+(?:/[^/\s]+)*", "a path in the repository without '/' at the ends"),
]


RepositoryAddress = Annotated[
    StrictStr,
    Form(r"(?:https?|ssh|git|file)://\S+|[^@\s/]+@[^:\s]+:\S+", "an address such as https://git.example.com/a/b.git"),
]
Registry = Annotated[
    StrictStr,
    Form(
        r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?(?::[0-9]+)?(?:/[a-z0-9][-._a-z0-9]*)*/?",
        "a registry such as registry.example.com, or a path in one, without '://' and '*'",
    ),
]


class Repository(Spec):
    """`platform/repository.yaml`."""

    live: StrictBool
    """Whether clusters sync it: then a run that exists at the base is frozen."""
    repo_url: RepositoryAddress = Field(alias="repoURL")
    """Address of the Git repository, as Argo CD clones it."""
    revision: Text = "main"
    """Branch or tag that Argo CD follows."""
    path: RepositoryPath = "generated"
    """Path of the generated tree in the repository, without slashes at the ends."""
    registries: tuple[Registry, ...] = ()
    """Registries (or registry/path prefixes) that images may come from; none: all."""
    policies: dict[Name, Reason] = {}
    """Policies switched off: `policy-id: reason`."""
    waive: Waive = {}
    """Findings on no other spec that are accepted, each `rule: reason`."""
