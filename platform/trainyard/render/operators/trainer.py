"""Kubeflow Trainer: its chart's defaults serve."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.operators.base import Conflict, Operator, Site
from trainyard.render.operators.stated_values import if_false

CHART = "kubeflow/trainer v2.3.0 charts/kubeflow-trainer/values.yaml"


class Trainer(Operator):
    """The operator from its chart."""

    name = "trainer"

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield definitions that are left out."""
        why = "somebody must then install the definitions first; remove it, or install them by hand"
        yield from if_false(site, {"crds.enabled": why}, CHART, breaks=False)


OPERATOR = Trainer()
