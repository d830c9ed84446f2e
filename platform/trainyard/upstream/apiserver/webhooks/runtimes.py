"""The ClusterTrainingRuntimes that Trainer brings, as webhooks look them up."""

from __future__ import annotations

from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.workloads.brought import brought
from trainyard.upstream.workloads.runtimes import STEP as ANCESTOR

__all__ = ["ANCESTOR", "UNCHECKED", "brought_spec"]

UNCHECKED = "trainer.kubeflow.org/webhook-validation"
"""Label whose value `disabled` keeps a runtime from the webhooks."""


def brought_spec(name: str) -> Object | None:
    """Return the specification of a runtime that Trainer brings; None where it brings none of that name."""
    found = brought().get(name)
    return None if found is None else dict(found["spec"])
