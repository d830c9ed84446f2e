"""What a cluster has beside its runs: the platform, operators, hardware, kubelets, teams, and Argo CD."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from constructs import Construct

from trainyard import clusters
from trainyard.clusters import argocd, nets, nodes, platform, settings, software
from trainyard.clusters import team as _team
from trainyard.constructs.base import Objects
from trainyard.errors import SpecError
from trainyard.findings import did_you_mean
from trainyard.manifests import Identity
from trainyard.operators.install import installed
from trainyard.specs import Cluster, Repository, Team
from trainyard.specs.sources import Specs

NOTHING: frozenset[Identity] = frozenset()
Document = Mapping[str, Any]


class QueueSet(Objects):
    """Flavors, their topology, cohorts and queues of a cluster; nothing where it has no queues."""

    def __init__(self, scope: Construct, id_: str, *, cluster: Cluster, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(platform.queueing(cluster))


class Platform(Objects):
    """What one cluster has for all teams: its queues, priorities, storage classes, and the policies that it enforces.

    `policies` are ValidatingAdmissionPolicies as documents; those that `repository` switches off are left out. With the
    cluster's name there are those that hold what runs of teams may be.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: Cluster,
        cluster_name: str | None = None,
        repository: Repository | None = None,
        policies: Sequence[Document] = (),
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        self.part(QueueSet(self, "queues", cluster=cluster, without=without))
        self.put(platform.priorities(cluster))
        self.put(platform.storage(cluster))
        if repository is not None:
            self.put(platform.policies(repository, policies))
        if cluster_name is not None:
            self.put(platform.tenancy(cluster_name, cluster))


class OperatorInstall(Objects):
    """An operator's namespace and its own resources; the chart itself is installed by its Application, see `ArgoCd`.

    Raises SpecError for an operator that the cluster does not install.
    """

    def __init__(
        self, scope: Construct, id_: str, *, operator: str, cluster: Cluster, without: frozenset[Identity] = NOTHING
    ) -> None:
        super().__init__(scope, id_, without=without)
        found = {site.name: (site, known) for site, known in installed(cluster)}
        if operator not in found:
            raise SpecError(f"operator {operator!r} is not installed on this cluster; {did_you_mean(operator, found)}")
        self.put(software.operator(*found[operator]))


class Hardware(Objects):
    """What drains, reboots or reconfigures nodes: a change of it is synced by hand."""

    def __init__(self, scope: Construct, id_: str, *, cluster: Cluster, without: frozenset[Identity] = NOTHING) -> None:
        super().__init__(scope, id_, without=without)
        self.put(software.hardware(cluster))


class KubeletSettings(Construct):
    """Files for the nodes of a pool, for their image or machine configuration: `files`, texts by name.

    They are no objects, so that a chart writes nothing of them.

    Raises SpecError for a pool that the cluster does not have.
    """

    def __init__(self, scope: Construct, id_: str, *, pool: str, cluster: Cluster) -> None:
        super().__init__(scope, id_)
        if pool not in cluster.pools:
            raise SpecError(f"pool {pool!r} does not exist on this cluster; {did_you_mean(pool, cluster.pools)}")
        self.files = {file.name: file.text for file in nodes.files(cluster, pool)}


class CheckpointClaims(Objects):
    """A team's claims on the storage that the cluster has, kept whatever vanishes from Git."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        team_name: str,
        team: Team,
        cluster_name: str,
        cluster: Cluster,
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        self.put(_team.volumes(cluster_name, cluster, team_name, team))


class FabricNetworks(Objects):
    """A network for each rail of the fabric in a team's namespace; nothing where the team has no use for one."""

    def __init__(
        self, scope: Construct, id_: str, *, team_name: str, cluster: Cluster, without: frozenset[Identity] = NOTHING
    ) -> None:
        super().__init__(scope, id_, without=without)
        self.put(nets.attachments(cluster, team_name))


class TeamSpace(Objects):
    """What a team has on a cluster: namespace, queues, rights, network policies, claims and networks of the fabric.

    `own` are objects that the platform adds to the cluster: runtimes and templates of claims which runs may name.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        team_name: str,
        team: Team,
        cluster_name: str,
        cluster: Cluster,
        repository: Repository | None = None,
        own: Sequence[Document] = (),
        without: frozenset[Identity] = NOTHING,
    ) -> None:
        super().__init__(scope, id_, without=without)
        self.put(_team.space(cluster_name, cluster, team_name, team, repository, own))
        claims = CheckpointClaims(
            self,
            "claims",
            team_name=team_name,
            team=team,
            cluster_name=cluster_name,
            cluster=cluster,
            without=without,
        )
        self.part(claims)
        self.part(FabricNetworks(self, "networks", team_name=team_name, cluster=cluster, without=without))


class TeamRuns(Objects):
    """The one object beside a team's runs, which keeps their folder and its Application alive."""

    def __init__(self, scope: Construct, id_: str, *, team_name: str) -> None:
        super().__init__(scope, id_)
        self.put([_team.permanent(team_name)])


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

    def __init__(self, scope: Construct, id_: str, *, cluster: Cluster) -> None:
        super().__init__(scope, id_)
        self.put([settings.resource(cluster)])
