"""Fabrics that give pods nothing: all traffic takes the cluster's own network."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from trainyard.render.sizing.base import Attached
from trainyard.render.sizing.fabrics.base import FabricType, Share
from trainyard.specs import Cluster


class Unused(FabricType):
    """Nothing to attach to."""

    name = "none"

    def usable(self, _cluster: Cluster) -> bool:
        """Return False: there is nothing to attach to."""
        return False

    def reaches(self, _cluster: Cluster, _pool_name: str) -> bool:
        """Return False: there is nothing to reach."""
        return False

    def per_node(self, _cluster: Cluster, _pool_name: str) -> Mapping[str, Fraction]:
        """Return nothing: it has no devices."""
        return {}

    def attached(self, _share: Share) -> Attached:
        """Return nothing."""
        return Attached()


FABRIC = Unused()
