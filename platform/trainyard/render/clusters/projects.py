"""Argo CD projects: what each class of Application may create, where, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.render.clusters import (
    buckets,
    burn_in,
    ceph_buckets,
    dashboards,
    gke_networks,
    monitors,
    provisioning,
    snapshots,
    virtual_clusters,
    volcano,
)
from trainyard.render.clusters.applications import API, VIRTUAL, Follower
from trainyard.render.clusters.software import hardware, operator
from trainyard.render.kinds import available, companions
from trainyard.render.operators import Operator, Site
from trainyard.render.operators.install import installed_operators, sites
from trainyard.render.parts import prometheus
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.virtual_clusters import CLUSTERS, namespace
from trainyard.render.parts.virtual_clusters import OPERATOR as VCLUSTER
from trainyard.specs import Cluster
from trainyard.specs.models.argocd import Window

WORKDAYS = Window(schedule="0 6 * * 1-5", duration="14h")
"""When hardware is left alone unless the cluster says otherwise: working days, 06:00 to 20:00 UTC."""

OF_OPERATORS = (
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    "apiextensions.k8s.io/CustomResourceDefinition",
    "rbac.authorization.k8s.io/ClusterRole",
    "rbac.authorization.k8s.io/ClusterRoleBinding",
    "/Namespace",
)
"""Cluster-scoped kinds of every operator, as `group/Kind`."""

OF_PLATFORM = (
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
    "kueue.x-k8s.io/ClusterQueue",
    "kueue.x-k8s.io/Cohort",
    "kueue.x-k8s.io/ResourceFlavor",
    "kueue.x-k8s.io/Topology",
    "kueue.x-k8s.io/WorkloadPriorityClass",
    "storage.k8s.io/StorageClass",
)

OF_TEAMS = (
    "/LimitRange",
    "/PersistentVolumeClaim",
    "/ResourceQuota",
    "/ServiceAccount",
    "k8s.cni.cncf.io/NetworkAttachmentDefinition",
    "kueue.x-k8s.io/LocalQueue",
    "networking.k8s.io/NetworkPolicy",
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/RoleBinding",
)

CONSTRAINTS = "security.openshift.io/SecurityContextConstraints"
"""Kind by which OpenShift admits pods with more rights; charts make some where the server has it."""

NOTHING = [{"group": "*", "kind": "*"}]

Extra = Mapping[str, Iterable[tuple[str, str | None]]]
"""Kinds of the repository's own extra objects, as `group/Kind` with their namespace, by class of Application."""


def resources(follower: Follower, groups: Mapping[str, str], extra: Extra) -> Iterator[Resource]:
    """Yield the projects of the cluster; `groups` are the teams' people, by team.

    One for each class, and one for the runs of each team, so that a manifest in one team's folder cannot land in
    another's namespace.
    """
    cluster, at = follower.cluster, ("argocd",)
    yield project(follower, "argocd", at, f"Applications of cluster {follower.name}", root_project(follower))
    spec = operators_spec(follower, list(installed_operators(cluster)))
    yield project(follower, "operators", ("operators",), "Operators: pinned charts and their own resources", spec)
    changes = list(hardware(cluster))
    if changes:
        windows = [deny_window(window) for window in hardware_windows(cluster)]
        spec = hardware_spec(follower, changes) | {"syncWindows": windows}
        yield project(follower, "hardware", ("argocd", "hardwareDeny"), "What drains or reboots nodes", spec)
    more = list(extra.get("platform", ()))
    yield project(follower, "platform", ("queues",), "What all teams share", platform_spec(follower, more))
    if cluster.monitoring is not None:
        yield project(follower, "monitoring", ("monitoring",), "Monitors and alerts", monitoring_spec(follower))
    if cluster.virtual_clusters:
        about = "Virtual clusters of teams: each in one namespace, and no right outside of it"
        yield project(follower, VIRTUAL, (CLUSTERS,), about, virtual_spec(follower))
    more = [pair for team in cluster.teams() for pair in extra.get(f"teams/{team}", ())]
    yield project(follower, "teams", ("queues",), "Namespaces of teams", teams_spec(follower, more))
    for team in cluster.teams():
        spec = runs_spec(follower, team, groups.get(team))
        yield project(follower, f"runs-{team}", (), f"Training runs of team {team}", spec, of=f"team/{team}")


