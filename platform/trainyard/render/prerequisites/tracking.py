"""Prerequisites of experiment tracking: Secrets, databases, buckets, and the address that people open."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.render.parts.tracking import MLFLOW, SERVICE, has_server
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import Existing, namespaced
from trainyard.specs.models.tracking import Login, MLflow, WandbServer


def trackers(site: Site) -> Iterator[Prerequisite]:
    """Yield Secrets, databases and buckets of trackers on the cluster, and the addresses of others."""
    said = site.cluster.tracking
    if said is None:
        return
    if said.mlflow is not None and has_server(site.cluster):
        yield from mlflow(said.mlflow)
    elif said.mlflow is not None:
        yield elsewhere("MLflow", said.mlflow.url or "", ("tracking", MLFLOW, "url"))
    if said.wandb is not None and said.wandb.server is not None:
        yield from wandb(said.wandb.url, said.wandb.server)
    elif said.wandb is not None:
        yield elsewhere("Weights & Biases", said.wandb.url, ("tracking", "wandb", "url"))


def elsewhere(name: str, url: str, at: Path) -> Prerequisite:
    """Return a tracker that somebody else runs."""
    get = "open the way, by `egress` of the teams where it is inside of the cluster's ranges"
    return Prerequisite(f"{name} answers at {url}", "runs write there", at, get, look=f"`curl -I {url}`, from a pod")


def secret(namespace: str, reference: str, why: str, at: Path, value: str) -> Prerequisite:
    """Return a key of a Secret that a server reads."""
    name, _, key = reference.partition("/")
    get = f"`kubectl create secret generic -n {namespace} {name} --from-literal={key}={value}`"
    what = f"Secret `{namespace}/{name}` has key `{key}`"
    return Prerequisite(what, why, at, get, namespaced("Secret", "secrets", namespace, name))


def mlflow(said: MLflow) -> Iterator[Prerequisite]:
    """Yield the Secret, bucket and gateway of the cluster's MLflow."""
    at: Path = ("tracking", MLFLOW)
    if said.database is not None:
        inside = said.database.storage is not None
        value = "PASSWORD" if inside else "postgresql+psycopg2://USER:PASSWORD@HOST:5432/DATABASE"
        why = "its Postgres takes the password at its first start" if inside else "MLflow keeps metrics there"
        yield secret(MLFLOW, said.database.secret, why, (*at, "database", "secret"), value)
    if said.artifacts is not None and said.artifacts.bucket is not None:
        yield identity(said.artifacts.bucket, "mlflow/mlflow", dict(said.artifacts.annotations), (*at, "artifacts"))
    if said.gateway is not None:
        space = Existing("Namespace", said.gateway, f"/api/v1/namespaces/{said.gateway}")
        what, why = f"namespace `{said.gateway}` has the gateway that people come through", "MLflow lets it in"
        yield Prerequisite(what, why, (*at, "gateway"), "install the gateway there, or remove the field", space)
    if said.login is not None:
        yield from users(said.login, (*at, "login"))
    if said.url is not None:
        yield way(said.url, "mlflow/mlflow", (*at, "url"), login=said.login is not None)


def users(login: Login, at: Path) -> Iterator[Prerequisite]:
    """Yield the Secret of the server's login, and the users of teams."""
    keys = "--from-literal=admin-password=PASSWORD --from-literal=cookie-key=KEY"
    yield Prerequisite(
        f"Secret `{MLFLOW}/{login.secret}` has keys `admin-password`, of 12 characters or more, and `cookie-key`",
        "the server does not start without",
        (*at, "secret"),
        f"`kubectl create secret generic -n {MLFLOW} {login.secret} {keys}`",
        namespaced("Secret", "secrets", MLFLOW, login.secret),
    )
    make = f"`curl -u admin http://{SERVICE}/api/2.0/mlflow/users/create --json '"
    yield Prerequisite(
        f"MLflow has a user for each team, in keys `username` and `password` of the team's Secret `{login.runs}`",
        "runs log in as that user, and own the experiments that they make",
        (*at, "runs"),
        f'{make}{{"username": "TEAM", "password": "PASSWORD"}}\'`, and list the Secret in the team\'s file',
        look="a run of the team writes to its experiment",
    )


def wandb(url: str, said: WandbServer) -> Iterator[Prerequisite]:
    """Yield the Secrets, database and bucket of the cluster's Weights & Biases."""
    at: Path = ("tracking", "wandb", "server")
    yield secret("wandb", said.license, "the server asks for a license", (*at, "license"), "LICENSE")
    place = (*at, "database", "secret")
    yield secret("wandb", said.database.secret, "the server opens its MySQL with it", place, "PASSWORD")
    where = f"{said.database.host}:{said.database.port}"
    yield Prerequisite(
        f"MySQL 8 at {where} has database `{said.database.name}` and user `{said.database.user}`",
        "the server keeps metadata of runs there",
        (*at, "database"),
        "create both; the server makes its tables itself",
        look=f"`mysql -h {said.database.host} -u {said.database.user} -p {said.database.name}`",
    )
    bucket = f"{said.bucket.provider}://{said.bucket.name}"
    yield identity(bucket, "wandb/*", dict(said.bucket.annotations), (*at, "bucket"))
    get = "let the name lead to the cluster's ingress controller; the chart makes the Ingress"
    what = f"{url} leads to Ingress `wandb/wandb`"
    why = "runs write there, and people look at them"
    yield Prerequisite(what, why, ("tracking", "wandb", "url"), get, look=f"`curl -I {url}`")


def identity(bucket: str, account: str, notes: dict[str, str], at: Path) -> Prerequisite:
    """Return a bucket that a server reaches by the identity of its account."""
    who = f"service account `{account}`" + "".join(f", as `{value}`," for value in notes.values())
    what = f"bucket `{bucket}` is there, and {who} may read, write and delete in it"
    look = "the server's log shows no AccessDenied when a run logs a file"
    return Prerequisite(what, "files of runs are kept there", at, "create both at the provider", look=look)


def way(url: str, service: str, at: Path, *, login: bool) -> Prerequisite:
    """Return the way by which people reach a server; one without a login of its own is behind another."""
    what = f"{url} leads to Service `{service}`" + ("" if login else ", behind a login")
    why = "people look at runs there" if login else "the server itself asks nobody who they are"
    get = "create an Ingress or HTTPRoute" + (" with TLS" if login else " with your login")
    return Prerequisite(what, why, at, get, look=f"`curl -I {url}`")
