"""Argo CD Applications: four classes, which fail differently and are synced differently.

Options as measured on Argo CD 3.2 with Kueue 0.19, JobSet 0.12 and Kubernetes 1.35.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents import Path, dump
from trainyard.base.labels import COMPARE_OPTIONS, IGNORE_HEALTH, MANIFEST_PATHS
from trainyard.render.kinds import available
from trainyard.render.operators import Operator, Site
from trainyard.render.operators.base import Instance
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.parts import prometheus
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.virtual_clusters import CLUSTERS, namespace
from trainyard.specs import Cluster, Repository
from trainyard.specs.releases.facts import Manifests

API = "argoproj.io/v1alpha1"
VIRTUAL = "virtual-clusters"
"""Folder of virtual clusters, and their project."""

SETTINGS = "argocd/settings"
"""Folder of what Argo CD itself is told; the root Application does not look into it."""

LOCAL = "https://kubernetes.default.svc"
"""The cluster that Argo CD itself runs in, where Applications and projects live."""

OWN_FOLDER = {MANIFEST_PATHS: "."}
"""A commit elsewhere in the repository renders nothing anew."""

SERVER_SIDE_DIFF = {COMPARE_OPTIONS: "ServerSideDiff=true"}
"""With server-side apply, defaults of definitions would else be differences for ever."""

OWN_DIFF = {COMPARE_OPTIONS: "ServerSideDiff=false"}
"""Compared by Argo CD itself, also where its controller is told to compare by the server.

A webhook that refuses one run would else hold up all of its team (argo-cd v3.6.1 controller/state.go
shouldUseServerSideDiff: what an Application says comes before the flag).
"""

OWN_HEALTH = {IGNORE_HEALTH: "true"}
"""The root Application is as healthy as the platform; a job that queues, trains or fails does not change that.

Argo CD reads it from the objects of an Application, which those of the root are (argo-cd v3.2.6 controller/health.go).
"""

BACKOFF = {"duration": "10s", "factor": 2, "maxDuration": "3m"}
"""Pauses between attempts: 10, 20, 40, 80, 160 seconds, then three minutes each."""

WAITING = {"limit": -1, "refresh": True, "backoff": BACKOFF}
"""Retries without an end; a newer commit is taken at the next attempt.

On a new cluster types, webhooks and namespaces come when nodes and registries do, which takes days at times. After its
last attempt Argo CD never tries a revision again, whatever selfHeal says, nor for commits that change other folders
(argo-cd v3.2.6 controller/appcontroller.go autoSync, alreadyAttemptedSync; docs/operator-manual/application.yaml).
"""

BY_HAND = {"limit": 5, "refresh": True, "backoff": BACKOFF}
"""Five minutes of retries: whoever syncs by hand looks on, and nothing shall drain nodes in the middle of the night."""

FOLLOW: dict[str, Any] = {"enabled": True, "prune": True, "selfHeal": True}
"""What is in Git is in the cluster; no field is written that says `false`.

