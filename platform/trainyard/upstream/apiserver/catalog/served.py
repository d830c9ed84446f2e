"""One version of a kind as a server serves it: from the index of a release, or from a CRD among the inputs."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from trainyard.upstream.apiserver.catalog import crd, schemas
from trainyard.upstream.apiserver.catalog.releases import CORE, Choice, Shelf

RULES = b'"x-kubernetes-validations"'
INPUTS = "inputs"
"""Stands for the project of a kind whose CRD is among the inputs."""


@dataclass(frozen=True, eq=False)
class Kind:
    """One version of a kind: what a server's discovery says of it, and its schema, read when asked."""

    group: str
    version: str
    kind: str
    plural: str
    scope: str
    project: str
    release: str
    source: Path | Mapping[str, Any]
    served: bool = False
    storage: bool = False
    deprecated: str | None = None
    status: bool = False
    scale: Mapping[str, str] | None = None
    gate: str = ""
    """The feature gate, off by default, with which a server serves it; empty where it needs none."""

    @property
    def api_version(self) -> str:
        """Group and version as manifests write them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def namespaced(self) -> bool:
        """Whether objects live in a namespace."""
        return self.scope == "Namespaced"

    @property
    def typed(self) -> bool:
        """Whether the server decodes objects into Go structs, as it does core kinds, rather than by a CRD's schema."""
        return self.project == CORE

    @cached_property
    def schema(self) -> schemas.Schema:
        """The schema as `schemas.load` returns it."""
        if isinstance(self.source, Path):
            return schemas.load(self.source)
        return schemas.resolve(copy.deepcopy(dict(self.source)))

    @cached_property
    def ruled(self) -> bool:
        """Whether the schema may state rules in CEL, told without reading it whole."""
        return RULES in self.content

    @property
    def content(self) -> bytes:
        """The text of the schema, which tells it from others."""
        return self.source.read_bytes() if isinstance(self.source, Path) else json.dumps(self.source).encode()

    def same_schema(self, other: Kind) -> bool:
        """Whether both versions accept the same objects."""
        if isinstance(self.source, Path) and isinstance(other.source, Path):
            return self.source.read_bytes() == other.source.read_bytes()
        return self.source == other.source


@lru_cache(maxsize=128)
def from_index(shelf: Shelf, choice: Choice) -> Mapping[tuple[str, str], dict[str, Kind]]:
    """Return the kinds of one release by group and kind, from its index alone; clusters of one release share them."""
    folder = shelf.folder / choice.project / choice.release
    kinds: dict[tuple[str, str], dict[str, Kind]] = defaultdict(dict)
    for entry in shelf.index(choice.project, choice.release):
        source = folder / (entry["group"] or "core") / f"{entry['kind'].lower()}_{entry['version']}.json"
        kind = Kind(project=choice.project, release=choice.release, source=source, **entry)
        kinds[kind.group, kind.kind][kind.version] = kind
    return kinds


def from_crd(document: Mapping[str, Any]) -> Mapping[tuple[str, str], dict[str, Kind]]:
    """Return the kinds that a CRD defines, by group and kind."""
    kinds: dict[tuple[str, str], dict[str, Kind]] = defaultdict(dict)
    for definition in crd.definitions(document):
        kinds[definition.group, definition.kind][definition.version] = Kind(
            definition.group,
            definition.version,
            definition.kind,
            definition.plural,
            definition.scope,
            INPUTS,
            "",
            definition.schema,
            served=definition.served,
            storage=definition.storage,
            deprecated=definition.deprecated,
            status=definition.status,
            scale=definition.scale,
        )
    return kinds
