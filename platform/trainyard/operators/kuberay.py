"""KubeRay: RayJobs and RayClusters, in the namespaces of all teams."""

from __future__ import annotations

from trainyard.operators.base import Operator


class KubeRay(Operator):
    """KubeRay from its chart, whose defaults serve: it has no webhook, and refuses an object when it gets to it."""

    name = "kuberay"


OPERATOR = KubeRay()
