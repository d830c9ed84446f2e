"""The Argo CD that syncs a cluster, and when it must not change hardware."""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictStr, model_validator

from trainyard.specs.models.base import Form, Name, Spec, Text, Version, validation_error

Server = Annotated[StrictStr, Form(r"https?://[^\s/]+(?:/\S*)?", "an address such as https://10.0.0.1:6443")]


class Destination(Spec):
    """The cluster as Argo CD knows it: by name or by address."""

    name: Text | None = None
    """The name under which it was registered with Argo CD."""
    server: Server | None = None
    """Its address, such as `https://kubernetes.default.svc` for an Argo CD inside the cluster itself."""

    @model_validator(mode="after")
    def one_of_two(self) -> Destination:
        """Refuse both, as Argo CD does in an Application, and neither."""
        if (self.name is None) == (self.server is None):
            raise validation_error("one-of", "should have exactly one of: name, server")
        return self


class Window(Spec):
    """Times when hardware changes may not be synced (an AppProject deny window)."""

    schedule: Text
    """Cron expression of the start."""
    duration: Text
    """Such as `8h`."""
    time_zone: Text = "UTC"
    """As the IANA time zone database names it, such as `Europe/Berlin`."""


class ArgoCD(Spec):
    """The Argo CD that syncs this cluster."""

    version: Version
    """Its release; health scripts and fields to ignore are written for it."""
    destination: Destination
    """The cluster, by name or by address."""
    namespace: Name = "argocd"
    """Namespace of Argo CD, where its Applications are."""
    hardware_deny: tuple[Window, ...] = ()
    """Default: working days, 06:00 to 20:00 UTC."""
