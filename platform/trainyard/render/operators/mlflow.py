"""MLflow: its server, and a Postgres where the cluster's file asks for one.

Facts: mlflow v3.17.2, asked as a real server on Postgres: it refuses hosts that are not listed (403), `db upgrade` also
makes the tables of an empty database, and jobs of its own take 1.6 GiB of memory that training does not need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from trainyard.base.labels import NAMESPACE, PROTECTED, TEAM
from trainyard.render.operators import mlflow_login
from trainyard.render.operators.base import Operator, Site
from trainyard.render.operators.mlflow_login import from_secret
from trainyard.render.parts import prometheus, unprivileged
from trainyard.render.parts.identity import labels_for
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.tracking import PORT, SERVICE
from trainyard.specs.models.storage import Storage
from trainyard.specs.models.tracking import Artifacts, Database, Login, MLflow

NAME = "mlflow"
POSTGRES = "mlflow-postgres"
POSTGRES_PORT = 5432
POSTGRES_USER = 999
"""User of postgres in its image (docker-library/postgres 17 Dockerfile)."""

SERVER_USER = 1000
FILES = "/artifacts"
TMP = "/tmp"  # noqa: S108 - of the pod
DATA = "/var/lib/postgresql/data"

METRICS = f"{TMP}/metrics"
"""Where the processes of the server leave their counters."""

METRICS_PORT = 8001
READ_METRICS = f"""\
import os
import threading
os.makedirs("{METRICS}", exist_ok=True)
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector
registry = CollectorRegistry()
MultiProcessCollector(registry)
start_http_server({METRICS_PORT}, registry=registry)
threading.Event().wait()
"""
"""Serves the counters at a port of their own (24 MiB, measured).

The server's own /metrics refuses Prometheus: by its address, as other hosts, and with a login everybody but
administrators (MLFLOW_BASIC_AUTH_FAIL_CLOSED; asked with a real server).
"""

WORKERS = 2
"""Processes of the server, each with 250 MiB (measured)."""


class MLflowServer(Operator):
    """The server's objects; nothing where the cluster says nothing of its database and files."""

    name = NAME

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the account, claims, database, server, and the policies by which runs and people reach it."""
        said = site.cluster.tracking.mlflow if site.cluster.tracking else None
        if said is None or said.database is None or said.artifacts is None:
            return
        yield make(site, "v1", "ServiceAccount", NAME, "artifacts", notes=dict(said.artifacts.annotations))
        if said.database.storage is not None:
            yield from database(site, said.database, said.database.storage)
        if said.artifacts.storage is not None:
            yield claim(site, NAME, "artifacts", said.artifacts.storage, said.artifacts.size)
        yield service(site, NAME, PORT)
        yield server(site, said, said.database, said.artifacts)
        yield policy(site, NAME, PORT, sources(said))
        place = prometheus.namespace(site.cluster)
        if place is not None:
            yield policy(site, "mlflow-metrics", METRICS_PORT, [prometheus.peer(place)], of=NAME)


def make(
    site: Site, api: str, kind: str, name: str, field: str, *, notes: dict[str, str] | None = None, **fields: Any
) -> Resource:
    """Return an object of the server's namespace, by the field of `tracking.mlflow` that it comes from."""
    at = ("tracking", "mlflow", field) if field else ("tracking", "mlflow")
    labels = {"app": name}
    return Resource(api, kind, name, at, site.facts.namespace, labels, notes or {}, fields)


def claim(site: Site, name: str, field: str, storage: str, size: str) -> Resource:
    """Return a claim, which stays whatever vanishes from Git."""
    mode = site.cluster.storage.get(storage, Storage(provisioner="none")).access
    spec = {
        "accessModes": [mode],
        "storageClassName": storage,
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": size}},
    }
    return make(site, "v1", "PersistentVolumeClaim", name, field, notes=dict(PROTECTED), spec=spec)