Argo CD writes Applications back without empty fields and would then hold them for out of sync, for ever (seen on 3.2).
"""

KEEP: dict[str, Any] = {"enabled": True, "selfHeal": True}
"""For charts: what a new release no longer has stays, definitions above all, until a person removes it."""

ONCE: dict[str, Any] = {"enabled": True, "prune": True}
"""For runs: a retired run stops, nothing is healed, and so a finished run is never made again."""

CERTIFICATES: tuple[dict[str, Any], ...] = (
    {
        "group": "admissionregistration.k8s.io",
        "kind": "MutatingWebhookConfiguration",
        "jqPathExpressions": [".webhooks[]?.clientConfig.caBundle"],
    },
    {
        "group": "admissionregistration.k8s.io",
        "kind": "ValidatingWebhookConfiguration",
        "jqPathExpressions": [".webhooks[]?.clientConfig.caBundle"],
    },
    {
        "group": "apiextensions.k8s.io",
        "kind": "CustomResourceDefinition",
        "jqPathExpressions": [".spec.conversion.webhook.clientConfig.caBundle"],
    },
)
"""What operators and cert-manager write into the objects of a chart."""


@dataclass(frozen=True, slots=True)
class Follower:
    """A cluster that follows a repository, as Applications name it."""

    name: str
    cluster: Cluster
    repository: Repository

    def app(self, part: str) -> str:
        """Return the name of an Application or project: unique among all clusters of one Argo CD."""
        return f"{self.name}-{part}"

    def folder(self, path: str, *, recurse: bool = False) -> dict[str, Any]:
        """Return a folder of this cluster as an Application's source: plain files, no other renderer."""
        return {
            "repoURL": self.repository.repo_url,
            "targetRevision": self.repository.revision,
            "path": f"{self.repository.path}/{self.name}/{path}",
            "directory": {"recurse": True, "include": "*.yaml"} if recurse else {"include": "*.yaml"},
        }

    def destination(self, namespace: str) -> dict[str, Any]:
        """Return the cluster and a namespace as an Application's destination."""
        where = self.cluster.argocd.destination
        return {"name": where.name, "server": where.server, "namespace": namespace}

    def argocd(self) -> dict[str, Any]:
        """Return Argo CD's own namespace as a destination."""
        return {"server": LOCAL, "namespace": self.cluster.argocd.namespace}


@dataclass(frozen=True, slots=True)
class App:
    """One Application before it is written."""

    part: str
    """Its name without the cluster's."""
    project: str
    at: Path
    source: Mapping[str, Any]
    destination: Mapping[str, Any]
    options: Sequence[str]
    automated: Mapping[str, Any] | None
    retry: Mapping[str, Any] = field(default_factory=lambda: WAITING)
    annotations: Mapping[str, str] = field(default_factory=dict)
    ignore: Sequence[Mapping[str, Any]] = ()
    of: str = "cluster"


def resources(follower: Follower, folders: Collection[str]) -> Iterator[Resource]:
    """Yield every Application of the cluster; none cascades, so that removing one removes nothing but itself.

    `folders` are the paths that exist: an Application of a folder that does not is in error for ever.
    """
    apps = [root(follower)]
    for site, known in installed_operators(follower.cluster):
        apps += chart_apps(follower, site, known)
        apps += [
            manifests_app(follower, site, known, manifests)
            for manifests in (site.facts.manifests,)
            if manifests is not None
        ]
        apps += [operator_app(follower, site)] if f"operators/{site.name}" in folders else []
    single = {SETTINGS: settings_app, "hardware": hardware_app, "platform": platform_app, "monitoring": monitoring_app}
    apps += [make(follower) for path, make in single.items() if path in folders]
    apps += [
        virtual_app(follower, name) for name in follower.cluster.virtual_clusters if f"{VIRTUAL}/{name}" in folders
    ]
    for team in follower.cluster.teams():
        apps += [team_app(follower, team)] if f"teams/{team}" in folders else []
        apps += [runs_app(follower, team)] if f"runs/{team}" in folders else []
    yield from (application_object(follower, app) for app in apps)


def application_object(follower: Follower, app: App) -> Resource:
    """Return an Application as an object of Argo CD's namespace."""
    spec = {
        "project": follower.app(app.project),
        "source": app.source,
        "destination": app.destination,
        "syncPolicy": {"automated": app.automated, "syncOptions": list(app.options), "retry": app.retry},
        "ignoreDifferences": [dict(rule) for rule in app.ignore] or None,
    }
    return Resource(
        API,
        "Application",
        follower.app(app.part),
        app.at,
        follower.cluster.argocd.namespace,
        annotations={**OWN_FOLDER, **app.annotations} if "directory" in app.source else app.annotations,
        fields={"spec": spec},
        source=app.of,
    )


def root(follower: Follower) -> App:
    """Return the Application that syncs all others; applying it and its project by hand once is all there is to do."""
    options = ["ApplyOutOfSyncOnly=true", "FailOnSharedResource=true"]
    source, notes = follower.folder("argocd"), OWN_DIFF
    return App("argocd", "argocd", ("argocd",), source, follower.argocd(), options, FOLLOW, annotations=notes)


