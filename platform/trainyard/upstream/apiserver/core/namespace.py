"""Namespaces, about which little can be wrong beyond their metadata and the labels of Pod Security.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateNamespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.labels import NAMESPACE
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.shapes import Object, child, fill_absent, inner, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import STANDARD_FINALIZERS
from trainyard.upstream.apiserver.problems import Problem, Rule

FINALIZER = Rule(
    "core/namespace-finalizer",
    f"{CORE} ValidateNamespace",
    title="Finalizers of a Namespace have a domain.",
    fix="use kubernetes, or a name such as example.com/finalizer",
)
SECURITY = Rule(
    "core/pod-security-label",
    "k8s.io/pod-security-admission v0.35.4 api/helpers.go PolicyToEvaluate",
    title="The Pod Security labels of a namespace name valid levels and versions.",
    fix="use privileged, baseline or restricted, and latest or a version such as v1.35",
)

_LEVELS = ("privileged", "baseline", "restricted")
_VERSION = re.compile(r"latest|v1\.(0|[1-9][0-9]*)")


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Label a Namespace with its own name."""
    meta = child(value, "metadata")
    if meta is None or not meta.get("name"):
        return
    fill_absent(meta, "labels", {})
    if type(meta["labels"]) is dict:
        meta["labels"][NAMESPACE] = meta["name"]


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield finalizers that are no qualified names, and labels that Pod Security refuses; old ones may stay."""
    if old is None or not any(_check_security(old)):
        yield from _check_security(value)
    if old is not None:
        return
    for index, finalizer in texts(inner(value, "spec"), "finalizers"):
        path = ("spec", "finalizers", index)
        if detail := names.label_key(finalizer):
            yield FINALIZER.invalid(path, finalizer, detail)
        elif "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            yield FINALIZER.invalid(path, finalizer, "must be a standard finalizer or have a domain prefix")


def _check_security(value: Object) -> Iterator[Problem]:
    """Yield labels of Pod Security that name no level or no version; null is the empty text."""
    labels = inner(value, "metadata", "labels")
    for mode in ("enforce", "audit", "warn"):
        level, version = f"pod-security.kubernetes.io/{mode}", f"pod-security.kubernetes.io/{mode}-version"
        if level in labels and (labels[level] or "") not in _LEVELS:
            yield SECURITY.unsupported(("metadata", "labels", level), labels[level] or "", _LEVELS)
        if version in labels and not _VERSION.fullmatch(str(labels[version] or "")):
            yield SECURITY.invalid(("metadata", "labels", version), labels[version] or "", "must be latest or v1.x")
