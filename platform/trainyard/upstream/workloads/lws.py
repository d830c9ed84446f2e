"""What kinds of LWS have in common: groups of a leader and its workers (lws v0.9.0)."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.base.findings import Path
from trainyard.upstream.workloads.base import Object, Template, number
from trainyard.upstream.workloads.variables import Variables

VARIABLES = Variables(frozenset({"LWS_WORKER_INDEX", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS"}), others=r"LWS_\w+")
"""What the webhook puts before all others."""


def of_followers(template: Object) -> int:
    """Return the workers of one group of a LeaderWorkerSet: its size, less the leader where that has its own pods."""
    return max(0, number(template, "size", 1) - int(isinstance(template.get("leaderTemplate"), Mapping)))


def of_lws(template: Object) -> str:
    """Return the name of the followers' pod set (kueue v0.19.2 pkg/controller/jobs/leaderworkerset)."""
    return "worker" if isinstance(template.get("leaderTemplate"), Mapping) else "main"


def group_of_lws(*path: str) -> tuple[Template, ...]:
    """Return where a LeaderWorkerSet's specification has the pods of one group."""
    holder: Path = (*path, "leaderWorkerTemplate")
    return (
        Template(holder, ("leaderTemplate",), "leader"),
        Template(holder, ("workerTemplate",), of_lws, of_followers),
    )
