"""Whether each operator and release that a cluster names is known, new enough, and said to work on its Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.apiserver.catalog.releases import UNKNOWN, UNKNOWN_RELEASE, not_known
from trainyard.documents import Path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.operators import operators
from trainyard.operators.base import Site
from trainyard.operators.install import sites
from trainyard.releases import Facts, release
from trainyard.rules import Rule
from trainyard.specs import Cluster
from trainyard.specs.sources import Source
from trainyard.versions import order

DOCS = "docs/clusters.md"

UNLISTED = Rule(
    id="pairing/unlisted-release",
    title="Every release that a cluster has is known.",
    why="what differs from the release that it is said to be like is neither rendered nor judged",
    fix="read its release notes, and drop unlisted once Trainyard knows it",
    source=DOCS,
    layer="pairing",
    severity=Severity.WARNING,
)

NOT_INSTALLABLE = Rule(
    id="pairing/not-installable",
    title="An operator that Trainyard cannot install is said to be installed by somebody else.",
    why="nothing would install it",
    fix="install it, and say managed: false",
    source=DOCS,
    layer="pairing",
)
TOO_OLD = Rule(
    id="pairing/too-old",
    title="An operator is no older than what is written for it.",
    why="what is rendered would not be understood",
    fix="take a newer release",
    source=DOCS,
    layer="pairing",
)
KUBERNETES = Rule(
    id="pairing/kubernetes",
    title="An operator is said to work on the cluster's Kubernetes.",
    why="upstream has not tested the two together, or knows that they fail",
    fix="take a release that names this Kubernetes",
    source=DOCS,
    layer="pairing",
    may_warn=True,
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what is unknown, too old, or not said to work on the cluster's Kubernetes."""
    yield from check_names(cluster, source)
    yield from check_argocd(cluster, source)
    for site in sites(cluster):
        yield from check_release(site, source)


def check_names(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators that are unknown, and those that are known but that somebody else has to install."""
    known = operators()
    for name, choice in cluster.operators.items():
        path: Path = ("operators", name)
        if release(name) is None:
            message = f"operator {name!r} does not exist here; {did_you_mean(name, known)}"
            yield UNKNOWN.at(source, path, message, key=True)
        elif name not in known and choice.managed:
            message = f"operator {name!r} is not one that Trainyard installs; install it and say managed: false"
            yield NOT_INSTALLABLE.at(source, path, message, key=True)


def check_argocd(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield an Argo CD that is too old for what is written, or not tested on the cluster's Kubernetes."""
    facts = release("argo-cd")
    if facts is not None:
        yield from check_version("argo-cd", cluster.argocd.version, facts, cluster, source, ("argocd", "version"))


def check_release(site: Site, source: Source) -> Iterator[Finding]:
    """Yield a release that is unknown, too old, or not said to work on the cluster's Kubernetes."""
    path: Path = (*site.at, "version")
    too_old = list(check_version(site.name, site.version, site.facts, site.cluster, source, path, like=site.known))
    yield from too_old
    if not any(each.rule == TOO_OLD.id for each in too_old):
        yield from check_listed(site, source, path)


def check_listed(site: Site, source: Source, path: Path) -> Iterator[Finding]:
    """Yield a release that is not known; of one that is said to be like another, what that leaves unchecked."""
    facts, said = site.facts, site.choice.unlisted
    listed = facts.listed(site.choice.version)
    if listed is not None:
        if said is not None:
            message = f"{site.name} {listed} is known here, so that nothing stands for it; remove unlisted"
            yield UNKNOWN_RELEASE.at(source, (*site.at, "unlisted"), message, key=True)
        return
    if said is None:
        near = facts.nearest(site.version)
        fix = f'take one of these, or say what it is like: unlisted: {{like: "{near}", reason: <who looked at it>}}'
        yield UNKNOWN_RELEASE.at(source, path, not_known(site.name, site.version, facts.releases), fix=fix)
    elif facts.listed(said.like) is None:
        message = not_known(site.name, said.like, facts.releases)
        yield UNKNOWN_RELEASE.at(source, (*site.at, "unlisted", "like"), message)
    else:
        verb = "installed" if site.choice.managed else "there"
        message = f"{site.name} {site.version} is {verb}, but {unchecked(site)} are looked at as those of {site.known}"
        yield UNLISTED.at(source, path, message)


def unchecked(site: Site) -> str:
    """Return what of an unlisted release nothing here has seen."""
    parts = ["its API types"] if site.facts.crds else []
    parts += ["its chart's values"] if site.facts.chart is not None and site.choice.managed else []
    parts += ["its manifests"] if site.facts.manifests is not None and site.choice.managed else []
    return " and ".join([*parts, "what it goes with"])


def check_version(
    name: str, version: str, facts: Facts, cluster: Cluster, source: Source, path: Path, *, like: str = ""
) -> Iterator[Finding]:
    """Yield a version that is older than the oldest that serves, or whose range leaves the cluster's Kubernetes out.

    `like` is the known release whose range counts, by default the nearest.
    """
    if facts.oldest is not None and order(version) < order(facts.oldest.version):
        message = f"{name} {version} is too old: {facts.oldest.why}; take {facts.oldest.version} or newer"
        yield TOO_OLD.at(source, path, message, source=facts.sources.get("oldest"))
    known = facts.near(like or version)
    oldest, newest = known.kubernetes.oldest, known.kubernetes.newest
    if oldest is not None and order(cluster.minor) < order(oldest):
        message = f"{name} {version} needs Kubernetes {oldest} or newer, but the cluster runs {cluster.minor}"
        yield KUBERNETES.at(source, path, message, source=known.source)
    elif newest is not None and order(cluster.minor) > order(newest):
        message = f"{name} {version} is documented up to Kubernetes {newest}, but the cluster runs {cluster.minor}"
        yield KUBERNETES.at(source, path, message, severity=Severity.WARNING, source=known.source)
