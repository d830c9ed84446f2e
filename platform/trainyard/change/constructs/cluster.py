"""What a cluster has beside its runs: the platform, operators, hardware, kubelets, teams, and Argo CD."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from constructs import Construct

from trainyard.base.errors import SpecError
from trainyard.base.findings import did_you_mean
from trainyard.base.manifests import Identity
from trainyard.change.constructs.base import Objects
from trainyard.change.constructs.site import Document, Site, Space
from trainyard.render import clusters
from trainyard.render.clusters import (
    alerts,
    argocd,
    buckets,
    burn_in,
    ceph_buckets,
    dashboards,
    gke_networks,
    monitors,
    nets,
    nodes,
    platform,
    rehearsal,
    settings,
    snapshots,
    software,
    virtual_clusters,
)
from trainyard.render.clusters import team as _team
from trainyard.render.operators.install import installed_operators
from trainyard.specs import Team
from trainyard.specs.sources import Specs

NOTHING: frozenset[Identity] = frozenset()


class QueueSet(Objects):
    """Flavors, their topology, cohorts and queues of a cluster; nothing where it has no queues."""

    def __init__(self, scope: Construct, id_: str, *, site: Site, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(platform.queueing_objects(site.cluster))


class Platform(Objects):
    """What one cluster has for all teams: queues, priorities, storage classes, networks, and its policies.

    `policies` are ValidatingAdmissionPolicies as documents; those that the site's repository switches off are left
    out. Beside them there are always those that hold what runs of teams may be.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        site: Site,
        policies: Sequence[Document] = (),
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        self.part(QueueSet(self, "queues", site=site, without=without))
        self.put(platform.priorities(site.cluster))
        self.put(platform.storage(site.cluster))
        self.put(buckets.volumes(site.cluster))
        self.put(snapshots.resources(site.cluster))
        self.put(burn_in.resources(site.cluster))
        self.put(gke_networks.resources(site.cluster))
        self.put(platform.policies(site.repository, policies))
        self.put(platform.tenancy(site.name, site.cluster))


class Monitoring(Objects):
    """Monitors of what runs on a cluster, rules, alerts and dashboards; nothing where it has no `monitoring`."""

    def __init__(self, scope: Construct, id_: str, *, site: Site, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(monitors.resources(site.cluster))
        self.put(alerts.resources(site.cluster))
        self.put(dashboards.resources(site.cluster))


class OperatorInstall(Objects):
    """An operator's namespace and its own resources; the chart itself is installed by its Application, see `ArgoCd`.

    Raises SpecError for an operator that the cluster does not install.
    """

    def __init__(
        self, scope: Construct, id_: str, *, operator: str, site: Site, without: frozenset[Identity] = NOTHING
    ) -> None:
        super().__init__(scope, id_, without=without)
        found = {one_site.name: (one_site, known) for one_site, known in installed_operators(site.cluster)}
        if operator not in found:
            near = did_you_mean(operator, found)
            raise SpecError(f"operator {operator!r} is not installed on cluster {site.name!r}; {near}")
        self.put(software.operator(*found[operator]))


class VirtualCluster(Objects):
    """What bounds a virtual cluster on its host, and the right of a team to its kubeconfig.

    Raises SpecError for a virtual cluster that the cluster does not have.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        site: Site,
        team: Team | None,
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        found = site.cluster.virtual_clusters
        if name not in found:
            near = did_you_mean(name, found)
            raise SpecError(f"virtual cluster {name!r} does not exist on cluster {site.name!r}; {near}")
        self.put(virtual_clusters.resources(site.cluster, name, team))


class Hardware(Objects):
    """What drains, reboots or reconfigures nodes: a change of it is synced by hand."""

    def __init__(self, scope: Construct, id_: str, *, site: Site, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(software.hardware(site.cluster))


class KubeletSettings(Construct):
    """Files for the nodes of a pool, for their image or machine configuration: `files`, texts by name.

    They are no objects, so that a chart writes nothing of them.

    Raises SpecError for a pool that the cluster does not have.
    """

    def __init__(self, scope: Construct, id_: str, *, pool: str, site: Site) -> None:
        super().__init__(scope, id_)
        pools = site.cluster.pools
        if pool not in pools:
            raise SpecError(f"pool {pool!r} does not exist on cluster {site.name!r}; {did_you_mean(pool, pools)}")
        self.files = {file.name: file.text for file in nodes.files(site.cluster, pool)}


class CheckpointClaims(Objects):
    """A team's claims on the storage that the cluster has, kept whatever vanishes from Git."""

    def __init__(self, scope: Construct, id_: str, *, space: Space, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        claims = list(_team.volumes(space.site.name, space.site.cluster, space.name, space.team))
        self.put(claims)
        self.put(rehearsal.volumes(space.site.cluster, claims))
        self.put(buckets.claims(space.site.cluster, space.name))
        self.put(ceph_buckets.claims(space.site.cluster, space.name))
        self.put(snapshots.rights(space.site.cluster, space.name))


class FabricNetworks(Objects):
    """A network for each rail of the fabric in a team's namespace; nothing where the team has no use for one."""

    def __init__(self, scope: Construct, id_: str, *, space: Space, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(nets.attachments(space.site.cluster, space.name))


class TeamSpace(Objects):
    """What a team has on a cluster: namespace, queues, rights, network policies, claims and networks of the fabric."""

    def __init__(self, scope: Construct, id_: str, *, space: Space, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        site = space.site
        self.put(_team.space(site.name, site.cluster, space.name, space.team, site.repository, space.own))
        self.part(CheckpointClaims(self, "claims", space=space, without=without))
        self.part(FabricNetworks(self, "networks", space=space, without=without))


class TeamRuns(Objects):
    """The one object beside a team's runs, which keeps their folder and its Application alive."""

    def __init__(self, scope: Construct, id_: str, *, space: Space) -> None:
        super().__init__(scope, id_)
        self.put([_team.permanent(space.site.cluster, space.name)])


class ArgoCd(Objects):
    """Projects, and an Application for each of a cluster's folders; `folders` are by default all that it has.

    `specs` are a whole repository's, as `trainyard.specs.load.read_repository(root).specs` reads them. `own` has the
    kinds of objects that the repository adds to a folder, as `group/Kind` with their namespace. Raises SpecError for
    a cluster that is not among the specs.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        specs: Specs,
        cluster_name: str,
        folders: Collection[str] | None = None,
        own: Mapping[str, Sequence[tuple[str, str | None]]] | None = None,
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        if cluster_name not in specs.clusters:
            raise SpecError(f"cluster {cluster_name!r} does not exist; {did_you_mean(cluster_name, specs.clusters)}")
        if folders is None:
            folders = [path for path in clusters.folders(specs, cluster_name) if path != "argocd"]
        self.put(argocd.resources(specs, cluster_name, folders, own or {}))


class ArgoCdSettings(Objects):
    """What Argo CD must be told once: health of kinds that it does not know, and fields that controllers write."""

    def __init__(self, scope: Construct, id_: str, *, site: Site) -> None:
        super().__init__(scope, id_)
        self.put([settings.resource(site.cluster)])
