"""When nodes are taken out: what begins it, and the windows of Argo CD that hold it."""

from __future__ import annotations

from trainyard.change.maintenance.outage import Outage
from trainyard.render.clusters.projects import hardware_windows
from trainyard.specs import Cluster


def begins(cluster: Cluster, outage: Outage) -> str:
    """Return the event that starts an outage, and the windows in which it cannot start."""
    if not outage.synced:
        return f"as soon as {outage.by} does it; windows of Argo CD do not hold it"
    windows = (f"{one.schedule} for {one.duration} ({one.time_zone})" for one in hardware_windows(cluster))
    return f"once somebody syncs hardware/, never during {', '.join(windows)}; what has begun goes on then"
