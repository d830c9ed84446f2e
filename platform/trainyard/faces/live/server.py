"""A real API server, asked what it would say: server-side apply in a dry run, with strict field validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainyard.base.errors import ToolError
from trainyard.base.system.distribution import remedy
from trainyard.base.system.files import require_file
from trainyard.upstream.apiserver import Kind

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
    def concerns_object(self) -> bool:
        """Whether the answer says anything about the object; a webhook that cannot be reached does not."""
        silent = ("failed calling webhook", "context deadline exceeded", "connection refused", "etcdserver")
        if self.code == 500:
            return "failed to create typed patch" in self.message or "admission webhook" in self.message
        return self.accepted or (self.code in ANSWERS and not any(text in self.message for text in silent))


class Server:
    """A connection to one API server."""

    def __init__(self, *, kubeconfig: Path | None = None, context: str | None = None) -> None:
        require_file(str(kubeconfig), "--kubeconfig")
        try:
            from kubernetes import config

            connect: Callable[..., Any] = config.new_client_from_config
        except ImportError as error:
            raise ToolError(f"the Kubernetes client is missing; {remedy('live')}") from error
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
        query = [*write_query(dry_run=dry_run), ("force", "true")]
        return self.request("PATCH", path_of(value, kind), query=query, body=value)[0]

    def create(self, value: Mapping[str, Any], kind: Kind) -> Answer:
        """Ask in a dry run what the server would say if the object were created."""
        return self.ask_create(value, kind)[0]

    def ask_create(self, value: Mapping[str, Any], kind: Kind) -> tuple[Answer, dict[str, Any]]:
        """Ask the same, and return what the server answered with: the object as created, or a Status with causes."""
        collection = path_of(value, kind).rpartition("/")[0]
        return self.request("POST", collection, query=write_query(dry_run=True), body=value)

    def delete(self, value: Mapping[str, Any], kind: Kind) -> Answer:
        """Delete an object from the server, which only a throwaway cluster deserves."""
        path = path_of(value, kind)
        self.request("PATCH", path, body={"metadata": {"finalizers": None}}, media_type="application/merge-patch+json")
        return self.request("DELETE", path, query=[("gracePeriodSeconds", "0")])[0]

    def request(
        self,
        method: str,
        path: str,
        *,
        query: list[tuple[str, str]] | None = None,
        body: Mapping[str, Any] | None = None,
        media_type: str | None = None,
        accept: str = "application/json",
    ) -> tuple[Answer, dict[str, Any]]:
        """Send one request and return the answer with its body, in the form that `accept` names."""
        from urllib3.exceptions import HTTPError

        headers = {"Accept": accept}
        if body is not None:
            plain = "application/json" if method == "POST" else "application/apply-patch+yaml"
            headers["Content-Type"] = media_type or plain
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


def write_query(*, dry_run: bool) -> list[tuple[str, str]]:
    """Return the query of a write: strict about fields, under our name, and in a dry run if that is asked."""
    query = [("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")]
    return [*query, ("dryRun", "All")] if dry_run else query


def decoded(body: Any) -> dict[str, Any]:
    """Return the Status object of an error, or an empty one where the body is something else."""
    try:
        value = json.loads(body)
    except (TypeError, ValueError, RecursionError):
        return {"message": str(body or "")}
    return value if isinstance(value, dict) else {"message": str(value)}


def path_of(value: Mapping[str, Any], kind: Kind) -> str:
    """Return the address of an object on a server, whatever its metadata is."""
    given = value.get("metadata")
    metadata = given if isinstance(given, Mapping) else {}
    top = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    namespace = f"/namespaces/{quote(metadata.get('namespace') or 'default', safe='')}" if kind.namespaced else ""
    name = quote(str(metadata.get("name") or ""), safe="")
    return f"{top}{namespace}/{kind.plural}/{name}"
