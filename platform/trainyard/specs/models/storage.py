"""Storage classes, and what is known of their drivers."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from trainyard.specs.drivers import Access, Driver, Ownership, driver
from trainyard.specs.models.base import Form, Image, Name, Room, Spec, Speed, SubdomainName, Text

Schedule = Annotated[StrictStr, Form(r"[0-5]?[0-9](?: +\S+){4}", "five fields with one minute, such as '0 2 * * *'")]
"""A cron expression that is true at most once an hour, since the hour is in the names of snapshots."""

MOST_SNAPSHOTS = 100
"""Snapshots of one claim; some drivers slow down, or refuse more, long before."""


class SecretName(Spec):
    """A Secret that holds a driver's credentials for its storage; its values are never in Git."""

    name: SubdomainName
    """Name of the Secret."""
    namespace: Name
    """Namespace of the Secret."""


class Export(Spec):
    """A folder, file system or bucket that exists already, as the volume of one team."""

    team: Name
    """Team whose claim gets it."""
    volume: Name | None = None
    """Name of the volume in the team's file; default: the export's name."""
    size: Room
    """Bytes, at least those of the team's volume; nothing enforces them."""
    handle: Text
    """Name of the volume for the driver (`volumeHandle`), different for each export of the cluster."""
    attributes: dict[str, str] = {}
    """Attributes by which the driver finds it (`volumeAttributes`), such as `server` and `share`."""
    read_only: StrictBool = True
    """`false` if jobs may write to it."""


class Snapshots(Spec):
    """Snapshots of all claims of teams of a class, on a schedule, and how many stay."""

    schedule: Schedule = "0 2 * * *"
    """When they are taken, as a cron expression; default: every night at 02:00."""
    time_zone: Text = "Etc/UTC"
    """IANA name of the schedule's time zone, such as `Europe/Berlin`."""
    keep: Annotated[StrictInt, Field(ge=1, le=MOST_SNAPSHOTS)] = 7
    """Number of snapshots of each claim that can be restored; older ones are deleted."""
    image: Image
    """Image by digest with Python 3.9 or newer as `python3`, which runs the program that takes them."""
    parameters: dict[str, str] = {}
    """Parameters of the VolumeSnapshotClass, over those that follow from the class."""


class Storage(Spec):
    """A storage class, or exports that exist already."""

    provisioner: Text
    """Name of the CSI driver; list it in `drivers` of the cluster if it is installed."""
    access: Access = "ReadWriteMany"
    """Access mode of the class's claims."""
    throughput: Speed | None = None
    """Bytes per second of the whole class."""
    parameters: dict[str, str] = {}
    """Parameters of the StorageClass; the driver's documentation lists them."""
    secret: SecretName | None = None
    """The driver's Secret, for every call that needs one."""
    mount_options: tuple[Text, ...] = ()
    """Mount options, such as `nfsvers=4.1`, `hard`, `nconnect=8`; every mount fails if one is wrong."""
    reclaim: Literal["Retain", "Delete"] | None = None
    """Fate of a volume when its claim is deleted; default: Retain, or Delete for scratch on local disks."""
    ownership: Ownership | None = None
    """Component that makes volumes writable: the kubelet (with fsGroup), the driver, or the server, where an
    administrator prepares each volume."""
    existing: StrictBool = False
    """`true` if the class exists already, so that Trainyard does not render it."""
    exports: dict[Name, Export] = {}
    """Folders, file systems or buckets that exist; with any the class makes no volumes, so none is rendered."""
    allow_volume_expansion: StrictBool | None = None
    """Whether volumes can grow; default: the driver's behaviour, or unknown for an existing class."""
    snapshots: Snapshots | None = None
    """Snapshots of the claims of teams, by operator `external-snapshotter`; default: none."""
    binding: Literal["Immediate", "WaitForFirstConsumer"] = "Immediate"
    """When a volume is made for a claim: at once, or when a pod is scheduled."""

    @cached_property
    def driver(self) -> Driver | None:
        """What is known of the class's driver."""
        return driver(self.provisioner)

    @property
    def writable_by(self) -> Ownership:
        """Who lets pods write to its volumes: as it says, else as its driver does, else the kubelet."""
        return self.ownership or (self.driver.ownership if self.driver else "kubelet")

    def export_of(self, team: str, volume: str) -> str | None:
        """Return the name of the export that is a team's volume, or None."""
        claims = {(export.team, export.volume or name): name for name, export in self.exports.items()}
        return claims.get((team, volume))

    def persistent_volume(self, export: str) -> str:
        """Return the name of an export's PersistentVolume."""
        return f"{self.exports[export].team}-{export}"

    @property
    def squashed(self) -> bool:
        """Whether the kubelet would walk through volumes in vain, and fail at a folder closed to it.

        Its driver leaves ownership to the kubelet, but the server takes root for nobody.
        """
        return self.writable_by == "server" and (self.driver is None or self.driver.ownership == "kubelet")
