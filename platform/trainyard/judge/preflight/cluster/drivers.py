"""Whether each storage driver of a cluster is installed once, with its rights, and its classes are what it can do."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.storage import INSTALLED, NO_PROVISIONER
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.base import Site
from trainyard.render.operators.install import driver_operators, sites
from trainyard.render.operators.storage_driver import ROLE
from trainyard.specs import Cluster
from trainyard.specs.models.storage import Storage
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Source

TWICE = Rule(
    id="sto-two-installers",
    title="Each storage driver of a cluster has one installer.",
    why="two copies of a driver register at one socket of each node, and change each other's objects",
    fix="remove the driver from drivers, or set managed: false for the operator",
    source="kubernetes v1.35 pkg/kubelet/pluginmanager/reconciler/reconciler.go; docs/drivers.md",
)
IDENTITY = Rule(
    id="sto-identity",
    title="A storage driver of a cloud has the rights to make volumes there, and no other operator is given any.",
    why="without them the cloud refuses each call of the driver, so claims stay pending",
    fix="set identity and role of the operator, as docs/drivers.md shows",
    source="docs/drivers.md; kubernetes-sigs/aws-ebs-csi-driver helm-chart-aws-ebs-csi-driver-2.64.0 docs/install.md",
)
BINDING = Rule(
    id="sto-binding",
    title="Volumes that only some nodes can use are made where their pod is.",
    why="with binding Immediate the volume is made first, and its pod then fits no node that reaches it",
    fix="set binding: WaitForFirstConsumer",
    source="kubernetes/website v1.35 content/en/docs/concepts/storage/storage-classes.md, volume binding mode",
    may_warn=True,
)
GROWS = Rule(
    id="sto-grows",
    title="A class has allowVolumeExpansion: true only where its driver can enlarge volumes.",
    why="the API server takes a larger claim, and the volume stays as it is",
    fix="remove allowVolumeExpansion",
    source="platform/trainyard/specs/drivers",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield drivers with two installers, without rights or values, and classes that promise what their driver lacks."""
    for provisioner, found in driver_operators(cluster).items():
        yield from check_installers(cluster, source, provisioner, [site for site in found if site.choice.managed])
    for site in sites(cluster):
        yield from check_identity(site, source)
        yield from check_values(site, source)
    for name, storage in cluster.storage.items():
        if not storage.existing and not storage.exports:
            yield from check_class(name, storage, source)


def check_installers(cluster: Cluster, source: Source, provisioner: str, ours: list[Site]) -> Iterator[Finding]:
    """Yield a driver that an operator of ours installs, and somebody else or another operator too."""
    said = cluster.drivers.get(provisioner)
    if ours and said is not None:
        message = f"operator {ours[0].name} installs {provisioner!r}, which drivers has as {said[:30]!r}; remove one"
        yield TWICE.at(source, ("drivers", provisioner), message, key=True, shared=[ours[0].at])
    if len(ours) > 1:
        message = f"operators {ours[0].name} and {ours[1].name} both install driver {provisioner!r}; remove one"
        yield TWICE.at(source, ours[1].at, message, key=True, shared=[ours[0].at])


def check_identity(site: Site, source: Source) -> Iterator[Finding]:
    """Yield a driver without rights at its cloud, a way without its role, and rights that nothing reads."""
    choice, accounts = site.choice, site.facts.provisions.accounts if site.facts.provisions else {}
    for field, value in (("identity", choice.identity), ("role", choice.role)):
        if value is not None and not (choice.managed and accounts):
            why = "somebody else installs it" if accounts else "it calls no cloud"
            yield IDENTITY.at(
                source, (*site.at, field), f"{field} of {site.name} has no effect, as {why}; remove it", key=True
            )
    if not choice.managed or not accounts:
        return
    annotated = any(ROLE in (lookup(choice.values, path) or {}) for path in accounts.values())
    if choice.identity is None and not annotated:
        message = f"{site.name} has no identity, so its cloud refuses to make volumes; add identity and role"
        yield IDENTITY.at(source, site.at, message, key=True)
    elif choice.identity in {"irsa", "pod-identity"} and choice.role is None:
        message = f"identity of {site.name} is {choice.identity!r}, but it has no role; add role"
        yield IDENTITY.at(source, (*site.at, "identity"), message)
    elif choice.role is not None and choice.identity == "node":
        message = f"identity of {site.name} is 'node', whose role is that of the nodes; remove role, or use irsa"
        yield IDENTITY.at(source, (*site.at, "role"), message, key=True)
    if choice.identity == "pod-identity" and site.cluster.distribution.provider != "aws":
        message = f"identity 'pod-identity' of {site.name} exists only on Amazon EKS; use irsa"
        yield IDENTITY.at(source, (*site.at, "identity"), message)


def check_values(site: Site, source: Source) -> Iterator[Finding]:
    """Yield values that only the cluster's file can say, and does not."""
    asks = site.facts.provisions.asks if site.facts.provisions and site.choice.managed else {}
    for path, what in asks.items():
        if not lookup(site.choice.values, path):
            message = f"values of {site.name} lack {path}, the {what}, so it makes no volumes; add it"
            yield INSTALLED.at(source, site.at, message, key=True, source=site.release.source)


def check_class(name: str, storage: Storage, source: Source) -> Iterator[Finding]:
    """Yield volumes that are made before their pod has a node, and growth that the driver does not have."""
    driver, at = storage.driver, ("storage", name)
    if driver is None or storage.provisioner == NO_PROVISIONER:
        return
    if storage.binding == "Immediate" and (driver.node_local or driver.zonal):
        where = "the disks of one node" if driver.node_local else "one zone"
        message = (
            f"volumes of {driver.title} are in {where}, chosen before their pod; set binding: WaitForFirstConsumer"
        )
        severity = Severity.ERROR if driver.node_local else Severity.WARNING
        yield BINDING.at(source, at, message, key=True, severity=severity, source=driver.source)
    if storage.allow_volume_expansion and not driver.grows:
        message = f"allowVolumeExpansion is true, but volumes of {driver.title} never grow; remove it"
        yield GROWS.at(source, (*at, "allowVolumeExpansion"), message, source=driver.source)