def service(site: Site, name: str, port: int) -> Resource:
    """Return the Service before one of the two programs."""
    spec = {"selector": {"app": name}, "ports": [{"name": "tcp", "port": port, "targetPort": port}]}
    return make(site, "v1", "Service", name, "", spec=spec)


def policy(site: Site, name: str, port: int, allowed: list[dict[str, Any]], *, of: str = "") -> Resource:
    """Return who reaches a program; it may itself reach databases, buckets and providers outside."""
    rule = {"from": allowed, "ports": [{"port": port, "protocol": "TCP"}]}
    spec = {"podSelector": {"matchLabels": {"app": of or name}}, "policyTypes": ["Ingress"], "ingress": [rule]}
    return make(site, "networking.k8s.io/v1", "NetworkPolicy", name, "", spec=spec)


def sources(said: MLflow) -> list[dict[str, Any]]:
    """Return who reaches the server: pods of all teams, and the gateway that people come through."""
    found: list[dict[str, Any]] = [{"namespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]}}]
    if said.gateway is not None:
        found.append({"namespaceSelector": {"matchLabels": {NAMESPACE: said.gateway}}})
    return found


def database(site: Site, said: Database, storage: str) -> Iterator[Resource]:
    """Yield a Postgres: one pod at most, which the server alone reaches."""
    yield claim(site, POSTGRES, "database", storage, said.size)
    yield service(site, POSTGRES, POSTGRES_PORT)
    env = [
        {"name": "POSTGRES_USER", "value": NAME},
        {"name": "POSTGRES_DB", "value": NAME},
        {"name": "PGDATA", "value": f"{DATA}/pgdata"},
        from_secret("POSTGRES_PASSWORD", said.secret),
    ]
    ready = {"exec": {"command": ["pg_isready", "-U", NAME, "-d", NAME]}, "periodSeconds": 10}
    container = {
        **basis(site, "postgres", site.components["postgres"]["image"], POSTGRES),
        "env": env,
        "ports": [{"containerPort": POSTGRES_PORT}],
        "readinessProbe": ready,
        "volumeMounts": [{"name": "data", "mountPath": DATA}],
    }
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": POSTGRES}}]
    pod = pod_spec(POSTGRES_USER, [container], volumes)
    spec = {"serviceName": POSTGRES, "replicas": 1, **selected(POSTGRES, pod)}
    yield make(site, "apps/v1", "StatefulSet", POSTGRES, "database", spec=spec)
    yield policy(site, POSTGRES, POSTGRES_PORT, [{"podSelector": {"matchLabels": {"app": NAME}}}])


def server(site: Site, said: MLflow, store: Database, files: Artifacts) -> Resource:
    """Return the server: one pod, which first brings the database to its release; clients retry while it starts."""
    image = site.components["server"]["image"]
    folder = {"name": "tmp", "mountPath": TMP}
    mounts = [folder, *([{"name": "artifacts", "mountPath": FILES}] if files.storage else [])]
    mounts += [mlflow_login.MOUNT] if said.login else []
    env = [*uri(store), {"name": "HOME", "value": TMP}, {"name": "MLFLOW_DISABLE_TELEMETRY", "value": "true"}]
    upgrade = {
        **basis(site, "upgrade", image, NAME),
        "command": ["mlflow", "db", "upgrade", "$(MLFLOW_BACKEND_STORE_URI)"],
        "env": env,
        "volumeMounts": [folder],
    }
    main = {
        **basis(site, NAME, image, NAME),
        "command": ["mlflow", "server", "--host=0.0.0.0", f"--port={PORT}", f"--workers={WORKERS}"],
        "args": [
            f"--artifacts-destination={files.bucket or FILES}",
            *([f"--expose-prometheus={METRICS}"] if prometheus.namespace(site.cluster) else []),
            *(["--app-name=basic-auth"] if said.login else []),
        ],
        "workingDir": TMP,
        "env": [*env, *settings(said), *(mlflow_login.settings(said.login) if said.login else ())],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 10},
        "livenessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 30, "failureThreshold": 10},
        "volumeMounts": mounts,
    }
    volumes: list[dict[str, Any]] = [{"name": "tmp", "emptyDir": {"sizeLimit": "10Gi"}}]
    volumes += [{"name": "artifacts", "persistentVolumeClaim": {"claimName": NAME}}] if files.storage else []
    volumes += [mlflow_login.VOLUME] if said.login else []
    pod = {
        **pod_spec(
            SERVER_USER,
            [main, *([metrics(site, image, folder)] if prometheus.namespace(site.cluster) else [])],
            volumes,
        ),
        "initContainers": [upgrade, *([users(site, image, env, said.login)] if said.login else [])],
        "serviceAccountName": NAME,
    }
    spec = {"replicas": 1, "strategy": {"type": "Recreate"}, **selected(NAME, pod, labels_for(files.annotations))}
    return make(site, "apps/v1", "Deployment", NAME, "", spec=spec)


def metrics(site: Site, image: str, folder: dict[str, str]) -> dict[str, Any]:
    """Return the container that serves the counters to Prometheus."""
    return {
        **basis(site, "metrics", image, NAME),
        "command": ["python", "-c", READ_METRICS],
        "env": [{"name": "PROMETHEUS_MULTIPROC_DIR", "value": METRICS}],
        "ports": [{"containerPort": METRICS_PORT, "name": "metrics"}],
        "volumeMounts": [folder],
    }


def users(site: Site, image: str, env: list[dict[str, Any]], login: Login) -> dict[str, Any]:
    """Return the container that writes the configuration of the login."""
    return {
        **basis(site, "upgrade", image, NAME),
        "name": "login",
        "command": ["python", "-c", mlflow_login.WRITE],
        "env": [*env, {"name": "OTHERS", "value": mlflow_login.LEVELS[login.others]}],
        "volumeMounts": [mlflow_login.MOUNT],
    }


def settings(said: MLflow) -> list[dict[str, str]]:
    """Return the server's settings: the hosts that it answers to, and nothing beside tracking."""
    host = urlsplit(said.url).netloc if said.url else ""
    origins = [{"name": "MLFLOW_SERVER_CORS_ALLOWED_ORIGINS", "value": origin(said.url)}] if said.url else []
    return [
        {"name": "MLFLOW_SERVER_ALLOWED_HOSTS", "value": ",".join(filter(None, (SERVICE, host)))},
        *origins,
        {"name": "MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "false"},
    ]


def origin(url: str) -> str:
    """Return scheme and host of an address, as browsers send it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def uri(store: Database) -> list[dict[str, Any]]:
    """Return the variables with the database's address; its password stands in a Secret alone."""
    if store.storage is None:
        return [from_secret("MLFLOW_BACKEND_STORE_URI", store.secret)]
    value = f"postgresql+psycopg2://{NAME}:$(POSTGRES_PASSWORD)@{POSTGRES}:{POSTGRES_PORT}/{NAME}"
    password = from_secret("POSTGRES_PASSWORD", store.secret)
    return [password, {"name": "MLFLOW_BACKEND_STORE_URI", "value": value}]


def basis(site: Site, name: str, image: str, daemon_name: str) -> dict[str, Any]:
    """Return a container with the amounts of the facts, which may do nothing that Pod Security refuses."""
    (asked,) = (
        container.resources.model_dump()
        for daemon in site.facts.daemons
        if daemon.name == daemon_name
        for container in daemon.containers
        if container.name == name
    )
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {key: amounts for key, amounts in asked.items() if amounts},
        "securityContext": unprivileged.LEAST,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def pod_spec(user: int, containers: list[dict[str, Any]], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a pod that has no token of the API server."""
    who = {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": who,
        "containers": containers,
        "volumes": volumes,
    }


def selected(name: str, pod: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    """Return selector and template of a controller's pods."""
    own = {"app": name}
    return {
        "selector": {"matchLabels": own},
        "template": {"metadata": {"labels": {**own, **(labels or {})}}, "spec": pod},
    }


OPERATOR = MLflowServer()
