"""What is wrong with a cluster's storage classes: drivers that nobody installs, and what those would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.documents import Path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.rules import Rule
from trainyard.specs.drivers import Driver, secret_parameters
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.storage import Storage
from trainyard.specs.sources import Source

NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""Of classes whose volumes exist beforehand (kubernetes v1.35 pkg/volume/util/storageclass.go)."""

INSTALLED = Rule(
    id="sto-driver-installed",
    title="Every storage class has a driver that is installed, and says what the driver needs.",
    why="claims stay pending, and runs that mount them hold their quota until Kueue gives up on them",
    fix="install the driver and say so in drivers; add the parameters and the secret",
    source="platform/trainyard/specs/drivers",
    may_warn=True,
)
MODES = Rule(
    id="sto-rwx",
    title="Volumes of a class can be attached in the way that it says.",
    why="a disk attaches to one node, so that all pods but those of one node stay in ContainerCreating",
    fix="choose a file system for volumes that several nodes write to",
    source="https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes",
)
OWNER = Rule(
    id="sto-fsgroup",
    title="Somebody lets pods, which are not root, write to the volumes of a class.",
    why="a volume belongs to root, and what a driver does not let the kubelet change stays so: saving fails",
    fix="give each volume's root the group of the pods, setgid and g+rwx, and say ownership: server",
    source="kubernetes v1.35 pkg/volume/csi/csi_mounter.go supportsFSGroup",
    severity=Severity.WARNING,
)


NO_EFFECT = Rule(
    id="sto-existing",
    title="Of a class that is there already, nothing is written but what jobs have to know.",
    why="who reads the field takes it for what the class has, and the class has what somebody else gave it",
    fix="remove the field, or existing",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)
SOFT = Rule(
    id="sto-soft",
    title="File systems wait for a server that is away.",
    why="with soft a write that the server does not answer in time is lost, and a checkpoint is damaged without a word",
    fix="write hard",
    source="nfs-utils 2.6.4 nfs(5), soft: a timeout can corrupt data in silence",
    severity=Severity.WARNING,
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what is wrong with the classes that are ours to make; those that exist are somebody else's."""
    for name, choice in cluster.storage.items():
        declared = Declared(name, choice, source)
        yield from declared.weak()
        if choice.existing:
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
                message = "mountOptions has 'soft', with which writes are lost when the server is away; write hard"
                yield SOFT.at(self.source, (*self.path, "mountOptions", index), message)

    def unwritten(self) -> Iterator[Finding]:
        """Yield fields of a StorageClass that is not ours to make."""
        for field in ("parameters", "mount_options", "secret", "reclaim"):
            if getattr(self.storage, field):
                alias = str(type(self.storage).model_fields[field].alias)
                message = f"class {self.name!r} exists already, so {alias} changes nothing; remove it"
                yield NO_EFFECT.at(self.source, (*self.path, alias), message, key=True)

    def installed(self, cluster: Cluster) -> Iterator[Finding]:
        """Yield a driver of which the cluster does not say that it is there."""
        provisioner = self.storage.provisioner
        if provisioner in cluster.drivers or provisioner == NO_PROVISIONER:
            return
        found = self.storage.driver
        needs = f"; nodes need {found.nodes}" if found and found.nodes else ""
        unused = set(cluster.drivers) - {each.provisioner for each in cluster.storage.values()}
        near = did_you_mean(provisioner, unused)
        hint = near if near.startswith("did you mean") else "install it, and say so in drivers"
        message = f"nothing says that driver {provisioner!r} is installed; {hint}"
        fix = f"write drivers: {{{provisioner}: <who installs it, and which release>}}{needs}"
        place = (*self.path, "provisioner")
        yield INSTALLED.at(self.source, place, message, fix=fix, source=found.source if found else None)

    def parameters(self, driver: Driver) -> Iterator[Finding]:
        """Yield parameters that the driver misses, does not understand, or that exclude each other."""
        given, place = self.storage.parameters, (*self.path, "parameters")
        if not driver.dynamic:
            message = f"driver of {driver.title} makes no volumes; claims wait for a PersistentVolume of your own"
            where = (*self.path, "provisioner")
            yield INSTALLED.at(self.source, where, message, severity=Severity.WARNING, source=driver.source)
        for text in driver.missing(given):
            message = f"class {self.name!r} lacks {text}, which {driver.title} needs; add it to parameters"
            yield INSTALLED.at(self.source, place, message, source=driver.source)
        for group in driver.one_of:
            both = [name for name in group if name in given]
            if len(both) > 1:
                message = f"class {self.name!r} has {' and '.join(both)}, of which {driver.title} takes one; remove one"
                yield INSTALLED.at(self.source, (*place, both[-1]), message, key=True, source=driver.source)
        for name in driver.hosts:
            host, slash, _ = given.get(name, "").partition("/")
            if slash:
                message = f"{name} is {given[name]!r}, but should be a machine alone; write {host.removesuffix(':')!r}"
                yield INSTALLED.at(self.source, (*place, name), message, source=driver.source)
        for name, known in driver.values.items():
            if name in given and given[name] not in known:
                message = f"{name} is {given[name]!r}, which {driver.title} does not know; "
                message += did_you_mean(given[name], known)
                yield INSTALLED.at(self.source, (*place, name), message, source=driver.source)

    def secrets(self) -> Iterator[Finding]:
        """Yield calls of the driver that lack their Secret, and a secret that nothing would use."""
        driver, given = self.storage.driver, self.storage.parameters
        stages = driver.secrets if driver else ()
        if self.storage.secret is not None and not stages:
            what = f"{driver.title} takes none" if driver else "which calls of this driver need it is not known here"
            message = f"class {self.name!r} has a secret, but {what}; write it into parameters if need be"
            yield INSTALLED.at(self.source, (*self.path, "secret"), message)
        lacking = driver.without_secret(given) if driver else []
        if driver is not None and lacking and self.storage.secret is None:
            message = (
                f"class {self.name!r} names no secret, which {driver.title} needs; add secret: {{name, namespace}}"
            )
            fix = "or the parameters " + ", ".join(name for stage in lacking for name in secret_parameters(stage))
            yield INSTALLED.at(self.source, self.path, message, key=True, fix=fix, source=driver.source)

    def modes(self, driver: Driver) -> Iterator[Finding]:
        """Yield an access that the driver's volumes cannot have."""
        access = self.storage.access
        if access not in driver.access:
            message = f"access is {access}, but {driver.title} has {' and '.join(driver.access)}; correct it"
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
            message = f"volumes of {driver.title} belong to root for good; prepare each, and say ownership: server"
            yield OWNER.at(self.source, self.path, message, key=True)
