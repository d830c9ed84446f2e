"""Namespaces and ServiceAccounts, about which little can be wrong beyond their metadata.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateNamespace.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.api import names
from trainyard.api.core.pods.rules import CORE
from trainyard.api.core.shapes import Object, inner, texts
from trainyard.api.metadata import STANDARD_FINALIZERS
from trainyard.api.problems import Problem, Rule

FINALIZER = Rule("core/namespace-finalizer", f"{CORE} ValidateNamespace")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield finalizers that are no qualified names; an update of them is ignored by the server."""
    if old is not None:
        return
    for index, finalizer in texts(inner(value, "spec"), "finalizers"):
        path = ("spec", "finalizers", index)
        if detail := names.label_key(finalizer):
            yield FINALIZER.invalid(path, finalizer, detail)
        elif "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            yield FINALIZER.invalid(path, finalizer, "must be a standard finalizer or have a domain prefix")
