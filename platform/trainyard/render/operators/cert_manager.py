"""cert-manager: certificates for the webhooks of operators that do not make their own."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site


class CertManager(Operator):
    """cert-manager from its chart, with its CustomResourceDefinitions, which the chart leaves out by default."""

    name = "cert-manager"

    def values(self, site: Site) -> dict[str, Any]:
        """Turn the definitions on and keep them when the chart goes.

        Leader election moves from kube-system to the operator's namespace, so that its rights end there.
        """
        return {
            "crds": {"enabled": True, "keep": True},
            "global": {"leaderElection": {"namespace": site.facts.namespace}},
        }


OPERATOR = CertManager()
