"""The MPI Operator, by the manifests of its release, since it has no chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Operator, Site, harden_deployment
from trainyard.render.parts import gang

ARGS = ("-alsologtostderr", "--lock-namespace=mpi-operator")
"""Arguments of the standalone manifests, which a list of ours replaces (mpi-operator v0.8.0 manifests)."""


class MpiOperator(Operator):
    """The operator from the manifests of its tag, its pod as Pod Security restricted takes it."""

    name = "mpi-operator"

    def changes(self, site: Site) -> Iterator[Mapping[str, Any]]:
        """Yield the operator's pod, which groups pods for Volcano where their queues are Volcano's."""
        grouped = site.choice.scheduler == "volcano"
        own = {"args": [*ARGS, f"--gang-scheduling={gang.VOLCANO}"]} if grouped else None
        yield harden_deployment(site, self.name, container=own)


OPERATOR = MpiOperator()
