"""What is wrong with a cluster's storage classes: drivers that nobody installs, and what those would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.install import driver_operators
from trainyard.specs.drivers import Driver, secret_parameters
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.storage import Storage
from trainyard.specs.releases import operators_for
from trainyard.specs.sources import Source

NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""Of classes whose volumes exist beforehand (kubernetes v1.35 pkg/volume/util/storageclass.go)."""

INSTALLED = Rule(
    id="sto-driver-installed",
    title="Every storage class has an installed driver and sets the parameters that the driver needs.",
    why="otherwise claims stay pending, and runs that mount them hold their quota until Kueue stops them",
    fix="install the driver and list it in drivers; add the missing parameters and the secret",
    source="platform/trainyard/specs/drivers",
    may_warn=True,
)
MODES = Rule(
    id="sto-rwx",
    title="The access of a class is one that its driver supports.",
    why="a disk attaches to one node, so pods on all other nodes stay in ContainerCreating",
    fix="use a shared file system for volumes that several nodes write to",
    source="https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes",
)
OWNER = Rule(
    id="sto-fsgroup",
    title="Pods that do not run as root can write to the volumes of each storage class.",
    why="a new volume belongs to root; if the driver does not let the kubelet change this, saving fails",
    fix="set the pods' group, setgid and g+rwx on each volume's root, then set ownership: server",
    source="kubernetes v1.35 pkg/volume/csi/csi_mounter.go supportsFSGroup",
    severity=Severity.WARNING,
)


NO_EFFECT = Rule(
    id="sto-existing",
    title="For an existing class, only fields that jobs read are set.",
    why="other fields change nothing, although readers believe them",
    fix="remove the field, or existing",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)