def settings_app(follower: Follower) -> App:
    """Return the Application of `argocd-cm`, of which only our keys are ours.

    Nothing is pruned, and fields that were applied by kubectl stay: moving their ownership, as Argo CD does by
    default, would remove every key that is not ours (argo-cd v3.2.6 docs/user-guide/sync-options.md).
    """
    options = ["ServerSideApply=true", "ClientSideApplyMigration=false"]
    source = follower.folder(SETTINGS)
    return App(
        "settings", "argocd", ("argocd",), source, follower.argocd(), options, KEEP, annotations=SERVER_SIDE_DIFF
    )


OF_OPERATORS = ("ServerSideApply=true", "SkipDryRunOnMissingResource=true", "FailOnSharedResource=true")


def upstream_app(follower: Follower, site: Site, form: str, source: Mapping[str, Any]) -> App:
    """Return the Application of what an operator's project publishes, in one form or another."""
    return App(
        f"operators-{site.name}-{form}",
        "operators",
        site.at,
        source,
        follower.destination(site.facts.namespace),
        [*OF_OPERATORS, "RespectIgnoreDifferences=true"],
        KEEP,
        annotations=SERVER_SIDE_DIFF,
        ignore=[*CERTIFICATES, *filled(site)],
    )


def filled(site: Site) -> Iterator[dict[str, Any]]:
    """Yield the Secret that an operator fills itself, so that Argo CD does not empty it again."""
    if site.facts.fills_secret is not None:
        yield {"kind": "Secret", "name": site.facts.fills_secret, "jsonPointers": ["/data"]}


def chart_app(follower: Follower, site: Site, known: Operator) -> App:
    """Return the Application of an operator's chart, pinned, with its values inline."""
    return upstream_app(follower, site, "chart", chart_source(site, site.name, values(site, known)))


