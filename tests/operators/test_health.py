"""Health of operators' own objects as Argo CD should show it: scripts that one generator writes."""

from __future__ import annotations

from typing import Any

import pytest

import lua51
from trainyard.render.operators import operators

POLICY, NODE = "nvidia.com/ClusterPolicy", "sriovnetwork.openshift.io/SriovNetworkNodeState"
NICS = "mellanox.com/NicClusterPolicy"
SHOWN: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a policy that nobody has looked at": (POLICY, {}, "Progressing", "Waiting for the operator"),
    "a policy whose status is empty": (POLICY, {"status": {}}, "Progressing", "Waiting for the operator"),
    "a policy under way": (POLICY, {"status": {"state": "notReady"}}, "Progressing", "notReady"),
    "a policy in effect": (POLICY, {"status": {"state": "ready"}}, "Healthy", "ready"),
    "a second policy": (POLICY, {"status": {"state": "ignored"}}, "Degraded", "ignored"),
    "NICs that are set up": (NICS, {"status": {"state": "ready"}}, "Healthy", "ready"),
    "NICs that could not be": (NICS, {"status": {"state": "error", "reason": "no node"}}, "Degraded", "no node"),
    "a node without a daemon": (NODE, {}, "Progressing", "Waiting for the node's daemon"),
    "a node under way": (NODE, {"status": {"syncStatus": "InProgress"}}, "Progressing", "InProgress"),
    "a node that is set up": (NODE, {"status": {"syncStatus": "Succeeded"}}, "Healthy", "Succeeded"),
    "a node that failed": (NODE, {"status": {"syncStatus": "Failed"}}, "Degraded", "Failed"),
    "a node that says why": (
        NODE,
        {"status": {"syncStatus": "Failed", "lastSyncError": "no such NIC"}},
        "Degraded",
        "no such NIC",
    ),
}

WORKLOAD = "kueue.x-k8s.io/Workload"


def queued(active: bool, **conditions: str) -> dict[str, Any]:
    """Return a workload with these conditions, each true with a message."""
    found = [{"type": name, "status": "True", "message": message} for name, message in conditions.items()]
    return {"spec": {"active": active}, "status": {"conditions": found}}


LATE = "The workload is deactivated due to exceeding the maximum execution time"
SHOWN |= {
    "a workload in the queue": (WORKLOAD, queued(True), "Suspended", "Not admitted"),
    "one that Kueue gave up": (WORKLOAD, queued(False, Evicted=LATE), "Degraded", f"Set aside: {LATE}"),
    "one that a person set aside": (WORKLOAD, queued(False), "Degraded", "Set aside: by hand"),
    "one that ended before": (WORKLOAD, queued(False, Finished="Job finished"), "Healthy", "Job finished"),
}


@pytest.mark.parametrize(("kind", "value", "status", "message"), SHOWN.values(), ids=SHOWN)
def test_a_field_of_the_status_tells(kind, value, status, message):
    """A word of the status or a condition is health; before it is there the object is waited for."""
    (script,) = (operator.health[kind] for operator in operators().values() if kind in operator.health)
    assert lua51.health(script, value) == (status, message)
