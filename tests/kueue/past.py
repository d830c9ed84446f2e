"""Clusters by chance for other releases of Kueue than the one that is restated, and our decisions as these releases."""

from __future__ import annotations

from typing import Any

from kueue import worlds
from trainyard.base.versions import order
from trainyard.faces.cli._cases import answered
from trainyard.upstream.kueue.model.gates import Gates

Object = dict[str, Any]

ZEROS = order("0.18.0")
"""Releases before it never admit pods of a topology that request 0 of all that is counted (kueue v0.17.8 CountIn)."""


def case(release: str, seed: int) -> Object:
    """Return the case of a seed, without the gates and fields that the release does not know."""
    found, known = worlds.case(seed), Gates(release=release).known
    config = dict(found.get("config") or {})
    if "featureGates" in config:
        config["featureGates"] = {gate: on for gate, on in config["featureGates"].items() if gate in known}
    if "QuotaCheckStrategy" not in known and "resources" in config:
        config["resources"] = {
            name: value for name, value in config["resources"].items() if name != "quotaCheckStrategy"
        }
    return {**found, "config": config}


def is_apart(release: str, drawn: Object) -> bool:
    """Whether the release decides a case otherwise for a defect that is not restated."""
    return order(release) < ZEROS and asks_nothing(drawn)


def asks_nothing(drawn: Object) -> bool:
    """Whether a container of a case requests 0 of something."""
    sets = (item for obj in drawn["objects"] if obj["kind"] == "Workload" for item in obj["spec"]["podSets"])
    containers = (container for item in sets for container in item["template"]["spec"]["containers"])
    amounts = (amount for item in containers for amount in (item.get("resources") or {}).get("requests", {}).values())
    return any(str(amount) == "0" for amount in amounts)


def answered_as(release: str, drawn: Object) -> dict[str, object]:
    """Return our decision as a release."""
    return answered({**drawn, "release": release})
