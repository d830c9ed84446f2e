"""What operators make of each other and of the cluster: releases, Kubernetes, needs, exclusions, shared parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.operators import operators
from trainyard.operators.base import Site
from trainyard.operators.install import bundlers, sites
from trainyard.operators.kueue import configuration, frameworks, shares_fairly
from trainyard.releases import Facts, nearest, order, release
from trainyard.sizing.fabric import RDMA, SECONDARY
from trainyard.specs import Cluster
from trainyard.specs.sources import Source


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield every way in which the cluster's operators do not fit together, or do not fit the cluster."""
    yield from check_names(cluster, source)
    yield from check_argocd(cluster, source)
    for site in sites(cluster):
        yield from check_release(site, source)
        yield from check_company(site, source)
    yield from check_definitions(cluster, source)
    yield from check_bundles(cluster, source)
    yield from check_fabric(cluster, source)
    yield from check_queues(cluster, source)


def check_names(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators that are unknown, and those that are known but that somebody else has to install."""
    known = operators()
    for name, choice in cluster.operators.items():
        path: Path = ("operators", name)
        if release(name) is None:
            message = f"operator {name!r} does not exist here; {did_you_mean(name, known)}"
            yield finding("unknown-operator", message, source, path, key=True)
        elif name not in known and choice.managed:
            message = f"operator {name!r} is not one that Trainyard installs; install it and say managed: false"
            yield finding("not-installable", message, source, path, key=True)


def check_argocd(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield an Argo CD that is too old for what is written, or not tested on the cluster's Kubernetes."""
    facts = release("argo-cd")
    if facts is not None:
        yield from check_version("argo-cd", cluster.argocd.version, facts, cluster, source, ("argocd", "version"))


def check_release(site: Site, source: Source) -> Iterator[Finding]:
    """Yield a release that is unknown, too old, or not said to work on the cluster's Kubernetes."""
    path: Path = (*site.at, "version")
    found = nearest(site.facts, site.version)
    if order(found) != order(site.version):
        message = f"{site.name} {site.version} is not known here; the nearest known release {found} is used instead"
        yield finding("near-release", message, source, path, severity=Severity.WARNING)
    yield from check_version(site.name, site.version, site.facts, site.cluster, source, path)


def check_version(
    name: str, version: str, facts: Facts, cluster: Cluster, source: Source, path: Path
) -> Iterator[Finding]:
    """Yield a version that is older than the oldest that serves, or whose range leaves the cluster's Kubernetes out."""
    if facts.oldest is not None and order(version) < order(facts.oldest.version):
        message = f"{name} {version} is too old: {facts.oldest.why}; take {facts.oldest.version} or newer"
        yield finding("too-old", message, source, path, fact=facts.sources.get("oldest"))
    known = facts.releases[nearest(facts, version)]
    oldest, newest = known.kubernetes.oldest, known.kubernetes.newest
    if oldest is not None and order(cluster.minor) < order(oldest):
        message = f"{name} {version} needs Kubernetes {oldest} or newer, but the cluster runs {cluster.minor}"
        yield finding("kubernetes", message, source, path, fact=known.source)
    elif newest is not None and order(cluster.minor) > order(newest):
        message = f"{name} {version} is documented up to Kubernetes {newest}, but the cluster runs {cluster.minor}"
        yield finding("kubernetes", message, source, path, severity=Severity.WARNING, fact=known.source)


def check_company(site: Site, source: Source) -> Iterator[Finding]:
    """Yield operators that are missed, that must not be there, or that are too old for this one."""
    chosen = site.cluster.operators
    for need in site.facts.needs:
        if need.operator not in chosen:
            message = f"{site.name} needs {need.operator}: {need.why}; add it to operators"
            yield finding("needs", message, source, site.at, key=True, fact=need.source)
    for need in site.facts.excludes:
        if need.operator in chosen:
            message = f"{site.name} excludes {need.operator}: {need.why}; remove one"
            yield finding("excludes", message, source, site.at, key=True, fact=need.source)
    for name, oldest in site.release.at_least.items():
        if name in chosen and order(chosen[name].version) < order(oldest):
            message = f"{site.name} works with {name} from {oldest} on, but {chosen[name].version} is chosen"
            yield finding("at-least", message, source, ("operators", name, "version"), fact=site.release.source)


def check_definitions(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pairs of operators that own one CustomResourceDefinition: the last one installed would win."""
    for first, second in combinations(sites(cluster), 2):
        shared = sorted(set(first.facts.crds) & set(second.facts.crds))
        if shared:
            message = f"{second.name} and {first.name} both own {shared[0]}, each with its own versions; remove one"
            fact = second.facts.sources.get("crds")
            yield finding("two-owners", message, source, second.at, key=True, fact=fact)


def check_bundles(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield projects that values have brought twice: by two charts, or by a chart and on their own."""
    projects = sorted({bundle.project for site in sites(cluster) for bundle in site.facts.bundles})
    for project in projects:
        told = [(site, bundle) for site, bundle in bundlers(cluster, project) if said(site, bundle.switch)]
        others = [project] if project in cluster.operators else [site.name for site, _ in told[:1]]
        for site, bundle in told if project in cluster.operators else told[1:]:
            message = f"{project} would be installed twice, by {others[0]} and {site.name}; set {bundle.switch}: false"
            path: Path = (*site.at, "values", *bundle.switch.split("."))
            yield finding("bundled-twice", message, source, path, fact=bundle.source)


def said(site: Site, switch: str) -> bool:
    """Whether the cluster's file itself turns the switch on."""
    value: object = site.choice.values
    for key in switch.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value is True


def check_fabric(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what second interfaces want of operators: Multus, which adds them, and Whereabouts, which numbers them.

    Who makes the devices is checked with the inventory, when specs are loaded.
    """
    fabric = cluster.fabric
    if fabric is None or fabric.type not in RDMA or fabric.attach not in SECONDARY:
        return
    for name in ("multus", "whereabouts"):
        if name not in cluster.operators:
            message = f"attach {fabric.attach!r} gives pods second interfaces, which needs {name}; add it to operators"
            yield finding("fabric", message, source, ("fabric", "attach"))


def check_queues(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield queues without Kueue, kinds that its configuration leaves out, and preemption that it refuses."""
    if cluster.queues and "kueue" not in cluster.operators:
        yield finding("needs", "queues need the operator kueue; add it to operators", source, ("queues",), key=True)
        return
    integrations = configuration(cluster).get("integrations")
    enabled = integrations.get("frameworks") if isinstance(integrations, dict) else None
    if cluster.queues and isinstance(enabled, list):
        for name in sorted(set(frameworks(cluster)) - set(map(str, enabled))):
            message = f"kueue's own configuration leaves out {name}: such jobs would start past every quota; add it"
            yield finding("kq-kind-enabled", message, source, ("operators", "kueue", "values"))
    for name, queue in cluster.queues.items():
        if queue.preemption.borrow_within_cohort and shares_fairly(cluster):
            message = f"queue {name!r} has borrowWithinCohort, which fair sharing does not know; remove one of them"
            yield finding("kq-preempt-invalid", message, source, ("queues", name, "preemption"))


def finding(
    rule: str,
    message: str,
    source: Source,
    path: Path,
    *,
    key: bool = False,
    severity: Severity = Severity.ERROR,
    fact: str | None = None,
) -> Finding:
    """Return a finding at a field of the cluster's file; ids of the catalogue stand alone."""
    name = rule if rule.startswith("kq-") else f"pairing/{rule}"
    where = source.location(path, key=key)
    return Finding(name, "pairing", message, where, severity, path=format_path(path), source=fact)
