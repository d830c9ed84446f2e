"""The last step of a new cluster: the sync by hand of what drains or reboots nodes, and what it does to them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.clusters.projects import hardware_windows
from trainyard.render.clusters.software import hardware
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text

FOLLOWS = {
    "SriovNetworkNodePolicy": "nodes are drained, and restarted where NICs need it, one after the other",
    "NicConfigurationTemplate": "NICs are configured, and nodes restarted one after the other",
    "NodePool": "Karpenter starts nodes for pods that wait",
}
"""What operators do to nodes once an object is there, by its kind."""

DAEMONS = {"NicClusterPolicy": "NICs", "ClusterPolicy": "NVIDIA GPUs", "DeviceConfig": "AMD GPUs"}
"""Devices whose daemons come to the nodes once an object is there, by its kind."""


def sync(site: Site) -> Iterator[Prerequisite]:
    """Yield the sync of the hardware's Application, where the cluster has one."""
    kinds = [resource.kind for resource in hardware(site.cluster)]
    if not kinds:
        return
    follows = [text for kind, text in FOLLOWS.items() if kind in kinds]
    if devices := [text for kind, text in DAEMONS.items() if kind in kinds]:
        follows = [f"nodes get the daemons of {names_text(devices)}", *follows]
    then = f"; then {'; '.join(follows)}" if follows else ""
    windows = names_text(
        [f"`{window.schedule}` for {window.duration} ({window.time_zone})" for window in hardware_windows(site.cluster)]
    )
    yield Prerequisite(
        f"a person has synced Application `{site.name}-hardware`, after the operators run",
        f"nothing else applies {names_text(list(dict.fromkeys(kinds)))}, and runs wait for it",
        ("argocd", "hardwareDeny") if site.cluster.argocd.hardware_deny else ("argocd",),
        f"`argocd app sync {site.name}-hardware`, outside of its deny windows: {windows}{then}",
        look=f"`argocd app get {site.name}-hardware` prints Synced and Healthy",
    )
