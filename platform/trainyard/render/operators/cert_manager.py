"""cert-manager: certificates for the webhooks of operators that do not make their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.conflicts import check_namespace
from trainyard.render.operators.stated_values import if_false, if_true

CHART = "cert-manager/cert-manager v1.21.1 deploy/charts/cert-manager/templates/_helpers.tpl"


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

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield two ways to the definitions, which the chart refuses, none, and namespaces that are not allowed."""
        yield from if_true(site, {"installCRDs": "the chart refuses it beside crds.enabled; remove it"}, CHART)
        why = "somebody must then install the definitions first; remove it, or install them by hand"
        yield from if_false(site, {"crds.enabled": why}, CHART, breaks=False)
        for path in ("namespace", "global.leaderElection.namespace"):
            yield from check_namespace(site, path)


OPERATOR = CertManager()
