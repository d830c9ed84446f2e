"""Whether each operator and release that a cluster names is known, new enough, and said to work on its Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.versions import exact, order
from trainyard.render.operators import operators
from trainyard.render.operators.base import Site
from trainyard.render.operators.install import sites
from trainyard.render.operators.kueue import Kueue, gates
from trainyard.specs import Cluster
from trainyard.specs.releases import Facts, release
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.catalog.releases import UNKNOWN, UNKNOWN_RELEASE, not_known

DOCS = "docs/clusters.md"

UNLISTED = Rule(
    id="pairing/unlisted-release",
    title="Every release of an operator is known to Trainyard.",
    why=(
        "an unknown release is treated like the one in unlisted.like, so its differences are neither rendered nor "
        "checked"
    ),
    fix="read the release notes, and remove unlisted once Trainyard knows the release",
    source=DOCS,
    layer="pairing",
    severity=Severity.WARNING,
)

NOT_INSTALLABLE = Rule(
    id="pairing/not-installable",
    title="An operator that Trainyard cannot install has managed: false.",
    why="otherwise nothing installs it",
    fix="install the operator yourself, and set managed: false",
    source=DOCS,
    layer="pairing",
)
UNREAD = Rule(
    id="pairing/unread-chart",
    title="It is known which cluster-scoped kinds an operator's release makes.",
    why="the AppProject of the operators allows only kinds that it names, so Argo CD would refuse the others",
    fix='read the chart with make schemas ARGS="--charts <folder>", or name clusterKinds in the facts of the operator',
    source="argoproj/argo-cd v3.2.6 pkg/apis/application/v1alpha1/types.go AppProjectSpec.ClusterResourceWhitelist",
    layer="pairing",
)
TOO_OLD = Rule(
    id="pairing/too-old",
    title="An operator is at least the oldest release that Trainyard supports.",
    why="an older release does not understand the rendered objects",
    fix="use a newer release",
    source=DOCS,
    layer="pairing",
)
NO_EFFECT = Rule(
    id="pairing/kubernetes-value",
    title="A chart's switch or a feature gate works on the cluster's Kubernetes.",
    why="the API that it needs is not there, so it has no effect, or the operator does not start",
    fix="remove the value, or update Kubernetes first",
    source=DOCS,
    layer="pairing",
    severity=Severity.WARNING,
)
KUBERNETES = Rule(
    id="pairing/kubernetes",
    title="An operator's release supports the cluster's Kubernetes.",
    why="upstream has not tested this combination, or knows that it fails",
    fix="use a release that supports this Kubernetes",
    source=DOCS,
    layer="pairing",
    may_warn=True,
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the findings on releases that are unknown, too old, or not known to work on the cluster's Kubernetes."""
    yield from check_names(cluster, source)
    yield from check_argocd(cluster, source)
    for site in sites(cluster):
        yield from check_release(site, source)
        yield from check_kinds(site, source)
        yield from check_since(site, source)


