"""KubeRay: its chart's defaults serve, as long as it watches the namespaces of all teams."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import if_true, stated

CHART = "ray-project/kuberay v1.7.0 helm-chart/kuberay-operator/templates/deployment.yaml, configmap.yaml"


class KubeRay(Operator):
    """The operator from its chart."""

    name = "kuberay"

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values by which it leaves out teams, whose Ray clusters would never get pods."""
        watched, spaces = stated(site, "watchNamespace"), site.cluster.namespaces()
        if not watched:
            why = "then it watches no namespace of a team; remove it"
            yield from if_true(site, {"singleNamespaceInstall": why}, CHART)
            return
        left = [space for space in spaces if space not in watched]
        if left:
            message = f"watchNamespace leaves out {left[0]!r}, so Ray clusters of that team get no pods; add it"
            yield Conflict("watchNamespace", message, CHART)


OPERATOR = KubeRay()
