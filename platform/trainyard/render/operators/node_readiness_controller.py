"""Node Readiness Controller: a taint on nodes whose conditions say that they have a fault, and none on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path
from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import burn_in
from trainyard.render.sizing.health import TAINTER, conditions, taint_key, watched_pools
from trainyard.specs import Cluster


class NodeReadinessController(Operator):
    """The controller from its chart, with a rule for each condition and pool that is watched."""

    name = TAINTER

    def values(self, site: Site) -> dict[str, Any]:
        """Name the image of the release: the chart at a tag names that of an older one."""
        return {"image": {"tag": f"v{site.version}"}}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield a rule for each condition of each watched pool, and for nodes that failed the burn-in.

        A node without the condition counts as well, so that a detector that is removed takes no node away.
        """
        cluster = site.cluster
        if cluster.health is None:
            return
        for condition in conditions(cluster):
            for pool in watched_pools(cluster):
                yield rule(cluster, condition, pool, ("health",))
        for pool in burn_in.tested_pools(cluster) if burn_in.marks(cluster) else ():
            yield rule(cluster, burn_in.FAILED, pool, ("health", "burnIn", "markerImage"))


def rule(cluster: Cluster, condition: str, pool: str, at: Path) -> Resource:
    """Return the rule by which nodes of a pool with a condition have its taint."""
    effect = cluster.health.effect if cluster.health else "NoSchedule"
    spec = {
        "conditions": [{"type": condition, "requiredStatus": "False", "defaultStatus": "False"}],
        "enforcementMode": "continuous",
        "nodeSelector": {"matchLabels": cluster.selector_of(pool)},
        "taint": {"key": taint_key(condition), "effect": effect},
    }
    name = f"{condition.lower()}-{pool}"
    return Resource("readiness.node.x-k8s.io/v1alpha1", "NodeReadinessRule", name, at, fields={"spec": spec})


OPERATOR = NodeReadinessController()
