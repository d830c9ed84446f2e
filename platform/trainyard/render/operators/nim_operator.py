"""NVIDIA NIM Operator: its chart with the image of the release; a cluster's `nim` has the services.

Facts: NVIDIA/k8s-nim-operator v3.1.2 deployments/helm/k8s-nim-operator, whose image is that of release 3.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import if_true

CHART = "NVIDIA/k8s-nim-operator v3.1.2 deployments/helm/k8s-nim-operator"


class NimOperator(Operator):
    """The operator from its chart; definitions are left to Argo CD, which renders them with the chart."""

    name = "nim-operator"

    def values(self, site: Site) -> dict[str, Any]:
        """Return the pinned image, and leave out the hook that would apply the definitions at every sync."""
        image = site.components["operator"]
        repository, version = image["image"], image["version"]
        if version.startswith("sha256:"):
            repository, version = f"{repository}@sha256", version.removeprefix("sha256:")
        pinned = {"repository": repository, "tag": version, "pullPolicy": "IfNotPresent"}
        return {"operator": {"upgradeCRD": False, "image": pinned}}

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield the switch of that hook."""
        why = "Argo CD renders the definitions with the chart, and a Job would write its own over them; remove it"
        yield from if_true(site, {"operator.upgradeCRD": why}, f"{CHART}/templates/upgrade_crd.yaml")


OPERATOR = NimOperator()
