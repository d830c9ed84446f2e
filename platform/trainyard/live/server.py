"""A real API server, asked what it would say: server-side apply in a dry run, with strict field validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.api.served import Kind
from trainyard.errors import ToolError

FIELD_MANAGER = "trainyard"
ANSWERS = frozenset({400, 403, 404, 409, 413, 422, 500})
"""Status codes that can be a verdict; 500 is one where no typed patch can be made (unknown fields, equal list keys)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said of one object."""

    code: int
    reason: str
    message: str

    @property
    def accepted(self) -> bool:
        """Whether the server would take the object."""
        return self.code < 300

    @property
    def told(self) -> bool:
        """Whether the answer says anything about the object; a webhook that cannot be reached does not."""
        silent = ("failed calling webhook", "context deadline exceeded", "connection refused", "etcdserver")
        if self.code == 500:
            return "failed to create typed patch" in self.message or "admission webhook" in self.message
        return self.accepted or (self.code in ANSWERS and not any(text in self.message for text in silent))


class Server:
    """A connection to one API server."""

    def __init__(self, *, kubeconfig: Path | None = None, context: str | None = None) -> None:
        try:
            from kubernetes import config

            connect: Callable[..., Any] = config.new_client_from_config
        except ImportError as error:
            raise ToolError("the Kubernetes client is missing; install trainyard[live]") from error
        try:
            self._client = connect(None if kubeconfig is None else str(kubeconfig), context)
        except config.ConfigException as error:
            raise ToolError(f"the kubeconfig cannot be used: {error}") from error

    def version(self) -> str:
        """Return the server's minor version, such as `1.35`."""
        answer, body = self.request("GET", "/version")
        if not answer.accepted:
            raise ToolError(f"the API server does not answer: {answer.message}")
        return f"{body['major']}.{str(body['minor']).rstrip('+')}"

    def apply(self, value: Mapping[str, Any], kind: Kind, *, dry_run: bool = True) -> Answer:
        """Apply an object on the server; without `dry_run` for real, which only a throwaway cluster deserves."""
        query = [("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict"), ("force", "true")]
        if dry_run:
            query.append(("dryRun", "All"))
        answer, _ = self.request("PATCH", path_of(value, kind), query=query, body=value)
        return answer

    def request(
        self,
        method: str,
        path: str,
        *,
        query: list[tuple[str, str]] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[Answer, dict[str, Any]]:
        """Send one request and return the answer with its body."""
        from urllib3.exceptions import HTTPError

        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/apply-patch+yaml"
        prepared = self._client.param_serialize(
            method, path, query_params=query or [], header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        try:
            response = self._client.call_api(*prepared)
            data = response.read()
        except HTTPError as error:
            raise ToolError(f"the API server cannot be reached: {error}") from error
        status = decoded(data)
        if response.status < 300:
            return Answer(response.status, "", ""), status
        return Answer(response.status, str(status.get("reason", "")), str(status.get("message", ""))), status


def decoded(body: Any) -> dict[str, Any]:
    """Return the Status object of an error, or an empty one where the body is something else."""
    try:
        value = json.loads(body)
    except (TypeError, ValueError):
        return {"message": str(body or "")}
    return value if isinstance(value, dict) else {"message": str(value)}


def path_of(value: Mapping[str, Any], kind: Kind) -> str:
    """Return the address of an object on a server."""
    metadata = value.get("metadata") or {}
    top = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    namespace = f"/namespaces/{metadata.get('namespace') or 'default'}" if kind.namespaced else ""
    return f"{top}{namespace}/{kind.plural}/{metadata.get('name')}"
