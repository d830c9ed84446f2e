"""StorageVersionMigrations, which servers serve from Kubernetes 1.37 on: what is written again, and no change of it.

Source: k8s.io/kubernetes v1.37.2 pkg/apis/storagemigration/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_SOURCE = "k8s.io/kubernetes v1.37.2 pkg/apis/storagemigration/validation/validation.go"
MIGRATION = Rule(
    "core/storage-migration",
    f"{_SOURCE} ValidateStorageVersionMigration",
    title="A StorageVersionMigration names a resource and its group.",
    fix="write the plural in lower case, such as resource: deployments and group: apps",
)
IMMUTABLE = Rule(
    "update/storage-migration",
    f"{_SOURCE} ValidateStorageVersionMigrationUpdate",
    title="An update keeps the spec of a StorageVersionMigration.",
    fix="restore spec, or create another one",
)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a StorageVersionMigration, whose specification may not change."""
    spec, path = inner(value, "spec"), ("spec", "resource")
    resource = inner(spec, "resource")
    where: Path = (*path, "resource")
    if not resource.get("resource"):
        yield MIGRATION.required(where)
    elif detail := names.dns_label_1035(resource["resource"]):
        yield MIGRATION.invalid(where, resource["resource"], detail)
    if (group := text(resource, "group")) and (detail := names.dns_subdomain(group)):
        yield MIGRATION.invalid((*path, "group"), group, detail)
    if old is not None:
        yield from check_immutable(spec, inner(old, "spec"), ("spec",), IMMUTABLE)
