"""The one way Kubernetes objects come to be: a folder is a cdk8s chart, an object an ApiObject with its own name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cdk8s
from constructs import Construct as Scope

from trainyard.documents import Path
from trainyard.quantities import Quantity

AMOUNTS = frozenset({"sizeLimit", "nominalQuota", "borrowingLimit", "lendingLimit"})
"""Fields that hold one quantity (core EmptyDirVolumeSource; Kueue ResourceQuota)."""

AMOUNT_MAPS = frozenset({"limits", "requests", "capacity", "hard", "podFixed"})
"""Fields that map resources to quantities (ResourceRequirements, volumes, ResourceQuota, RuntimeClass overhead)."""


__all__ = ["Folder", "Origin", "Scope", "add", "canonical", "new_app"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The spec file and the field that an object comes from; no line, so that moving lines changes no index."""

    file: str
    path: Path = ()


class Folder(cdk8s.Chart):
    """One folder of `generated/<cluster>/`, such as `platform` or `runs/nlp/llama-abc`; names are what we say."""

    def __init__(self, scope: Scope, path: str) -> None:
        super().__init__(scope, path, disable_resource_name_hashes=True)
        self.path = path
        self._origins: list[Origin] = []
        self._names: set[tuple[str, str, str | None, str]] = set()

    def objects(self) -> list[tuple[dict[str, Any], Origin]]:
        """Return every object with the spec field it comes from, in the order in which they were added."""
        return list(zip(self.to_json(), self._origins, strict=True))

    def enter(self, key: tuple[str, str, str | None, str], origin: Origin) -> str:
        """Register an object and return its id in the chart; raises ValueError for one that is there already."""
        if key in self._names:
            raise ValueError(f"{key[1]} {key[3]!r} is added to folder {self.path!r} twice")
        self._names.add(key)
        self._origins.append(origin)
        return str(len(self._origins))


def new_app() -> cdk8s.App:
    """Return what folders are made in; it writes nothing, the tree is ours to write."""
    return cdk8s.App()


def add(
    chart: Folder,
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    origin: Origin,
    **fields: Any,
) -> None:
    """Add an object to a folder; `fields` are its fields beside metadata (`spec`, `data`, …), written as they are.

    None is left out at every depth, labels and annotations are sorted, quantities are canonical text; an empty name
    is that of a file for a program, such as a KubeletConfiguration, which has no metadata at all. The body goes
    in as one JSON patch of the whole document: an ApiObject of cdk8s takes no body from Python, and each further
    call to Node costs a third of a millisecond.
    """
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": dict(sorted((labels or {}).items())) or None,
        "annotations": dict(sorted((annotations or {}).items())) or None,
    }
    body = canonical({"apiVersion": api_version, "kind": kind, "metadata": metadata if name else None, **fields})
    identity = chart.enter((api_version.rpartition("/")[0], kind, namespace, name), origin)
    entry = cdk8s.ApiObject(chart, identity, api_version=api_version, kind=kind)
    entry.add_json_patch(cdk8s.JsonPatch.add("", body))


def include(chart: Folder, value: Mapping[str, Any], *, origin: Origin) -> None:
    """Add an object that somebody else wrote, every field of its own kept."""
    metadata = value.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    api_version, kind = str(value.get("apiVersion")), str(value.get("kind"))
    key = (api_version.rpartition("/")[0], kind, named.get("namespace"), str(named.get("name", "")))
    entry = cdk8s.ApiObject(chart, chart.enter(key, origin), api_version=api_version, kind=kind)
    entry.add_json_patch(cdk8s.JsonPatch.add("", canonical(value)))


def canonical(value: Any) -> Any:
    """Return a copy without None and with canonical quantities where Kubernetes reads quantities.

    Quantities become text: Kueue's webhooks store `"4"` for `4`, and the next apply of the number is refused
    (kueue v0.19.2 with trainer v2.3.0, `spec.trainer: self == oldSelf`).
    """
    if isinstance(value, Mapping):
        return {str(key): field(str(key), item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value if item is not None]
    return value


def field(key: str, value: Any) -> Any:
    """Return the canonical value of one field of an object."""
    if key in AMOUNTS:
        return amount(value)
    if key in AMOUNT_MAPS and isinstance(value, Mapping):
        return {str(name): amount(item) for name, item in value.items() if item is not None}
    return canonical(value)


def amount(value: Any) -> Any:
    """Return a quantity's canonical text; what is no quantity stays, for the API's verdict to name it."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return canonical(value)
    try:
        return Quantity.parse(value).canonical()
    except ValueError:
        return value