def chart_source(site: Site, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart as an Application's source, with the name of its Helm release and its values."""
    chart = site.facts.chart
    return {
        "repoURL": chart.repository if chart else None,
        **({"path": chart.path} if chart and chart.path else {"chart": chart.name if chart else None}),
        "targetRevision": f"v{site.version}" if chart and chart.v_prefix else site.version,
        "helm": {"releaseName": name, "valuesObject": given},
    }


def chart_apps(follower: Follower, site: Site, known: Operator) -> Iterator[App]:
    """Yield the Application of an operator's chart, or one for each time that the chart is installed."""
    instances = known.instances(site)
    if site.facts.chart is None:
        return
    if instances is None:
        yield chart_app(follower, site, known)
    else:
        yield from (instance_app(follower, site, instance) for instance in instances)


def instance_app(follower: Follower, site: Site, instance: Instance) -> App:
    """Return the Application of one virtual cluster's control plane, which may make nothing outside its namespace."""
    return App(
        f"{site.name}-{instance.name}-chart",
        VIRTUAL,
        instance.at,
        chart_source(site, instance.name, instance.values),
        follower.destination(instance.namespace),
        [*OF_OPERATORS, "RespectIgnoreDifferences=true"],
        KEEP,
        annotations=SERVER_SIDE_DIFF,
    )


def manifests_app(follower: Follower, site: Site, known: Operator, manifests: Manifests) -> App:
    """Return the Application of an operator's manifests, pinned by tag, with our changes inline.

    The namespace is of our own folder, where it says its Pod Security level.
    """
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": site.facts.namespace}}
    changes = [{"$patch": "delete", **namespace}, *known.changes(site)]
    images = [image.format(version=site.version) for image in manifests.images]
    source = {
        "repoURL": manifests.repository,
        "targetRevision": f"v{site.version}" if manifests.v_prefix else site.version,
        "path": manifests.path,
        "kustomize": {"images": images or None, "patches": [change(one_change) for one_change in changes]},
    }
    return upstream_app(follower, site, "manifests", source)


def change(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change of an object as Kustomize takes it: what it is of, and the text that is merged."""
    return {"target": {"kind": value["kind"], "name": value["metadata"]["name"]}, "patch": dump(value)}


def operator_app(follower: Follower, site: Site) -> App:
    """Return the Application of an operator's own folder: its namespace and its configuration."""
    part, where = f"operators-{site.name}", follower.destination(site.facts.namespace)
    source = follower.folder(f"operators/{site.name}")
    return App(part, "operators", site.at, source, where, OF_OPERATORS, FOLLOW, annotations=SERVER_SIDE_DIFF)


def hardware_app(follower: Follower) -> App:
    """Return the Application of what drains or reboots nodes: synced by hand, outside the deny windows."""
    where, at = follower.destination("default"), ("argocd", "hardwareDeny")
    source = follower.folder("hardware")
    options, notes = OF_OPERATORS, SERVER_SIDE_DIFF
    return App("hardware", "hardware", at, source, where, options, None, BY_HAND, annotations=notes)


def virtual_app(follower: Follower, name: str) -> App:
    """Return the Application of what bounds a virtual cluster; its objects say themselves that they stay."""
    source, where, at = follower.folder(f"{VIRTUAL}/{name}"), follower.destination(namespace(name)), (CLUSTERS, name)
    options, notes = OF_OPERATORS, SERVER_SIDE_DIFF
    return App(f"{VIRTUAL}-{name}", VIRTUAL, at, source, where, options, FOLLOW, annotations=notes)


OF_PLATFORM = ("ApplyOutOfSyncOnly=true", "SkipDryRunOnMissingResource=true", "FailOnSharedResource=true")


def platform_app(follower: Follower) -> App:
    """Return the Application of what all teams share."""
    source, where, notes = follower.folder("platform"), follower.destination("default"), OWN_DIFF
    return App("platform", "platform", ("queues",), source, where, OF_PLATFORM, FOLLOW, annotations=notes)


def monitoring_app(follower: Follower) -> App:
    """Return the Application of monitors and rules, apart from all else: it waits for their definitions alone."""
    where = follower.destination(prometheus.namespace(follower.cluster) or "default")
    source = follower.folder("monitoring")
    options, notes = OF_OPERATORS, SERVER_SIDE_DIFF
    return App("monitoring", "monitoring", ("monitoring",), source, where, options, FOLLOW, annotations=notes)


OF_TEAMS = ("ApplyOutOfSyncOnly=true", "FailOnSharedResource=true")
"""Whole or not at all: without the types of queues and networks there is no namespace either, and so no run.

A Job needs no operator to start. Runs of a cluster where Kueue or Multus is yet to come would start past every quota,
and on the pods' network.
"""


def team_app(follower: Follower, team: str) -> App:
    """Return the Application of a team's namespace; claims and the namespace say themselves that they stay."""
    source, notes = follower.folder(f"teams/{team}"), OWN_DIFF
    where = follower.destination(follower.cluster.namespace_of(team))
    return App(f"teams-{team}", "teams", (), source, where, OF_TEAMS, FOLLOW, annotations=notes, of=f"team/{team}")


def runs_app(follower: Follower, team: str) -> App:
    """Return the Application of a team's runs.

    One wave, no hooks, no self-heal, client-side diff. Objects in sync are left alone, which is a condition, not an
    optimisation: a second apply of a JobSet is refused and one of a Ray cluster takes its node selector away. A run
    whose type is not served holds no other up.
    """
    options = [*OF_PLATFORM, "RespectIgnoreDifferences=true"]
    release = follower.cluster.argocd.version
    ignore = [rule for kind in available(follower.cluster) for rule in kind.ignored(release)]
    source = follower.folder(f"runs/{team}", recurse=True)
    where = follower.destination(follower.cluster.namespace_of(team))
    part, notes = f"runs-{team}", {**OWN_HEALTH, **OWN_DIFF}
    return App(part, part, (), source, where, options, ONCE, annotations=notes, ignore=ignore, of=f"team/{team}")
