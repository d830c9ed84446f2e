"""The login of MLflow's server: its own users, in the tables beside those of runs.

Facts: mlflow v3.17.2 mlflow/server/auth/config.py, __init__.py, asked as a real server: it starts only with a password
for the first user and a key for sessions; who makes an experiment may manage it; /health asks nobody.
"""

from __future__ import annotations

from typing import Any

from trainyard.specs.models.tracking import Login

FOLDER = "/login"
MOUNT = {"name": "login", "mountPath": FOLDER}
VOLUME: dict[str, Any] = {"name": "login", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}

LEVELS = {"none": "NO_PERMISSIONS", "read": "READ"}
"""What users may do with experiments of others, in words of MLflow (mlflow/server/auth/permissions.py)."""

WRITE = f"""\
import os
uri = os.environ["MLFLOW_BACKEND_STORE_URI"].replace("%", "%%")
fields = {{"default_permission": os.environ["OTHERS"], "database_uri": uri, "auth_cache_ttl_seconds": 60}}
with open("{FOLDER}/login.ini", "w") as file:
    print("[mlflow]", *(f"{{name}} = {{value}}" for name, value in fields.items()), sep="\\n", file=file)
"""
"""Writes the configuration, the only place for the database's address, which has a password.

Percent signs are doubled, as Python's configparser reads them. A check of a password takes a tenth of a second and
more, so one that was right counts for a minute.
"""


def settings(login: Login) -> list[dict[str, Any]]:
    """Return the variables of the login: its file, the first user, and the key of sessions."""
    return [
        {"name": "MLFLOW_AUTH_CONFIG_PATH", "value": f"{FOLDER}/login.ini"},
        {"name": "MLFLOW_AUTH_ADMIN_USERNAME", "value": "admin"},
        from_secret("MLFLOW_AUTH_ADMIN_PASSWORD", f"{login.secret}/admin-password"),
        from_secret("MLFLOW_FLASK_SERVER_SECRET_KEY", f"{login.secret}/cookie-key"),
    ]


def from_secret(name: str, reference: str) -> dict[str, Any]:
    """Return a variable whose value stands in a Secret: `secret/key`."""
    secret, _, key = reference.partition("/")
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
