"""What becomes of claims that a controller makes of templates, when the object that has the templates is deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainyard.base.manifests import ANY, maps_in, matches, value_at

Loses = Callable[[Mapping[str, Any]], bool]
"""Whether deleting an object deletes the claims that were made of its templates."""


def kept_unless_said(*holders: str) -> Loses:
    """Return the answer of a kind that keeps claims unless what has their templates says `whenDeleted: Delete`.

    Source: kubernetes v1.35.4 pkg/apis/apps/v1/defaults.go; lws v0.9.0 api/leaderworkerset/v1.
    """

    def loses(value: Mapping[str, Any]) -> bool:
        return any(
            value_at(holder, ("persistentVolumeClaimRetentionPolicy", "whenDeleted")) == "Delete"
            and bool(value_at(holder, ("volumeClaimTemplates",)))
            for _, holder in matches(value, holders)
        )

    return loses


def of_jobset(value: Mapping[str, Any]) -> bool:
    """Whether a JobSet's claims go: they do unless it retains them (jobset v0.12.0 pkg/webhooks/jobset_webhook.go)."""
    policies = maps_in(value_at(value, ("spec", "volumeClaimPolicies")))
    return any(value_at(policy, ("retentionPolicy", "whenDeleted")) != "Retain" for policy in policies)


def owned(*volumes: str) -> Loses:
    """Return the answer of Volcano's kinds, whose Jobs own the claims of their volumes.

    Source: volcano v1.14.1 pkg/controllers/job/job_controller_actions.go.
    """
    return lambda value: any(claim is not None for _, claim in matches(value, (*volumes, ANY, "volumeClaim")))
