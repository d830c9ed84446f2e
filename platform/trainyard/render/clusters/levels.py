"""Pod Security levels of namespaces, as labels."""

from __future__ import annotations

from trainyard.base.labels import POD_SECURITY
from trainyard.specs import Cluster


def pod_security(level: str, cluster: Cluster) -> dict[str, str]:
    """Return the labels of a Pod Security level; warnings also reach those who apply a Job, which is never refused."""
    modes = ("enforce", "warn", "audit")
    levels = {f"{POD_SECURITY}/{mode}": level for mode in modes}
    return levels | {f"{POD_SECURITY}/{mode}-version": f"v{cluster.minor}" for mode in modes}
