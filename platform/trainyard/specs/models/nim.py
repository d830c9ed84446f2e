"""Services of NVIDIA NIM on a cluster: models that are served beside training."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictStr

from trainyard.specs.models.base import Count, Form, Image, Name, Room, Spec, SubdomainName, Text

ServiceName = Annotated[
    StrictStr, Form("[a-z]([-a-z0-9]*[a-z0-9])?", "lower-case letters, digits and inner '-', a letter first", 50)
]
"""Name of a Service, with room for what the operator puts behind it (its nimcache_controller.go)."""


class NimService(Spec):
    """A model of NVIDIA NIM: it is downloaded once to a volume, and served by equal pods."""

    team: Name
    """Team whose pods may call it; it runs in the namespace `nim-…`, with the name of the team's own behind it."""
    image: Image
    """Image of the model by digest, such as `nvcr.io/nim/meta/llama-3.1-8b-instruct@sha256:…`."""
    pool: Name
    """Pool of its pods, with NVIDIA's GPUs whole; quotas of the pool must leave room for them."""
    gpus_per_pod: Count = 1
    """GPUs of each pod."""
    replicas: Count = 1
    """Pods."""
    storage: Name
    """Storage class of the model's volume; several pods need one that many nodes can mount."""
    size: Room
    """Bytes of the volume, with room for the model; another size, image or profile is a new download."""
    profiles: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Profiles of the model to download, as `list-model-profiles` in the image prints them; `all` is hundreds of GB."""
    clients: tuple[Name, ...] = ()
    """Namespaces beside the team's whose pods may call it, such as that of a gateway."""


class Nim(Spec):
    """NVIDIA NIM: `operators.nim-operator` runs the services."""

    api_key: SubdomainName = "ngc-api"
    """Secret in each of these namespaces whose key `NGC_API_KEY` downloads models."""
    pull_secret: SubdomainName = "ngc-pull"  # noqa: S105 - a name
    """Secret there of type `kubernetes.io/dockerconfigjson` that pulls images of nvcr.io."""
    services: dict[ServiceName, NimService] = Field(min_length=1)
    """Services by name."""