SOFT = Rule(
    id="sto-soft",
    title="File systems are mounted hard.",
    why="with soft, a write that times out is lost, which damages checkpoints silently",
    fix="replace soft by hard",
    source="nfs-utils 2.6.4 nfs(5), soft: a timeout can corrupt data in silence",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems with the classes that are ours to make; those that exist are somebody else's."""
    for name, choice in cluster.storage.items():
        declared = Declared(name, choice, source)
        yield from declared.weak()
        if choice.exports:
            yield from declared.installed(cluster)
        elif choice.existing:
            yield from declared.unwritten()
        else:
            yield from declared.installed(cluster)
            if choice.driver is not None:
                yield from declared.parameters(choice.driver)
            yield from declared.secrets()
        if choice.driver is not None:
            yield from declared.modes(choice.driver)
            yield from declared.owner(choice.driver)


@dataclass(frozen=True, slots=True)
class Declared:
    """A storage class and where it was written."""

    name: str
    storage: Storage
    source: Source

    @property
    def path(self) -> Path:
        """The class in the cluster's file."""
        return ("storage", self.name)

    def weak(self) -> Iterator[Finding]:
        """Yield mounts that give up on their server."""
        for index, option in enumerate(self.storage.mount_options):
            if "soft" in option.split(",") and not self.storage.existing:
                message = "mountOptions has 'soft', so writes are lost when the server is away; use hard"
                yield SOFT.at(self.source, (*self.path, "mountOptions", index), message)

    def unwritten(self) -> Iterator[Finding]:
        """Yield fields of a StorageClass that is not ours to make."""
        for field in ("parameters", "mount_options", "secret", "reclaim"):
            if getattr(self.storage, field):
                alias = str(type(self.storage).model_fields[field].alias)
                message = f"class {self.name!r} already exists, so {alias} has no effect; remove it"
                yield NO_EFFECT.at(self.source, (*self.path, alias), message, key=True)

    def installed(self, cluster: Cluster) -> Iterator[Finding]:
        """Yield a driver of which the cluster does not say that it is there."""
        provisioner = self.storage.provisioner
        if provisioner in {NO_PROVISIONER, *cluster.drivers, *driver_operators(cluster)}:
            return
        found = self.storage.driver
        needs = f"; nodes need {found.nodes}" if found and found.nodes else ""
        needs += f"; {found.install}" if found and found.install else ""
        unused = set(cluster.drivers) - {storage.provisioner for storage in cluster.storage.values()}
        near = did_you_mean(provisioner, unused)
        ours = operators_for(provisioner, cluster.distribution.provider)
        hint = f"add operator {ours[0]}, or the driver to drivers" if ours else "install it, and add it to drivers"
        hint = near if near.startswith("did you mean") else hint
        message = f"nobody provisions class {self.name!r}: driver {provisioner!r} is not in drivers; {hint}"
        fix = f"add drivers: {{{provisioner}: <who installs it, and which release>}}{needs}"
        addon = found.addon if found else None
        if addon is not None and addon.provider == cluster.distribution.provider:
            fix += f"; the add-on of the cluster is switched on by {addon.get}"
        place = (*self.path, "provisioner")
        yield INSTALLED.at(self.source, place, message, fix=fix, source=found.source if found else None)

    def parameters(self, driver: Driver) -> Iterator[Finding]:
        """Yield parameters that the driver misses, does not understand, or that exclude each other."""
        given, place = self.storage.parameters, (*self.path, "parameters")
        if not driver.dynamic:
            message = f"driver {driver.title} creates no volumes; claims wait for a PersistentVolume that you create"
            where = (*self.path, "provisioner")
            yield INSTALLED.at(self.source, where, message, severity=Severity.WARNING, source=driver.source)
        for text in driver.missing(given):
            message = f"parameters of class {self.name!r} lack {text}, which {driver.title} needs; add it"
            yield INSTALLED.at(self.source, place, message, source=driver.source)
        for group in driver.one_of:
            both = [name for name in group if name in given]
            if len(both) > 1:
                message = f"class {self.name!r} has {' and '.join(both)}, but {driver.title} takes only one; remove one"
                yield INSTALLED.at(self.source, (*place, both[-1]), message, key=True, source=driver.source)
        for name in driver.hosts:
            host, slash, _ = given.get(name, "").partition("/")
            if slash:
                message = f"{name} is {given[name]!r}, but must be a host name alone; write {host.removesuffix(':')!r}"
                yield INSTALLED.at(self.source, (*place, name), message, source=driver.source)
        for name, known in driver.values.items():
            if name in given and given[name] not in known:
                message = f"{name} is {given[name]!r}, which {driver.title} does not support; "
                message += did_you_mean(given[name], known)
                yield INSTALLED.at(self.source, (*place, name), message, source=driver.source)

        yield from self.conditions(driver)

    def conditions(self, driver: Driver) -> Iterator[Finding]:
        """Yield parameters that do not go with the value of another one."""
        given, place = self.storage.parameters, (*self.path, "parameters")
        for when in driver.conditions(given):
            condition = f"{when.parameter} {given[when.parameter]}"
            for name in when.refuses:
                if name in given:
                    message = f"{condition} of {driver.title} takes no {name}; remove it"
                    yield INSTALLED.at(self.source, (*place, name), message, key=True, source=driver.source)
            for name, known in when.known.items():
                if name in given and given[name] not in known:
                    message = f"{name} is {given[name]!r}, which {condition} does not support; "
                    message += f"use {', '.join(known[:-1])} or {known[-1]}"
                    yield INSTALLED.at(self.source, (*place, name), message, source=driver.source)

    def secrets(self) -> Iterator[Finding]:
        """Yield calls of the driver that lack their Secret, and a secret that nothing would use."""
        driver, given = self.storage.driver, self.storage.parameters
        stages = driver.secrets if driver else ()
        if self.storage.secret is not None and not stages:
            what = f"{driver.title} takes none" if driver else "which calls of this driver need it is not known here"
            message = f"class {self.name!r} has a secret, but {what}; set it in parameters if needed"
            yield INSTALLED.at(self.source, (*self.path, "secret"), message)
        lacking = driver.without_secret(given) if driver else []
        if driver is not None and lacking and self.storage.secret is None:
            message = f"class {self.name!r} has no secret, which {driver.title} needs; add secret: {{name, namespace}}"
            fix = "or the parameters " + ", ".join(name for stage in lacking for name in secret_parameters(stage))
            yield INSTALLED.at(self.source, self.path, message, key=True, fix=fix, source=driver.source)

    def modes(self, driver: Driver) -> Iterator[Finding]:
        """Yield an access that the driver's volumes cannot have."""
        access = self.storage.access
        if access not in driver.access:
            message = f"access is {access}, but {driver.title} supports {' and '.join(driver.access)}; correct it"
            yield MODES.at(self.source, (*self.path, "access"), message, source=driver.source)

    def owner(self, driver: Driver) -> Iterator[Finding]:
        """Yield volumes that nobody opens to pods, or that are said to be opened by who does not.

        What one node mounts with a file system on it is the kubelet's, whatever the driver is.
        """
        said = self.storage.ownership
        if self.storage.access == "ReadWriteOnce" or said == "server" or driver.ownership == said:
            return
        if said is not None:
            message = f"ownership is {said!r}, but with {driver.title} it is {driver.ownership!r}; correct it"
            yield OWNER.at(self.source, (*self.path, "ownership"), message)
        elif driver.ownership == "server":
            message = (
                f"volumes of {driver.title} always belong to root; prepare each of them, then set ownership: server"
            )
            yield OWNER.at(self.source, self.path, message, key=True)
