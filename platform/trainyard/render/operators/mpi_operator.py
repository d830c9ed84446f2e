"""The MPI Operator, by the manifests of its release, since it has no chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Operator, Site, harden_deployment


class MpiOperator(Operator):
    """The operator from the manifests of its tag, its pod as Pod Security restricted takes it."""

    name = "mpi-operator"

    def changes(self, site: Site) -> Iterator[Mapping[str, Any]]:
        """Yield the operator's pod."""
        yield harden_deployment(site, self.name)


OPERATOR = MpiOperator()
