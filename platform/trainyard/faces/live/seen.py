"""What an API server shows: nodes and single objects, each read once, and only read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from trainyard.base.pools import Selectors, selector_text
from trainyard.faces.live.server import Answer

NOT_FOUND = 404
PAGE_SIZE = "500"

WHOLE = "application/json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Form in which a server sends an object without its fields: no value of a Secret leaves it."""

Word = Literal["there", "missing", "unseen"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a prerequisite is there, is missing, or cannot be seen from here, and why."""

    word: Word
    detail: str = ""


THERE = Verdict("there")


class Readable(Protocol):
    """A server that can be asked."""

    def version(self) -> str:
        """Return the minor version."""

    def request(
        self, method: str, path: str, *, query: list[tuple[str, str]] | None = None, accept: str = WHOLE
    ) -> tuple[Answer, dict[str, Any]]:
        """Send one request and return the answer with its body."""


class UnseenError(Exception):
    """A question that the server does not answer, such as for lack of rights."""


class NoNodesError(UnseenError):
    """A question about the nodes of a pool that has none."""


@dataclass
class Seen:
    """What a server shows of one cluster."""

    server: Readable
    selectors: Selectors
    """The labels that select the nodes of each pool."""
    _objects: dict[tuple[str, str], Mapping[str, Any] | None] = field(default_factory=dict)
    _lists: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)

    def get(self, path: str, *, accept: str = METADATA) -> Mapping[str, Any] | None:
        """Return the object at a path, None where there is none; raises UnseenError where the server does not say."""
        if (path, accept) not in self._objects:
            self._objects[path, accept] = self._read(path, accept)
        return self._objects[path, accept]

    def _read(self, path: str, accept: str) -> Mapping[str, Any] | None:
        answer, body = self.server.request("GET", path, accept=accept)
        if answer.code == NOT_FOUND:
            return None
        if not answer.accepted:
            raise UnseenError(answer.message or f"the API server answers {answer.code}")
        return body

    def items(self, path: str) -> list[Mapping[str, Any]]:
        """Return all objects of a list, page by page; raises UnseenError where the server does not say."""
        found: list[Mapping[str, Any]] = []
        following = ""
        while True:
            query = [("limit", PAGE_SIZE), *([("continue", following)] if following else [])]
            answer, body = self.server.request("GET", path, query=query)
            if not answer.accepted:
                raise UnseenError(answer.message or f"the API server answers {answer.code}")
            found += body.get("items") or []
            following = (body.get("metadata") or {}).get("continue") or ""
            if not following:
                return found

    def collection(self, path: str) -> list[Mapping[str, Any]]:
        """Return all objects of a list, read once; raises UnseenError where the server does not say."""
        if path not in self._lists:
            self._lists[path] = self.items(path)
        return self._lists[path]

    @cached_property
    def minor(self) -> str:
        """The minor version of the server; raises ToolError where it does not answer."""
        return self.server.version()

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes; raises UnseenError where they may not be listed."""
        return [Node(value) for value in self.items("/api/v1/nodes")]

    @cached_property
    def storage_nodes(self) -> Mapping[str, frozenset[str]]:
        """The storage drivers of each node, by its name; raises UnseenError where they may not be listed."""
        return {
            value["metadata"]["name"]: frozenset(driver["name"] for driver in value["spec"].get("drivers") or ())
            for value in self.items("/apis/storage.k8s.io/v1/csinodes")
        }

    def of_pool(self, pool: str) -> list[Node]:
        """Return the nodes with the labels of a pool; raises NoNodesError where there are none."""
        selector = self.selectors[pool]
        found = [node for node in self.nodes if selector.items() <= node.labels.items()]
        if not found:
            raise NoNodesError(f"no node has the label{'s' if len(selector) > 1 else ''} {selector_text(selector)}")
        return found

    def of_pools(self, pools: tuple[str, ...]) -> list[Node]:
        """Return the nodes with the labels of pools; raises NoNodesError where a pool has none."""
        return [node for pool in pools for node in self.of_pool(pool)]


@dataclass(frozen=True)
class Node:
    """A node as the server shows it."""

    value: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The node's name."""
        return str(self.value["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.value["metadata"].get("labels") or {}

    @property
    def taints(self) -> list[Mapping[str, str]]:
        """The node's taints, without those that tell of its condition."""
        found = (self.value.get("spec") or {}).get("taints") or []
        return [taint for taint in found if not str(taint.get("key")).startswith("node.kubernetes.io/")]

    @property
    def allocatable(self) -> Mapping[str, Any]:
        """The amounts that the kubelet offers to pods."""
        return (self.value.get("status") or {}).get("allocatable") or {}

    def info(self, name: str) -> str:
        """Return a field of the node's software, such as `kubeletVersion`."""
        return str(((self.value.get("status") or {}).get("nodeInfo") or {}).get(name) or "")