def project(
    follower: Follower, part: str, at: Path, description: str, spec: Mapping[str, Any], *, of: str = "cluster"
) -> Resource:
    """Return a project as an object of Argo CD's namespace; sources are exact unless the spec says more."""
    base = {"description": description, "sourceRepos": [follower.repository.repo_url]}
    namespace = follower.cluster.argocd.namespace
    return Resource(API, "AppProject", follower.app(part), at, namespace, fields={"spec": {**base, **spec}}, source=of)


def root_project(follower: Follower) -> dict[str, Any]:
    """Return the project of the root: Applications, projects and settings, in Argo CD's namespace alone."""
    return {
        "destinations": [follower.argocd()],
        "namespaceResourceWhitelist": allowed_kinds(
            ["argoproj.io/Application", "argoproj.io/AppProject", "/ConfigMap"]
        ),
    }


def operators_spec(follower: Follower, found: list[tuple[Site, Operator]]) -> dict[str, Any]:
    """Return the project of operators: where charts and manifests come from, their namespaces, and kube-system.

    Charts bring namespaced kinds of any sort; what is cluster-scoped is listed.
    """
    found = [(site, known) for site, known in found if site.name != VCLUSTER]  # it has a project of its own
    sources = {site.facts.chart.repository for site, _ in found if site.facts.chart}
    sources |= {site.facts.manifests.repository for site, _ in found if site.facts.manifests}
    own = [resource for site, known in found for resource in operator(site, known)]
    namespaces = {"kube-system", *(site.facts.namespace for site, _ in found)}
    namespaces |= {resource.namespace for resource in own if resource.namespace}
    wanted = {kind for site, _ in found for kind in site.release.cluster_kinds or ()}
    wanted |= {kind_of(resource) for resource in own if resource.namespace is None}
    if follower.cluster.distribution.privileged_constraint and any(site.facts.own_constraints for site, _ in found):
        wanted.add(CONSTRAINTS)
    return {
        "sourceRepos": [follower.repository.repo_url, *sorted(sources)],
        "destinations": [follower.destination(namespace) for namespace in sorted(namespaces)],
        "clusterResourceWhitelist": allowed_kinds({*OF_OPERATORS, *wanted}),
    }


def hardware_spec(follower: Follower, changes: list[Resource]) -> dict[str, Any]:
    """Return the project of hardware: exactly what there is."""
    namespaces = {"default", *(change.namespace for change in changes if change.namespace)}
    inside = {kind_of(change) for change in changes if change.namespace}
    return {
        "destinations": [follower.destination(namespace) for namespace in sorted(namespaces)],
        "clusterResourceWhitelist": allowed_kinds({kind_of(change) for change in changes if not change.namespace}),
        **namespaced_kinds(inside),
    }


def hardware_windows(cluster: Cluster) -> tuple[Window, ...]:
    """Return the times in which hardware is left alone."""
    return cluster.argocd.hardware_deny or (WORKDAYS,)


def deny_window(window: Window) -> dict[str, Any]:
    """Return a window in which nothing is synced, not by hand either, since it does not say `manualSync`."""
    return {
        "kind": "deny",
        "schedule": window.schedule,
        "duration": window.duration,
        "timeZone": window.time_zone,
        "applications": ["*"],
    }


