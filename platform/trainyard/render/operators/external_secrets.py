"""External Secrets: fills the Secrets of teams from a vault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import if_false, if_true, stated

CHART = "external-secrets/external-secrets helm-chart-2.9.0 deploy/charts/external-secrets"


class ExternalSecrets(Operator):
    """External Secrets from its chart, with its CustomResourceDefinitions and its own certificate of the webhook."""

    name = "external-secrets"

    def values(self, _site: Site) -> dict[str, Any]:
        """Let one of its pods work at a time during updates, as two would write the same Secrets."""
        return {"leaderElect": True}

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values by which it leaves out teams, or lacks its definitions or the certificate of its webhook."""
        watched = stated(site, "scopedNamespace")
        left = [team for team in site.cluster.teams() if site.cluster.namespace_of(team) != watched]
        if watched and left:
            message = f"scopedNamespace is {watched!r}, so Secrets of team {left[0]!r} stay empty; remove it"
            yield Conflict("scopedNamespace", message, f"{CHART}/templates/deployment.yaml")
        if not watched:
            why = "then it watches its own namespace alone, and none of a team; remove it"
            yield from if_true(site, {"scopedRBAC": why}, f"{CHART}/templates/rbac.yaml")
        if stated(site, "webhook.certManager.enabled") is not True and stated(site, "webhook.create") is not False:
            why = "then its webhook has no certificate and refuses all stores; remove it"
            yield from if_false(site, {"certController.create": why}, f"{CHART}/templates/webhook-secret.yaml")
        why = "somebody must then install the definitions first; remove it, or install them by hand"
        yield from if_false(site, {"installCRDs": why}, f"{CHART}/templates/crds", breaks=False)


OPERATOR = ExternalSecrets()
