"""Where runs write their metrics, parameters and models: MLflow and Weights & Biases."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, StrictStr, model_validator

from trainyard.specs.models.base import (
    HIGHEST_PORT,
    Address,
    Form,
    Name,
    Room,
    Spec,
    SubdomainName,
    Text,
    Version,
    validation_error,
)

Tracker = Literal["mlflow", "wandb"]
"""Programs that keep what runs write of themselves."""

SecretKey = Annotated[StrictStr, Form(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[-._a-zA-Z0-9]+", "secret/key, never the value")]
BucketAddress = Annotated[
    StrictStr, Form(r"(?:s3|gs|wasbs|abfss)://[A-Za-z0-9][A-Za-z0-9._@/-]*", "a bucket such as s3://name/folder")
]


class Database(Spec):
    """The Postgres of MLflow: one that somebody else runs, or one in the cluster."""

    secret: SecretKey
    """Key of a Secret in namespace `mlflow`: without `storage` a URI `postgresql+psycopg2://…`, with it a password."""
    storage: Name | None = None
    """Storage class for a Postgres in the cluster; default: the URI's database is used."""
    size: Room = "20Gi"
    """Bytes of its claim; a volume cannot shrink."""


class Artifacts(Spec):
    """Where MLflow keeps files: a bucket, which the server reads by its identity, or a claim."""

    bucket: BucketAddress | None = None
    """Bucket and folder, such as `s3://models/mlflow`; the server alone needs rights, and no key is stored."""
    annotations: dict[Text, Text] = {}
    """Annotations of the server's service account, such as `eks.amazonaws.com/role-arn: arn:…`."""
    storage: Name | None = None
    """Storage class of a claim, instead of `bucket`."""
    size: Room = "200Gi"
    """Bytes of the claim."""

    @model_validator(mode="after")
    def one_place(self) -> Self:
        """Refuse files in two places, or in none."""
        if (self.bucket is None) == (self.storage is None):
            raise validation_error("one-of", "must have exactly one of: bucket, storage")
        if self.annotations and self.bucket is None:
            raise validation_error("one-of", "has annotations, which only a bucket needs; remove them")
        return self


class Login(Spec):
    """Users of the MLflow that is installed; its administrator makes them, and they are in its own database."""

    secret: SubdomainName
    """Secret in namespace `mlflow` with keys `admin-password`, for user `admin`, and `cookie-key`, for sessions."""
    others: Literal["none", "read"] = "none"
    """Right of users to experiments of others: `none`, or to read; who makes an experiment may do all."""
    runs: SubdomainName = "mlflow-user"
    """Secret of each team with keys `username` and `password`: the user of its runs, best one for each team."""


class MLflow(Spec):
    """An MLflow server: `operators.mlflow` installs it, or it is elsewhere at `url`."""

    url: Address | None = None
    """Address at which people open it; also runs use it where the operator is not installed from here."""
    database: Database | None = None
    """Postgres of the server that is installed."""
    artifacts: Artifacts | None = None
    """Files of the server that is installed."""
    gateway: Name | None = None
    """Namespace of the ingress controller or gateway that leads people from `url` to Service `mlflow/mlflow`."""
    login: Login | None = None
    """Login of the server that is installed; default: it asks nobody who they are."""
    token: SecretKey | None = None
    """Key of a Secret of each team with a token for a server that asks for one; variable MLFLOW_TRACKING_TOKEN."""


class WandbDatabase(Spec):
    """The MySQL 8 of Weights & Biases, which somebody else runs."""

    host: SubdomainName
    """Host name."""
    port: Annotated[StrictInt, Field(ge=1, le=HIGHEST_PORT)] = 3306
    """Port."""
    name: Text = "wandb_local"
    """Name of the database."""
    user: Text = "wandb"
    """User of the database."""
    secret: SecretKey
    """Key of a Secret in namespace `wandb` with the password."""


class WandbBucket(Spec):
    """The bucket of Weights & Biases, which its pods use by their identity."""

    provider: Literal["s3", "gcs", "az"]
    """Kind of object store."""
    name: Text
    """Name of the bucket; for `az`, account and container with a slash."""
    region: Text | None = None
    """Region of an S3 bucket."""
    annotations: dict[Text, Text] = {}
    """Annotations of the pods' service accounts, such as `eks.amazonaws.com/role-arn: arn:…`."""


class WandbServer(Spec):
    """A Weights & Biases server that `operators.wandb-operator` runs."""

    chart: Version
    """Release of the chart `operator-wandb` that the operator installs."""
    license: SecretKey
    """Key of a Secret in namespace `wandb` with the license."""
    database: WandbDatabase
    """MySQL of the server."""
    bucket: WandbBucket
    """Files of the server."""


class Wandb(Spec):
    """A Weights & Biases server, or the service at https://api.wandb.ai."""

    url: Address
    """Address of the API, for runs and for people's browsers: `https://api.wandb.ai`, or the server's own."""
    entity: Text
    """User or team of Weights & Biases that owns the runs."""
    project: Text | None = None
    """Project of the runs; default: the team's name."""
    api_key: SecretKey
    """Key of a Secret of each team with its API key; variable WANDB_API_KEY."""
    server: WandbServer | None = None
    """The server on this cluster; default: it is somewhere else."""


class Tracking(Spec):
    """Experiment tracking of a cluster; a job opts in by its field `tracking`."""

    mlflow: MLflow | None = None
    """MLflow."""
    wandb: Wandb | None = None
    """Weights & Biases."""

    @property
    def names(self) -> tuple[Tracker, ...]:
        """The trackers that the cluster has."""
        found: tuple[tuple[Tracker, object], ...] = (("mlflow", self.mlflow), ("wandb", self.wandb))
        return tuple(name for name, said in found if said is not None)
