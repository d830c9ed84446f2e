"""MLflow's server answers to runs and people alone, keeps no password in Git, and loses no data."""

from __future__ import annotations

import configparser
import subprocess
import sys
from typing import Any

import pytest

from everything import TRACKING, everything
from trainyard.render.operators.install import installed_operators
from trainyard.render.parts.objects import Resource

BUCKET = {
    "mlflow": {
        "url": "https://mlflow.example.com/tracking",
        "database": {"secret": "mlflow-database/uri"},
        "artifacts": {
            "bucket": "s3://models/mlflow",
            "annotations": {"azure.workload.identity/client-id": "00000000-0000-0000-0000-000000000000"},
        },
    }
}


def rendered(tracking: dict[str, Any] | None = None, **more: Any) -> dict[tuple[str, str], Resource]:
    """Return the server's objects by kind and name."""
    cluster = everything(tracking=tracking or TRACKING, **more)
    found = [item for site, known in installed_operators(cluster) if site.name == "mlflow" for item in known.own(site)]
    return {(item.kind, item.name): item for item in found}


def pod(item: Resource) -> dict[str, Any]:
    """Return the pod template of a controller."""
    return dict(item.fields["spec"]["template"])


def test_the_server_answers_to_the_service_and_to_its_address():
    """MLflow refuses every other host, with its port; a wrong one would refuse all runs."""
    env = {item["name"]: item for item in pod(rendered()["Deployment", "mlflow"])["spec"]["containers"][0]["env"]}
    assert env["MLFLOW_SERVER_ALLOWED_HOSTS"]["value"] == "mlflow.mlflow.svc:5000,mlflow.example.com"
    assert env["MLFLOW_SERVER_CORS_ALLOWED_ORIGINS"]["value"] == "https://mlflow.example.com"


def test_a_postgres_of_the_cluster_has_its_password_from_a_secret():
    """The variable of the password stands before the address that refers to it."""
    found = rendered()
    server = pod(found["Deployment", "mlflow"])["spec"]
    for container in (*server["initContainers"], *server["containers"]):
        names = [item["name"] for item in container["env"]]
        assert names[:2] == ["POSTGRES_PASSWORD", "MLFLOW_BACKEND_STORE_URI"]
        assert "$(POSTGRES_PASSWORD)@mlflow-postgres:5432" in container["env"][1]["value"]
    assert found["PersistentVolumeClaim", "mlflow-postgres"].annotations
    (rule,) = found["NetworkPolicy", "mlflow-postgres"].fields["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app": "mlflow"}}}]


def test_a_bucket_is_used_by_identity():
    """The account has the annotation, pods the label that the provider's webhook looks for, and nothing a key."""
    found = rendered(BUCKET)
    assert {kind for kind, _ in found} == {"ServiceAccount", "Service", "Deployment", "NetworkPolicy"}
    assert found["ServiceAccount", "mlflow"].annotations == BUCKET["mlflow"]["artifacts"]["annotations"]
    template = pod(found["Deployment", "mlflow"])
    assert template["metadata"]["labels"]["azure.workload.identity/use"] == "true"
    assert template["spec"]["containers"][0]["args"] == ["--artifacts-destination=s3://models/mlflow"]


def test_nothing_comes_of_a_cluster_that_says_nothing_of_its_server():
    """The check reports it; the rendering makes no half of a server."""
    assert rendered({"mlflow": {"url": "https://mlflow.example.com"}}) == {}


LOGIN = {"mlflow": {**TRACKING["mlflow"], "login": {"secret": "mlflow-login"}}}


def test_a_login_has_its_secrets_in_a_secret_and_its_users_in_the_database(tmp_path):
    """The program of the container writes a file that Python's configparser reads back, percent signs and all."""
    server = pod(rendered(LOGIN)["Deployment", "mlflow"])["spec"]
    main, writer = server["containers"][0], server["initContainers"][1]
    env = {item["name"]: item for item in main["env"]}
    for name, key in (("ADMIN_PASSWORD", "admin-password"), ("SECRET_KEY", "cookie-key")):
        (found,) = [item for item in env.values() if item["name"].endswith(name)]
        assert found["valueFrom"]["secretKeyRef"] == {"name": "mlflow-login", "key": key}
    assert "--app-name=basic-auth" in main["args"]
    program = writer["command"][2].replace("/login/", f"{tmp_path}/")
    uri = "postgresql+psycopg2://mlflow:p%40ss%w@db/mlflow"
    given = {"MLFLOW_BACKEND_STORE_URI": uri, "OTHERS": writer["env"][-1]["value"]}
    subprocess.run([sys.executable, "-c", program], env=given, check=True)
    read = configparser.ConfigParser()
    read.read(tmp_path / "login.ini")
    found = dict(read["mlflow"])
    assert found == {"default_permission": "NO_PERMISSIONS", "database_uri": uri, "auth_cache_ttl_seconds": "60"}


@pytest.mark.parametrize("watched", [True, False])
def test_prometheus_alone_reaches_the_counters(watched):
    """A container beside the server serves them, where somebody reads them."""
    found = rendered(TRACKING, monitoring={} if watched else None)
    server = pod(found["Deployment", "mlflow"])["spec"]
    assert [item["name"] for item in server["containers"]] == ["mlflow", *(["metrics"] if watched else [])]
    assert any("--expose-prometheus" in text for text in server["containers"][0]["args"]) is watched
    policy = found.get(("NetworkPolicy", "mlflow-metrics"))
    assert (policy is not None) is watched
    if policy is not None:
        (rule,) = policy.fields["spec"]["ingress"]
        assert rule["ports"] == [{"port": 8001, "protocol": "TCP"}]
        assert policy.fields["spec"]["podSelector"] == {"matchLabels": {"app": "mlflow"}}
        assert rule["from"][0]["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}
