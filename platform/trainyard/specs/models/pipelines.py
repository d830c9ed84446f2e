"""Who runs pipelines on a cluster, and as whom their steps start training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from pydantic import model_validator

from trainyard.specs.models.base import Image, Name, Spec, validation_error


class Pipelines(Spec):
    """A Kubeflow Pipelines that somebody else installs; jobs with `after` are its steps."""

    image: Image
    """Image by digest with Python 3.9 or newer as `python3`; each step waits for its run in a pod of it."""
    service_account: Name = "pipeline-runner"
    """Service account of the steps' pods, which may start and end runs."""
    namespaces: dict[Name, Name] = {}
    """Namespace of each team's service account, by team; other teams have no pipelines."""
    namespace: Name | None = None
    """Namespace of one service account for all teams, which may start and end every run; default: one in each
    team's namespace."""

    @model_validator(mode="after")
    def one_owner_each(self) -> Self:
        """Refuse an account of several teams among those of single teams."""
        if self.namespaces and self.namespace is not None:
            raise validation_error("pipelines", "has both namespace and namespaces; remove one")
        twice = sorted(
            {namespace for namespace in self.namespaces.values() if list(self.namespaces.values()).count(namespace) > 1}
        )
        if twice:
            raise validation_error("pipelines", f"has namespace {twice[0]!r} for two teams; give each team its own")
        return self

    def namespace_of(self, team: str, own: Callable[[str], str]) -> str | None:
        """Return where the account of a team's steps is; None of a team without pipelines.

        `own` returns the namespace of a team on the cluster (`Cluster.namespace_of`).
        """
        return self.namespaces.get(team) if self.namespaces else self.namespace or own(team)

    def namespaces_apart(self, own: Callable[[str], str]) -> list[str]:
        """Return the namespaces of accounts that are not in the namespace of the team whose runs they start."""
        if self.namespace:
            return [self.namespace]
        return [place for team, place in self.namespaces.items() if place != own(team)]

    def accounts_apart(self, own: Callable[[str], str]) -> list[str]:
        """Return these accounts, as `namespace:name`."""
        return [f"{place}:{self.service_account}" for place in self.namespaces_apart(own)]
