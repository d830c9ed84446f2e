"""The Argo CD that syncs a cluster, and when it must not change hardware."""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictStr, model_validator

from trainyard.specs.models.base import Form, Name, Spec, Text, Version, validation_error

Server = Annotated[StrictStr, Form(r"https?://[^\s/]+(?:/\S*)?", "an address such as https://10.0.0.1:6443")]


class Destination(Spec):
    """The cluster as Argo CD knows it: by name or by address."""

    name: Text | None = None
    """Name of the cluster in Argo CD."""
    server: Server | None = None
    """Address of the cluster's API server, such as `https://kubernetes.default.svc` if Argo CD runs on the cluster."""

    @model_validator(mode="after")
    def one_of_two(self) -> Destination:
        """Refuse both, as Argo CD does in an Application, and neither."""
        if (self.name is None) == (self.server is None):
            raise validation_error("one-of", "must have exactly one of: name, server")
        return self


class Window(Spec):
    """A time in which Argo CD may not sync changes of hardware (a deny window of an AppProject)."""

    schedule: Text
    """Cron expression of the start, such as `0 6 * * 1-5`."""
    duration: Text
    """Length of the window, such as `8h`."""
    time_zone: Text = "UTC"
    """IANA name of the schedule's time zone, such as `Europe/Berlin`."""


class ArgoCD(Spec):
    """The Argo CD that syncs this cluster."""

    version: Version
    """Release of Argo CD; its health scripts and ignored fields are written for it."""
    destination: Destination
    """The cluster as Argo CD knows it, by name or by address."""
    namespace: Name = "argocd"
    """Namespace of Argo CD and of its Applications."""
    hardware_deny: tuple[Window, ...] = ()
    """Times in which Argo CD does not sync changes of hardware; default: working days, 06:00 to 20:00 UTC."""
