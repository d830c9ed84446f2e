"""What cdk8s programs of one's own below `platform/extra/<cluster>/` are given: a scope and the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cdk8s
from constructs import Construct

from trainyard.specs import Cluster, Team


@dataclass(frozen=True, slots=True)
class Here:
    """Where a program adds objects: the second argument of its `build(scope, cluster)`."""

    name: str
    """The cluster's name."""
    spec: Cluster
    """What the cluster's file says."""
    team_name: str | None = None
    """The team, for a program below `teams/`."""
    team: Team | None = None

    @property
    def namespace(self) -> str | None:
        """The team's namespace on the cluster, for a program below `teams/`."""
        return None if self.team_name is None else self.spec.namespace_of(self.team_name)


class Added(cdk8s.Chart):
    """What a program adds to one folder; names are what it says, without a hash."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_, disable_resource_name_hashes=True)


def build_objects(build: Callable[[Construct, Here], object], id_: str, here: Here) -> list[Mapping[str, Any]]:
    """Let a program build into a chart of its own, and return the objects that it adds, those of charts inside too."""
    app = cdk8s.App()
    build(Added(app, id_), here)
    return [value for chart in app.charts for value in chart.to_json()]
