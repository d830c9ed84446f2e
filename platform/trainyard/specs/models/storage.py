"""Storage classes, and what is known of their drivers."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import StrictBool

from trainyard.specs.drivers import Access, Driver, Ownership, driver
from trainyard.specs.models.base import Name, Room, Spec, SubdomainName, Text


class SecretName(Spec):
    """A Secret beside a driver, with what it needs to speak to its storage; its values are never in Git."""

    name: SubdomainName
    """Name of the Secret."""
    namespace: Name
    """Its namespace."""


class Storage(Spec):
    """A storage class."""

    provisioner: Text
    """Name of the CSI driver; `drivers` of the cluster says that it is there."""
    access: Access = "ReadWriteMany"
    """Access mode of its claims."""
    throughput: Room | None = None
    """Bytes per second, whole class."""
    parameters: dict[str, str] = {}
    """Parameters of the StorageClass, as the driver's documentation names them."""
    secret: SecretName | None = None
    """The driver's Secret, for every call that needs one."""
    mount_options: tuple[Text, ...] = ()
    """Such as `nfsvers=4.1`, `hard`, `nconnect=8`; a wrong one fails every mount."""
    reclaim: Literal["Retain", "Delete"] | None = None
    """What becomes of a volume whose claim is deleted; default: Retain, but for scratch on local disks."""
    ownership: Ownership | None = None
    """Who lets pods write: the kubelet (by fsGroup), the driver, or the server, where somebody prepares each volume."""
    existing: StrictBool = False
    """The class is there already and is not ours to make."""
    allow_volume_expansion: StrictBool | None = None
    """Whether its volumes may grow; default: as the driver does, and of a class that exists unknown."""
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

    @property
    def squashed(self) -> bool:
        """Whether the kubelet would walk through volumes in vain, and fail at a folder closed to it.

        Its driver leaves ownership to the kubelet, but the server takes root for nobody.
        """
        return self.writable_by == "server" and (self.driver is None or self.driver.ownership == "kubelet")
