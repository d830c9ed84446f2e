"""Whether the trackers of a cluster have what they need: a server or an address, a database, and places for files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.parts.identity import foreign_providers, malformed_providers
from trainyard.render.parts.tracking import MLFLOW, WANDB_OPERATOR
from trainyard.specs import Cluster
from trainyard.specs.models.tracking import MLflow, Wandb
from trainyard.specs.sources import Source

SERVER = Rule(
    id="spec/tracking-server",
    title="Every tracker of a cluster is installed, or has an address.",
    why="otherwise runs get no address, or nobody starts the server that the file describes",
    fix="add the operator, set url, or remove the tracker",
    source="docs/tracking.md",
    may_warn=True,
)
STORAGE = Rule(
    id="spec/tracking-storage",
    title="Claims of trackers use storage classes of the cluster.",
    why="a claim of an unknown class stays pending, and the server with it",
    fix="name a key of the cluster's storage",
    source="kubernetes v1.35 pkg/controller/volume/persistentvolume/pv_controller.go; docs/tracking.md",
)
IDENTITY = Rule(
    id="spec/tracking-identity",
    title="Annotations of trackers' accounts have the form that their provider reads.",
    why="its webhook gives the server no credentials, so it cannot write to the bucket",
    fix="correct the value, or use the annotation of the cluster's own provider",
    source="docs/tracking.md; platform/trainyard/render/parts/identity.py",
    may_warn=True,
)

SERVICE = re.compile(r".*wandb\.ai[^.]*")
"""Addresses of the service, of which clients take only that of the API (wandb v0.31 wandb_settings.py base_url)."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield trackers without server or address, and servers without what they need."""
    said = cluster.tracking
    if said is not None and said.mlflow is not None:
        yield from check_mlflow(cluster, source, said.mlflow)
    elif cluster.installs(MLFLOW):
        message = "operators installs mlflow, but tracking.mlflow is missing, so there is no server; add it"
        yield SERVER.at(source, ("operators", MLFLOW), message, key=True)
    if said is not None and said.wandb is not None:
        yield from check_wandb(cluster, source, said.wandb)


def check_mlflow(cluster: Cluster, source: Source, said: MLflow) -> Iterator[Finding]:
    """Yield missing parts of an MLflow, parts without effect, and unknown storage."""
    at: Path = ("tracking", "mlflow")
    parts = {"database": said.database, "artifacts": said.artifacts}
    used = {**parts, "login": said.login}
    if cluster.installs(MLFLOW):
        for missing in [name for name, part in parts.items() if part is None]:
            message = f"mlflow is installed from here, but {missing} is missing, so there is no server; add it"
            yield SERVER.at(source, at, message, key=True)
    else:
        if said.url is None:
            absent = " and ".join(name for name, part in parts.items() if part is None)
            message = "mlflow has no url and no server from here; set url, or add mlflow to operators"
            message += f", with {absent}" if absent else ""
            yield SERVER.at(source, at, message, key=True)
        for unused in [name for name, part in used.items() if part is not None]:
            message = f"{unused} has no effect, since mlflow is not installed from here; add it to operators"
            yield SERVER.at(source, (*at, unused), message, key=True, severity=Severity.WARNING)
    if cluster.installs(MLFLOW) and said.login is not None and said.token is not None:
        message = "runs log in by login.runs, so token has no effect; remove it"
        yield SERVER.at(source, (*at, "token"), message, key=True, severity=Severity.WARNING)
    for name, storage in (
        ("database", said.database.storage if said.database else None),
        ("artifacts", said.artifacts.storage if said.artifacts else None),
    ):
        if storage is not None and storage not in cluster.storage:
            hint = did_you_mean(storage, cluster.storage)
            yield STORAGE.at(source, (*at, name, "storage"), f"storage {storage!r} does not exist; {hint}")
    if said.artifacts is not None:
        yield from check_identity(cluster, source, (*at, "artifacts", "annotations"), said.artifacts.annotations)


def check_wandb(cluster: Cluster, source: Source, said: Wandb) -> Iterator[Finding]:
    """Yield a server of Weights & Biases without its operator, and an operator without a server."""
    at: Path = ("tracking", "wandb")
    if SERVICE.fullmatch(said.url) and not (said.url.startswith("https:") and "api." in said.url):
        message = f"clients of Weights & Biases refuse url {said.url!r}; use https://api.wandb.ai"
        yield SERVER.at(source, (*at, "url"), message)
    if said.server is not None:
        if WANDB_OPERATOR not in cluster.operators:
            message = "server needs wandb-operator, which installs it; add it to operators"
            yield SERVER.at(source, (*at, "server"), message, key=True)
        bucket = said.server.bucket
        yield from check_identity(cluster, source, (*at, "server", "bucket", "annotations"), bucket.annotations)


def check_identity(cluster: Cluster, source: Source, at: Path, annotations: dict[str, str]) -> Iterator[Finding]:
    """Yield annotations that their provider could not read, and those of a provider that is not the cluster's."""
    facts = cluster.distribution
    for provider in foreign_providers(annotations, facts.provider):
        message = f"nothing on {facts.title} reads this annotation, so the server has no rights; use its provider's"
        yield IDENTITY.at(source, (*at, provider.annotation), message, key=True, severity=Severity.WARNING)
    for provider in malformed_providers(annotations):
        value = annotations[provider.annotation]
        yield IDENTITY.at(source, (*at, provider.annotation), f"{value[:40]!r} must be {provider.should}")