def platform_spec(follower: Follower, extra: list[tuple[str, str | None]]) -> dict[str, Any]:
    """Return the project of the platform: cluster-scoped kinds, and what the repository adds of its own."""
    cluster = follower.cluster
    own = [*buckets.volumes(cluster), *snapshots.resources(cluster), *burn_in.resources(cluster)]
    inside = {kind_of(resource) for resource in own if resource.namespace}
    namespaces = {"default", *(resource.namespace for resource in own if resource.namespace)}
    namespaces |= {namespace for _, namespace in extra if namespace}
    return {
        "destinations": [follower.destination(namespace) for namespace in sorted(namespaces)],
        "clusterResourceWhitelist": allowed_kinds(
            {
                *OF_PLATFORM,
                *(["/PersistentVolume"] if any(one.exports for one in follower.cluster.storage.values()) else ()),
                *(kind_of(resource) for resource in own if not resource.namespace),
                *provisioning.kinds(follower.cluster),
                *volcano.kinds(follower.cluster),
                *gke_networks.kinds(follower.cluster),
                *(kind for kind, namespace in extra if not namespace),
            }
        ),
        **namespaced_kinds({*inside, *(kind for kind, namespace in extra if namespace)}),
    }


def monitoring_spec(follower: Follower) -> dict[str, Any]:
    """Return the project of monitors and rules: their namespace, and the right to read metrics."""
    wide, inside = monitors.kinds(follower.cluster)
    spaces = {prometheus.namespace(follower.cluster) or "default", *dashboards.namespaces(follower.cluster)}
    return {
        "destinations": [follower.destination(namespace) for namespace in sorted(spaces)],
        "clusterResourceWhitelist": allowed_kinds(wide),
        **namespaced_kinds({*inside}),
    }


def virtual_spec(follower: Follower) -> dict[str, Any]:
    """Return the project of virtual clusters: their namespaces, the chart's kinds there, and policies around them."""
    charts = {
        site.facts.chart.repository for site in sites(follower.cluster) if site.name == VCLUSTER and site.facts.chart
    }
    names = follower.cluster.virtual_clusters
    return {
        "sourceRepos": [follower.repository.repo_url, *sorted(charts)],
        "destinations": [follower.destination(namespace(name)) for name in sorted(names)],
        "clusterResourceWhitelist": allowed_kinds(virtual_clusters.WIDE),
        **namespaced_kinds({*virtual_clusters.KINDS}),
    }


def teams_spec(follower: Follower, extra: list[tuple[str, str | None]]) -> dict[str, Any]:
    """Return the project of teams: their namespaces and what belongs there; on a rehearsal volumes of their claims."""
    volumes = ["/PersistentVolume"] if follower.cluster.simulated is not None else []
    return {
        "destinations": [follower.destination(space) for space in follower.cluster.namespaces()],
        "clusterResourceWhitelist": allowed_kinds(["/Namespace", *volumes]),
        **namespaced_kinds({*OF_TEAMS, *ceph_buckets.kinds(follower.cluster), *(kind for kind, _ in extra)}),
    }


def runs_spec(follower: Follower, team: str, group: str | None) -> dict[str, Any]:
    """Return the project of a team's runs: training kinds in one namespace; its people look, and change nothing."""
    wanted = {item for kind in available(follower.cluster) for item in kind.objects}
    wanted |= companions.kinds(follower.cluster)
    name = follower.app(f"runs-{team}")
    rights = [f"p, proj:{name}:team, {what}, get, {name}/*, allow" for what in ("applications", "logs")]
    roles = [{"name": "team", "description": "Sees its runs", "groups": [group], "policies": rights}]
    return {
        "destinations": [follower.destination(follower.cluster.namespace_of(team))],
        **namespaced_kinds(wanted),
        "roles": roles if group else None,
    }


def namespaced_kinds(wanted: set[str]) -> dict[str, Any]:
    """Return the namespaced kinds that a project allows; an empty list would allow all, so none is said by refusing."""
    if not wanted:
        return {"namespaceResourceBlacklist": NOTHING}
    return {"namespaceResourceWhitelist": allowed_kinds(wanted)}


def allowed_kinds(wanted: Iterable[str]) -> list[dict[str, str]]:
    """Return kinds, given as `group/Kind`, as projects list them."""
    pairs = (kind.rpartition("/") for kind in sorted(set(wanted)))
    return [{"group": group, "kind": kind} for group, _, kind in pairs]


def kind_of(resource: Resource) -> str:
    """Return `group/Kind` of an object; the core group is empty."""
    return f"{resource.api_version.rpartition('/')[0]}/{resource.kind}"
