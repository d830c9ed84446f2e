"""Storage drivers: what a class of each must say, and what each does with volumes, as data with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from pydantic import StrictBool

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text

Access = Literal["ReadWriteMany", "ReadWriteOnce", "ReadOnlyMany"]

Ownership = Literal["kubelet", "driver", "server"]

SHARED: tuple[Access, ...] = ("ReadWriteMany", "ReadWriteOnce", "ReadOnlyMany")

Stage = Literal["provisioner", "controller-publish", "controller-expand", "node-stage", "node-publish", "node-expand"]
"""Calls of a driver that take a Secret (kubernetes-csi/docs book/src/secrets-and-credentials-storage-class.md)."""


class When(Spec):
    """What one value of a parameter asks of others."""

    parameter: Text
    values: tuple[Text, ...]
    required: tuple[Text, ...] = ()
    """Parameters that it needs."""
    refuses: tuple[Text, ...] = ()
    """Parameters that it does not take."""
    known: Mapping[str, tuple[Text, ...]] = {}
    """Parameters that know a few values only with it."""


class SnapshotClass(Spec):
    """What a VolumeSnapshotClass says, whatever its cluster."""

    same: tuple[Text, ...] = ()
    """Parameters that it has as the StorageClass has them."""
    parameters: Mapping[str, str] = {}
    """Parameters that it has always."""
    secret: StrictBool = False
    """Whether its calls need the Secret of those that make volumes."""
    source: Text
    """Repository, release and file."""


class AddOn(Spec):
    """The driver as a part of a cloud's own Kubernetes, which somebody switches on."""

    provider: Text
    """Cloud that has it, as a distribution names it."""
    get: Text
    """Command that switches it on."""
    source: Text


class Driver(Spec):
    """One driver; its provisioner is the file's name."""

    title: Text
    source: Text
    """Repository, release and file of what is said here."""
    dynamic: StrictBool = True
    """Whether it makes volumes for claims; else somebody makes them beforehand."""
    access: tuple[Access, ...] = SHARED
    """Access modes that its volumes can have."""
    required: tuple[Text, ...] = ()
    """Parameters without which no volume is made."""
    instead: Text | None = None
    """A parameter that names what is there already, with which none of the required ones is asked for."""
    any_of: tuple[tuple[Text, ...], ...] = ()
    """Groups of parameters, of each of which one at least is there."""
    one_of: tuple[tuple[Text, ...], ...] = ()
    """Groups of parameters, of each of which exactly one is there."""
    when: tuple[When, ...] = ()
    values: Mapping[str, tuple[Text, ...]] = {}
    """Parameters that know a few values only."""
    hosts: tuple[Text, ...] = ()
    """Parameters that name a machine, and nothing on it."""
    secrets: tuple[Stage, ...] = ()
    """Calls that need a Secret."""
    retain: Mapping[str, str] = {}
    """Parameters by which a volume that is kept keeps its data too."""
    ownership: Ownership
    """Who lets a pod's group write: the kubelet, by fsGroup; the driver, as it mounts; or nobody but the server."""
    node_local: StrictBool = False
    """Whether a volume is on the disks of one node, and its pods with it."""
    zonal: StrictBool = False
    """Whether a volume is in one zone, and only nodes there can attach it."""
    grows: StrictBool = True
    """Whether a larger claim makes a larger volume."""
    enforces: StrictBool = True
    """Whether a volume that is full refuses more."""
    renames: StrictBool = True
    """Whether a folder can be renamed in one piece; object stores copy object after object."""
    renames_files: StrictBool = True
    """Whether a file can be renamed; savers write one under another name first."""
    snapshots: SnapshotClass | None = None
    """What a VolumeSnapshotClass of it says; None where it takes no snapshots."""
    export: tuple[Text, ...] = ()
    """Attributes without which a volume that exists already is not found."""
    server: Text | None = None
    """How the server must offer its folder so that the kubelet can give volumes to a group, in words."""
    label_option: Text | None = None
    """Parameter with mount options, one of which gives all files one SELinux label; default: files have no labels."""
    addon: AddOn | None = None
    """How its cloud brings it; None where it does not."""
    nodes: Text | None = None
    """What the nodes need beside the driver's own pods, in words."""
    install: Text | None = None
    """What whoever installs it has to set, as in `with Rook 1.20 or newer, set ...`."""

    def missing(self, given: Mapping[str, str]) -> Iterator[str]:
        """Yield the parameters that a class with these lacks, in words."""
        if self.instead is None or self.instead not in given:
            yield from (name for name in self.required if name not in given)
        for group in (*self.any_of, *self.one_of):
            if not any(name in given for name in group):
                yield " or ".join(group)
        for when in self.conditions(given):
            yield from (name for name in when.required if name not in given)

    def conditions(self, given: Mapping[str, str]) -> list[When]:
        """Return the conditions that hold for the parameters of a class."""
        return [when for when in self.when if given.get(when.parameter) in when.values]

    def without_secret(self, given: Mapping[str, str]) -> list[Stage]:
        """Return the calls whose Secret the parameters of a class do not name."""
        return [stage for stage in self.secrets if not all(name in given for name in secret_parameters(stage))]


def secret_parameters(stage: str) -> tuple[str, str]:
    """Return the parameters that name the Secret of a call, and its namespace."""
    return f"csi.storage.k8s.io/{stage}-secret-name", f"csi.storage.k8s.io/{stage}-secret-namespace"


@cache
def drivers() -> Mapping[str, Driver]:
    """Return all drivers by their provisioners; raises SpecError where a file is none."""
    return read_facts(__name__, Driver, "driver")


def driver(provisioner: str) -> Driver | None:
    """Return the driver of a provisioner, None where it is not known here.

    Rook puts its operator's namespace in front of Ceph's (rook v1.20.6 pkg/operator/ceph/csi/spec.go).
    """
    known = drivers()
    found = known.get(provisioner)
    if found is None and provisioner.endswith((".cephfs.csi.ceph.com", ".rbd.csi.ceph.com")):
        found = known.get(provisioner.partition(".")[2])
    return found