def check_names(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators that are unknown, and those that are known but that somebody else has to install."""
    known = operators()
    for name, choice in cluster.operators.items():
        path: Path = ("operators", name)
        if release(name) is None:
            message = f"operator {name!r} does not exist in Trainyard; {did_you_mean(name, known)}"
            yield UNKNOWN.at(source, path, message, key=True)
        elif name not in known and choice.managed:
            message = f"Trainyard cannot install operator {name!r}; install it yourself, and set managed: false"
            yield NOT_INSTALLABLE.at(source, path, message, key=True)


def check_argocd(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield an Argo CD that is too old for what is written, or not tested on the cluster's Kubernetes."""
    facts = release("argo-cd")
    if facts is not None:
        yield from check_version("argo-cd", cluster.argocd.version, facts, cluster, source, ("argocd", "version"))


def check_release(site: Site, source: Source) -> Iterator[Finding]:
    """Yield a release that is unknown, too old, or not said to work on the cluster's Kubernetes."""
    path: Path = (*site.at, "version")
    too_old = list(
        check_version(site.name, site.version, site.facts, site.cluster, source, path, like=site.known_version)
    )
    yield from too_old
    if not any(finding.rule == TOO_OLD.id for finding in too_old):
        yield from check_listed(site, source, path)


def check_listed(site: Site, source: Source, path: Path) -> Iterator[Finding]:
    """Yield a release that is not known; of one that is said to be like another, what that leaves unchecked."""
    facts, said = site.facts, site.choice.unlisted
    listed = facts.known_release(site.choice.version)
    if listed is not None:
        if said is not None:
            message = f"Trainyard knows {site.name} {listed}, so unlisted is not needed; remove it"
            yield UNKNOWN_RELEASE.at(source, (*site.at, "unlisted"), message, key=True)
        return
    if said is None:
        near = facts.nearest(site.version)
        fix = f'use one of these, or set unlisted: {{like: "{near}", reason: <who looked at it>}}'
        yield UNKNOWN_RELEASE.at(source, path, not_known(site.name, site.version, facts.releases), fix=fix)
    elif facts.known_release(said.like) is None:
        message = not_known(site.name, said.like, facts.releases)
        yield UNKNOWN_RELEASE.at(source, (*site.at, "unlisted", "like"), message)
    else:
        verb = "installed" if site.choice.managed else "there"
        parts = unchecked_parts(site)
        message = f"{site.name} {site.version} is {verb}; {parts} are checked as those of {site.known_version}"
        yield UNLISTED.at(source, path, message)


def check_kinds(site: Site, source: Source) -> Iterator[Finding]:
    """Yield a release that is ours to install, and of which nobody has read the cluster-scoped kinds that it makes."""
    if not site.choice.managed or site.name not in operators() or site.release.cluster_kinds is not None:
        return
    message = f"the cluster-scoped kinds that {site.name} {site.known_version} creates are unknown"
    yield UNREAD.at(source, (*site.at, "version"), message, fix=unread_fix(site))


def check_since(site: Site, source: Source) -> Iterator[Finding]:
    """Yield switches and gates of an operator that are on and need a newer Kubernetes than the cluster's."""
    on = {name for name, enabled in gates(site.cluster).items() if enabled} if site.name == Kueue.name else set()
    for one in site.facts.since:
        if order(site.cluster.minor) >= order(one.kubernetes):
            continue
        newer = f"needs Kubernetes {one.kubernetes}, but the cluster runs {site.cluster.minor}: {one.why}; remove it"
        if one.value is not None and lookup(site.choice.values, one.value) is True:
            path: Path = (*site.at, "values", *one.value.split("."))
            yield NO_EFFECT.at(source, path, f"{one.value} {newer}", source=one.source)
        if one.gate is not None and one.gate in on:
            yield NO_EFFECT.at(source, (*site.at, "values"), f"Kueue's gate {one.gate} {newer}", source=one.source)


def unread_fix(site: Site) -> str:
    """Return the fix for a chart, or for manifests, that nobody has read."""
    if site.facts.chart is None:
        return f"list them as clusterKinds in the facts of {site.name}, or clusterKinds: [] if there are none"
    pull = f"pull the chart into <folder>/{site.name}/{site.known_version}/{site.facts.chart.name}"
    return f'{pull} and run make schemas ARGS="--charts <folder>", or name clusterKinds in the facts of {site.name}'


def unchecked_parts(site: Site) -> str:
    """Return the parts of an unlisted release that no check here has read."""
    parts = ["its API types"] if site.facts.crds else []
    parts += ["its chart's values"] if site.facts.chart is not None and site.choice.managed else []
    parts += ["its manifests"] if site.facts.manifests is not None and site.choice.managed else []
    compared = site.facts.hooks_as(site.version)
    parts += ["its webhooks"] if compared is not None and not exact(site.version, compared) else []
    return " and ".join([*parts, "what it goes with"])


def check_version(
    name: str, version: str, facts: Facts, cluster: Cluster, source: Source, path: Path, *, like: str = ""
) -> Iterator[Finding]:
    """Yield a version that is older than the oldest that serves, or whose range leaves the cluster's Kubernetes out.

    `like` is the known release whose range counts, by default the nearest.
    """
    choice = cluster.operators.get(name)
    if facts.oldest and facts.is_too_old(version, managed=choice is None or choice.managed):
        message = f"{name} {version} is too old: {facts.oldest.why}; use {facts.oldest.version} or newer"
        yield TOO_OLD.at(source, path, message, source=facts.sources.get("oldest"))
    known = facts.near(like or version)
    oldest, newest = known.kubernetes.oldest, known.kubernetes.newest
    if oldest is not None and order(cluster.minor) < order(oldest):
        message = f"{name} {version} needs Kubernetes {oldest} or newer, but the cluster runs {cluster.minor}"
        yield KUBERNETES.at(source, path, message, source=known.source)
    elif newest is not None and order(cluster.minor) > order(newest):
        message = f"{name} {version} is documented up to Kubernetes {newest}, but the cluster runs {cluster.minor}"
        yield KUBERNETES.at(source, path, message, severity=Severity.WARNING, source=known.source)
