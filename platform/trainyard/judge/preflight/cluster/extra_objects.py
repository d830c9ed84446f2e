"""Whether plain objects of a cluster are in one of its folders alone, and in the one in which they do no harm."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import Identity
from trainyard.base.rules import Rule
from trainyard.base.system.repository import JOBS
from trainyard.judge.preflight.between.extra_objects import elsewhere
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render import clusters

TEAMS = "teams/"

DRAINING: Mapping[str, Sequence[str]] = {
    "sriovnetwork.openshift.io": ("SriovNetworkNodePolicy", "SriovNetworkPoolConfig"),
    "mellanox.com": ("NicClusterPolicy",),
    "configuration.net.nvidia.com": ("NicConfigurationTemplate",),
    "nvidia.com": ("ClusterPolicy", "NVIDIADriver"),
    "amd.com": ("DeviceConfig",),
    "machineconfiguration.openshift.io": ("MachineConfig", "KubeletConfig", "ContainerRuntimeConfig"),
}
"""Kinds by group whose changes drain or reboot nodes, as their operators' documentation says."""

SYNCED = Rule(
    id="spec/extra-hardware",
    title="No object in platform/extra is of a kind that drains or reboots nodes.",
    why="Argo CD syncs these folders at once, in working hours too, and the runs on these nodes end",
    fix="set the field of the cluster that Trainyard renders the kind from, or have the object applied by hand",
    source="docs/argocd.md",
    severity=Severity.WARNING,
)
OTHERS = Rule(
    id="spec/extra-namespace",
    title="Objects in a team's folder of platform/extra are not of another team's namespace.",
    why="whoever may edit the folder of one team would change what another has",
    fix="move the object to the folder of the team whose namespace it is in, or to platform",
    source="docs/clusters.md",
)


@CLUSTER_BESIDE.check(after=(ALL,))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield plain objects of a cluster without errors that Trainyard has in another of its folders."""
    specs, cluster = one.loaded.specs, one.name
    if any(finding.is_error for finding in one.loaded.findings if not finding.location.file.startswith(f"{JOBS}/")):
        return  # the platform's files cannot be rendered
    own = clusters.of_files(specs, cluster)
    if own:
        ours = clusters.folders(specs, cluster, own=own)
        yield from (finding for _, finding in elsewhere(ours, own))
        yield from of_hardware(own, {resource.identity for resources in ours.values() for resource in resources})
        yield from of_others(one, own)


def of_hardware(own: Mapping[str, Sequence[clusters.Own]], ours: Collection[Identity]) -> Iterator[Finding]:
    """Yield objects whose operators drain or reboot nodes; one that is `ours` is in `hardware/`, and told apart."""
    for items in own.values():
        for item in items:
            if item.identity.kind in DRAINING.get(item.identity.group, ()) and item.identity not in ours:
                message = f"a {item.identity.kind} drains or reboots nodes, and this folder is synced at any time"
                yield SYNCED.of(item.place, f"{message}; have somebody apply it")


def of_others(one: OneCluster, own: Mapping[str, Sequence[clusters.Own]]) -> Iterator[Finding]:
    """Yield objects in the folder of a team that are of another team's namespace."""
    for folder, items in own.items():
        team = folder.removeprefix(TEAMS) if folder.startswith(TEAMS) else None
        for item in items if team else ():
            space = item.identity.namespace
            other = one.cluster.team_in(space) or (space if space in one.teams else None)
            if other not in {team, None}:
                message = f"namespace {space!r} is another team's; move the object to {TEAMS}{other}"
                yield OTHERS.of(item.place, message)
