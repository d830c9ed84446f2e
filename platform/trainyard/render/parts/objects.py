"""Objects and files to be: what each says, the field of a spec that it comes from; and the one spelling of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import Identity, group_of
from trainyard.base.quantities import Quantity

AMOUNTS = frozenset({"sizeLimit", "nominalQuota", "borrowingLimit", "lendingLimit"})
"""Fields that hold one quantity (core EmptyDirVolumeSource; Kueue ResourceQuota)."""

AMOUNT_MAPS = frozenset({"limits", "requests", "capacity", "hard", "podFixed"})
"""Fields that map resources to quantities (ResourceRequirements, volumes, ResourceQuota, RuntimeClass overhead)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """An object to be: what it says, and the field of a spec that it comes from."""

    api_version: str
    kind: str
    name: str
    at: Path
    """Field of the spec file."""
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Top-level fields beside metadata: `spec`, `data`, …"""
    source: str = "cluster"
    """Which spec `at` is a field of: `cluster`, `repository`, `team/<name>` or `job`."""

    @property
    def identity(self) -> Identity:
        """What tells it from every other object."""
        return Identity(group_of(self.api_version), self.kind, self.namespace or "", self.name)

    def value(self) -> dict[str, Any]:
        """Return the object as it is written: without None, labels sorted, quantities in canonical text."""
        metadata = {
            "name": self.name,
            "namespace": self.namespace,
            "labels": dict(sorted(self.labels.items())) or None,
            "annotations": dict(sorted(self.annotations.items())) or None,
        }
        found: dict[str, Any] = canonical(
            {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **self.fields}
        )
        return found


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file to be that no API server takes: what it says, and the field of a spec that it comes from."""

    name: str
    """In its folder."""
    text: str
    at: Path
    """Field of the spec file."""
    source: str = "cluster"
    """Which spec `at` is a field of, as in a Resource."""


def canonical(value: Any) -> Any:
    """Return a copy without None and with canonical quantities where Kubernetes reads quantities.

    Quantities become text: Kueue's webhooks store `"4"` for `4`, and the next apply of the number is refused
    (kueue v0.19.2 with trainer v2.3.0, `spec.trainer: self == oldSelf`).
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [item if isinstance(item, str) else canonical(item) for item in value if item is not None]
    if isinstance(value, (dict, Mapping)):
        return {str(key): of_field(str(key), item) for key, item in value.items() if item is not None}
    return value


def of_field(key: str, value: Any) -> Any:
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
