"""What operators make of each other and of the cluster: releases, needs, exclusions, shared parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.documents import Path
from trainyard.findings import Finding, Severity
from trainyard.operators.base import Site
from trainyard.operators.install import bundlers, ceded, sites
from trainyard.operators.kueue import Kueue, frameworks, integrated, shares_fairly
from trainyard.preflight import supported
from trainyard.releases import releases
from trainyard.releases.facts import lookup
from trainyard.rules import Rule
from trainyard.sizing.fabrics.rails import attach, has_verbs
from trainyard.specs import Cluster
from trainyard.specs.sources import Source
from trainyard.versions import order

DOCS = "docs/clusters.md"

DRIVERS = "network-operator"
"""The operator that installs the vendor's driver of NICs."""

NEEDS = Rule(
    id="pairing/needs",
    title="What an operator or a queue needs is there.",
    why="it would not start, or do nothing",
    fix="add the operator",
    source=DOCS,
    layer="pairing",
)
EXCLUDES = Rule(
    id="pairing/excludes",
    title="Operators that exclude each other are not both there.",
    why="both would do the same to the same nodes",
    fix="remove one",
    source=DOCS,
    layer="pairing",
)
AT_LEAST = Rule(
    id="pairing/at-least",
    title="Operators that work together are new enough for each other.",
    why="one speaks a version of the other's API that is not served",
    fix="take a newer release",
    source=DOCS,
    layer="pairing",
)
TWO_OWNERS = Rule(
    id="pairing/two-owners",
    title="Every definition of a kind is one operator's.",
    why="the last one installed would win, and the other's objects lose fields",
    fix="remove one of the operators",
    source=DOCS,
    layer="pairing",
)
ELSEWHERE = Rule(
    id="pairing/shared-definition",
    title="Operators that come from different hands share no definition of a kind.",
    why="the last one installed would win, and the other's objects lose fields",
    fix="have the one serve its other kinds alone (training-operator: an --enable-scheme for each), and waive this",
    source="kubeflow/trainer v1.9.4 pkg/controller.v1/register_controller.go; docs/clusters.md",
    layer="pairing",
    severity=Severity.WARNING,
)
TWICE = Rule(
    id="pairing/bundled-twice",
    title="A project that several charts bring along is brought once.",
    why="two copies would fight over the same nodes and objects",
    fix="switch it off in one of them",
    source=DOCS,
    layer="pairing",
)
FABRIC = Rule(
    id="pairing/fabric",
    title="What adds and numbers second interfaces is there.",
    why="pods that name a network stay in ContainerCreating",
    fix="add the operator",
    source=DOCS,
    layer="pairing",
)
LEFT_OUT = Rule(
    id="kq-kind-enabled",
    title="Kueue queues every kind of job that the cluster can run.",
    why="jobs of a kind that is left out start at once, outside of every quota",
    fix="add the kind to integrations.frameworks, one of your own to externalFrameworks",
    source="kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/defaults.go",
    layer="pairing",
)
PREEMPTION = Rule(
    id="kq-preempt-invalid",
    title="Queues under fair sharing do not borrow by preemption within the cohort.",
    why="fair sharing ignores borrowWithinCohort, so that who is preempted is not what the queue says",
    fix="remove borrowWithinCohort, or the weights",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/preemption/preemption.go",
    layer="pairing",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield every way in which the cluster's operators do not fit together, or do not fit the cluster."""
    yield from supported.check(cluster, source)
    for site in sites(cluster):
        yield from check_company(site, source)
    yield from check_definitions(cluster, source)
    yield from check_bundles(cluster, source)
    yield from check_uses(cluster, source)
    yield from check_driver(cluster, source)
    yield from check_queues(cluster, source)


def check_company(site: Site, source: Source) -> Iterator[Finding]:
    """Yield operators that are missed, that must not be there, or that are too old for this one."""
    chosen = site.cluster.operators
    for need in site.facts.needs:
        if need.operator not in chosen:
            message = f"{site.name} needs {need.operator}: {need.why}; add it to operators"
            yield NEEDS.at(source, site.at, message, key=True, source=need.source)
    for need in site.facts.excludes:
        if need.operator in chosen:
            message = f"{site.name} excludes {need.operator}: {need.why}; remove one"
            yield EXCLUDES.at(source, site.at, message, key=True, source=need.source)
    for name, oldest in site.release.at_least.items():
        if name in chosen and order(chosen[name].version) < order(oldest):
            message = f"{site.name} works with {name} from {oldest} on, but {chosen[name].version} is chosen"
            yield AT_LEAST.at(source, ("operators", name, "version"), message, source=site.release.source)


def check_definitions(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pairs of operators that own one CustomResourceDefinition: the last one installed would win."""
    for first, second in combinations(sites(cluster), 2):
        shared = sorted((set(first.facts.crds) - ceded(first)) & (set(second.facts.crds) - ceded(second)))
        if shared:
            others = next((site for site in (second, first) if not site.choice.managed), None)
            if others is not None:
                message = (
                    f"{second.name} and {first.name} both own {shared[0]}; have {others.name} installed without it,"
                    " and waive this"
                )
                yield ELSEWHERE.at(source, others.at, message, key=True)
                continue
            message = f"{second.name} and {first.name} both own {shared[0]}, each with its own versions; remove one"
            fact = second.facts.sources.get("crds", second.release.source)
            yield TWO_OWNERS.at(source, second.at, message, key=True, source=fact)


def check_bundles(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield projects that values have brought twice: by two charts, or by a chart and on their own."""
    projects = sorted({bundle.project for site in sites(cluster) for bundle in site.facts.bundles})
    for project in projects:
        told = [(site, bundle) for site, bundle in bundlers(cluster, project) if said(site, bundle.switch)]
        others = [project] if project in cluster.operators else [site.name for site, _ in told[:1]]
        for site, bundle in told if project in cluster.operators else told[1:]:
            message = f"{project} would be installed twice, by {others[0]} and {site.name}; set {bundle.switch}: false"
            path: Path = (*site.at, "values", *bundle.switch.split("."))
            yield TWICE.at(source, path, message, source=bundle.source)


def said(site: Site, switch: str) -> bool:
    """Whether the cluster's file itself turns the switch on."""
    return lookup(site.choice.values, switch) is True


def check_uses(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators that the cluster's queues or its fabric need, and that are not there.

    Who makes the fabric's devices is checked with the inventory: there one of several operators is enough.
    """
    way = attach(cluster) if has_verbs(cluster) else "none"
    missing = (each for each in releases().items() if each[0] not in cluster.operators)
    for name, use in ((name, use) for name, facts in missing for use in facts.needed_for):
        if use.queues and cluster.queues_of(use.queues):
            message = f"queues need {name}: {use.why}; add it to operators"
            yield NEEDS.at(source, ("queues",), message, key=True, source=use.source)
        if use.gang and cluster.gang == use.gang:
            message = f"gang {use.gang!r} needs {name}: {use.why}; add it to operators"
            yield NEEDS.at(source, ("gang",), message, source=use.source)
        if way in use.attach and not any(ours(cluster, other) for other in use.unless):
            message = f"attach {way!r} needs {name}: {use.why}; add it to operators"
            yield FABRIC.at(source, ("fabric", "attach"), message, source=use.source)


def check_driver(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a driver of NICs that the network operator is to install where it is not ours."""
    asking = any(cluster.system_of(name).nic_driver == "operator" for name in cluster.pools)
    if asking and not ours(cluster, DRIVERS):
        message = f"nicDriver 'operator' needs {DRIVERS}, which installs it; add it to operators"
        yield NEEDS.at(source, ("system",), message, source="Mellanox/network-operator v26.4.1 api/v1alpha1")


def ours(cluster: Cluster, name: str) -> bool:
    """Whether an operator is ours to install on the cluster."""
    return name in cluster.operators and cluster.operators[name].managed


def check_queues(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield kinds that Kueue's configuration leaves out, and preemption that it refuses."""
    if Kueue.name not in cluster.operators:
        return
    if cluster.queues_of("kueue"):
        for name in sorted(set(frameworks(cluster)) - integrated(cluster)):
            message = f"kueue's own configuration leaves out {name}: such jobs would start past every quota; add it"
            yield LEFT_OUT.at(source, ("operators", Kueue.name, "values"), message)
    for name, queue in cluster.queues.items():
        if queue.preemption.borrow_within_cohort and shares_fairly(cluster):
            message = f"queue {name!r} has borrowWithinCohort, which fair sharing does not know; remove one of them"
            yield PREEMPTION.at(source, ("queues", name, "preemption"), message)
