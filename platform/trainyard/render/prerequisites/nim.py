"""Prerequisites of services of NVIDIA NIM: the Secrets that download their models and images."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.parts.nim import namespace
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import namespaced


def models(site: Site) -> Iterator[Prerequisite]:
    """Yield both Secrets of each team with services."""
    said = site.cluster.nim
    for team in sorted({service.team for service in said.services.values()} if said else ()):
        space, key, pull = namespace(site.cluster, team), said.api_key if said else "", said.pull_secret if said else ""
        yield Prerequisite(
            f"Secret `{space}/{key}` has key `NGC_API_KEY`",
            "models are downloaded with it",
            ("nim", "services"),
            f"`kubectl create secret generic -n {space} {key} --from-literal=NGC_API_KEY=KEY`",
            namespaced("Secret", "secrets", space, key),
        )
        get = f"`kubectl create secret docker-registry -n {space} {pull} --docker-server=nvcr.io"
        yield Prerequisite(
            f"Secret `{space}/{pull}` pulls images of nvcr.io",
            "the registry gives images of models to nobody else",
            ("nim", "services"),
            f"{get} --docker-username='$oauthtoken' --docker-password=KEY`",
            namespaced("Secret", "secrets", space, pull),
        )
