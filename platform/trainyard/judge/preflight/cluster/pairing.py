"""What operators make of each other and of the cluster: releases, needs, exclusions, shared parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.versions import order
from trainyard.judge.preflight.cluster import supported
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.base import Site
from trainyard.render.operators.install import bundlers, ceded_definitions, sites
from trainyard.render.operators.kueue import Kueue, frameworks, kueue_integrations, shares_fairly
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.rails import attach, has_verbs
from trainyard.specs import Cluster, OperatorChoice
from trainyard.specs.releases import releases
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

DOCS = "docs/clusters.md"

DRIVERS = "network-operator"
"""The operator that installs the vendor's driver of NICs."""

NEEDS = Rule(
    id="pairing/needs",
    title="Everything that an operator or a queue depends on is installed.",
    why="otherwise it does not start, or has no effect",
    fix="add the operator",
    source=DOCS,
    layer="pairing",
)
EXCLUDES = Rule(
    id="pairing/excludes",
    title="Operators that conflict are not both installed.",
    why="both would change the same nodes",
    fix="remove one of them",
    source=DOCS,
    layer="pairing",
)
AT_LEAST = Rule(
    id="pairing/at-least",
    title="Operators that work together have compatible releases.",
    why="otherwise one uses an API version that the other does not serve",
    fix="use a newer release",
    source=DOCS,
    layer="pairing",
)
TWO_OWNERS = Rule(
    id="pairing/two-owners",
    title="Every CustomResourceDefinition belongs to one operator.",
    why="the last one installed wins, and objects of the other operator lose fields",
    fix="remove one of the operators",
    source=DOCS,
    layer="pairing",
)
ELSEWHERE = Rule(
    id="pairing/shared-definition",
    title="Operators that different people install share no CustomResourceDefinition.",
    why="the last one installed wins, and objects of the other operator lose fields",
    fix=(
        "let the other serve only its remaining kinds (training-operator: an --enable-scheme for each), then waive this"
    ),
    source="kubeflow/trainer v1.9.4 pkg/controller.v1/register_controller.go; docs/clusters.md",
    layer="pairing",
    severity=Severity.WARNING,
)
TWICE = Rule(
    id="pairing/bundled-twice",
    title="A project that several charts bundle is installed once.",
    why=(
        "two copies would change the same nodes and objects: each Node Feature Discovery writes labels by its own "
        "settings, and its charts own the same definitions"
    ),
    fix="disable the project in one of the charts",
    source=f"{DOCS}; kubernetes-sigs/node-feature-discovery v0.18.3 docs/deployment/helm.md",
    layer="pairing",
)
FABRIC = Rule(
    id="pairing/fabric",
    title="The operators that advertise the fabric's devices, attach interfaces and assign addresses are installed.",
    why="otherwise pods that use the fabric stay pending, or in ContainerCreating",
    fix="add the operator, with managed: false if somebody else installs it",
    source=DOCS,
    layer="pairing",
)
LEFT_OUT = Rule(
    id="kq-kind-enabled",
    title="Kueue manages every kind of job that the cluster can run.",
    why="jobs of other kinds start at once, outside of every quota",
    fix="add the kind to integrations.frameworks, or your own kind to externalFrameworks",
    source="kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/defaults.go",
    layer="pairing",
)
PREEMPTION = Rule(
    id="kq-preempt-invalid",
    title="Queues under fair sharing do not set borrowWithinCohort.",
    why="fair sharing ignores borrowWithinCohort, so preemption differs from what the queue says",
    fix="remove borrowWithinCohort, or the weights",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/preemption/preemption.go",
    layer="pairing",
)
SHOWN = 3
"""So many names stand in a sentence; the others are counted."""


@CLUSTER.check()
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
        if need.operator not in chosen and need.counts(site.choice.values):
            message = f"{site.name} needs {need.operator}: {need.why}; add it to operators"
            where = site.at if need.value is None else (*site.at, "values", *need.value.split("."))
            yield NEEDS.at(source, where, message, key=True, source=need.source)
    for need in site.facts.excludes:
        if need.operator in chosen:
            message = f"{site.name} conflicts with {need.operator}: {need.why}; remove one"
            beside = [("operators", need.operator)]
            yield EXCLUDES.at(source, site.at, message, key=True, source=need.source, shared=beside)
    for name, oldest in site.release.at_least.items():
        if name in chosen and order(chosen[name].version) < order(oldest) and not is_too_old(name, chosen[name]):
            message = f"{site.name} works with {name} {oldest} or newer, but {chosen[name].version} is chosen"
            path: Path = ("operators", name, "version")
            own: Path = (*site.at, "version")
            yield AT_LEAST.at(source, path, message, source=site.release.source, shared=[own])


def is_too_old(name: str, choice: OperatorChoice) -> bool:
    """Whether a release is older than the oldest that serves at all, which is a finding of its own."""
    facts = releases().get(name)
    return facts is not None and facts.is_too_old(choice.version, managed=choice.managed)


