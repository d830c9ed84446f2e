"""Node Readiness Controller: a taint on nodes whose conditions say that they have a fault, and none on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.health import TAINTER, conditions, taint_key, watched_pools


class NodeReadinessController(Operator):
    """The controller from its chart, with a rule for each condition and pool that is watched."""

    name = TAINTER

    def values(self, site: Site) -> dict[str, Any]:
        """Name the image of the release: the chart at a tag names that of an older one."""
        return {"image": {"tag": f"v{site.version}"}}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield a rule for each condition of each watched pool.

        A node without the condition counts as well, so that a detector that is removed takes no node away.
        """
        health = site.cluster.health
        if health is None:
            return
        for condition in conditions(site.cluster):
            for pool in watched_pools(site.cluster):
                yield Resource(
                    "readiness.node.x-k8s.io/v1alpha1",
                    "NodeReadinessRule",
                    f"{condition.lower()}-{pool}",
                    ("health",),
                    fields={
                        "spec": {
                            "conditions": [{"type": condition, "requiredStatus": "False", "defaultStatus": "False"}],
                            "enforcementMode": "continuous",
                            "nodeSelector": {"matchLabels": site.cluster.selector_of(pool)},
                            "taint": {"key": taint_key(condition), "effect": health.effect},
                        }
                    },
                )


OPERATOR = NodeReadinessController()
