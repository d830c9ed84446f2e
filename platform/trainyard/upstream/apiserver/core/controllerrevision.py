"""ControllerRevisions: a count, and data that stays.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/apps/validation/validation.go ValidateControllerRevision.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.node import NODE, NODE_UPDATE
from trainyard.upstream.apiserver.core.shapes import Object, number
from trainyard.upstream.apiserver.problems import Problem


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a ControllerRevision, and a change of its data."""
    revision = number(value, "revision") or 0
    if revision < 0:
        yield NODE.invalid(("revision",), revision, "must be greater than or equal to 0")
    if old is None and not isinstance(value.get("data"), dict):
        yield NODE.required(("data",), "must be an object")
    if old is not None and value.get("data") != old.get("data"):
        yield NODE_UPDATE.invalid(("data",), value.get("data"), "field is immutable")