def check_definitions(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pairs of operators that own one CustomResourceDefinition: the last one installed would win."""
    for first, second in combinations(sites(cluster), 2):
        shared = sorted(
            (set(first.facts.crds) - ceded_definitions(first)) & (set(second.facts.crds) - ceded_definitions(second))
        )
        if shared:
            others = next((site for site in (second, first) if not site.choice.managed), None)
            if others is not None:
                message = (
                    f"{second.name} and {first.name} both install {shared[0]}; have {others.name} installed without "
                    "it, then waive this"
                )
                yield ELSEWHERE.at(source, others.at, message, key=True, shared=[first.at, second.at])
                continue
            message = f"{second.name} and {first.name} both install {shared[0]}, with different versions; remove one"
            fact = second.facts.sources.get("crds", second.release.source)
            yield TWO_OWNERS.at(source, second.at, message, key=True, source=fact, shared=[first.at])


def check_bundles(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield projects that values have brought twice: by two charts, or by a chart and on their own.

    A chart brings one by its defaults, too. Of a chart that somebody else installs nobody knows.
    """
    projects = sorted({bundle.project for site in sites(cluster) for bundle in site.facts.bundles})
    for project in projects:
        willing = bundlers(cluster, project)
        told = [(site, bundle) for site, bundle in willing if is_switched_on(site, bundle.switch)]
        ours = [site.name for site, bundle in willing if site.choice.managed or (site, bundle) in told]
        first = project if project in cluster.operators else next(iter(ours), project)
        for site, bundle in told:
            if site.name != first:
                message = f"{project} is installed twice, by {first} and {site.name}; set {bundle.switch}: false"
                path: Path = (*site.at, "values", *bundle.switch.split("."))
                yield TWICE.at(source, path, message, source=bundle.source, shared=[("operators", first)])


def is_switched_on(site: Site, switch: str) -> bool:
    """Whether the cluster's file itself turns the switch on."""
    return lookup(site.choice.values, switch) is True


def check_uses(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield operators that the cluster's queues or its fabric need, and that are not there.

    Who makes the fabric's devices is checked with the inventory: there one of several operators is enough.
    """
    way = attach(cluster) if has_verbs(cluster) else "none"
    missing = (release for release in releases().items() if release[0] not in cluster.operators)
    for name, use in ((name, use) for name, facts in missing for use in facts.needed_for):
        if use.queues and cluster.queues_of(use.queues):
            message = f"queues need {name}: {use.why}; add it to operators"
            yield NEEDS.at(source, ("queues",), message, key=True, source=use.source)
        if use.gang and cluster.gang == use.gang:
            message = f"gang {use.gang!r} needs {name}: {use.why}; add it to operators"
            yield NEEDS.at(source, ("gang",), message, source=use.source)
        if way in use.attach and not any(cluster.installs(other) for other in use.unless):
            message = f"attach {way!r} needs {name}: {use.why}; add it to operators"
            yield FABRIC.at(source, ("fabric", "attach"), message, source=use.source)
        if cluster.fabric and cluster.fabric.type in use.fabric and has_nodes(cluster):
            message = f"fabric {cluster.fabric.type!r} needs {name}: {use.why}; add it to operators"
            yield FABRIC.at(source, ("fabric", "type"), message, source=use.source)


def has_nodes(cluster: Cluster) -> bool:
    """Whether nodes of some pool are on the cluster's fabric."""
    known = (name for name, pool in cluster.pools.items() if is_known_shape(pool.shape))
    return any(fabric_type(cluster).reaches(cluster, name) for name in known)


def check_driver(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a driver of NICs that the network operator is to install where it is not ours."""
    asking = any(cluster.system_of(name).nic_driver == "operator" for name in cluster.pools)
    if asking and not cluster.installs(DRIVERS):
        message = f"nicDriver 'operator' needs {DRIVERS}; add it to operators"
        yield NEEDS.at(source, ("system",), message, source="Mellanox/network-operator v26.4.1 api/v1alpha1")


def check_queues(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield kinds that Kueue's configuration leaves out, and preemption that it refuses."""
    if Kueue.name not in cluster.operators:
        return
    if cluster.queues_of("kueue") and (missing := sorted(set(frameworks(cluster)) - kueue_integrations(cluster))):
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        names = f"{', '.join(missing[:SHOWN])}{more}"
        it = "it" if len(missing) == 1 else "them"
        message = f"Kueue's configuration leaves out {names}, so such jobs start outside of all quotas; add {it}"
        yield LEFT_OUT.at(source, ("operators", Kueue.name, "values"), message)
    for name, queue in cluster.queues.items():
        if queue.preemption.borrow_within_cohort and shares_fairly(cluster):
            message = f"queue {name!r} sets borrowWithinCohort, which fair sharing ignores; remove one of them"
            yield PREEMPTION.at(source, ("queues", name, "preemption"), message)
