"""ReplicationControllers, whose selector and labels come from their template.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateReplicationController and
pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.apps import (
    CONTROLLER,
    SELECTOR,
    check_counts,
    check_running_template,
    options_for,
)
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, fill, fill_absent, inner
from trainyard.upstream.apiserver.problems import Problem


def default(value: Object, minor: int) -> None:
    """Default a ReplicationController, whose selector and labels come from its template."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "replicas", 1)
    labels = inner(spec, "template", "metadata").get("labels")
    if labels:
        fill(spec, "selector", labels)
        if (meta := child(value, "metadata")) is not None:
            fill(meta, "labels", labels)
    default_template(spec, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a ReplicationController, whose selector may change."""
    spec = inner(value, "spec")
    yield from check_counts(spec, ("spec",), ("replicas", "minReadySeconds"))
    selector = child(spec, "selector") or EMPTY
    if not selector and not spec.get("selector"):
        yield CONTROLLER.required(("spec", "selector"))
    if child(spec, "template") is None:
        yield CONTROLLER.required(("spec", "template"))
        return
    labels = inner(spec, "template", "metadata", "labels")
    if any(labels.get(key) != label for key, label in selector.items()):
        yield SELECTOR.invalid(("spec", "template", "metadata", "labels"), labels, "the selector does not match them")
    yield from check_running_template(spec, options_for(old, kubernetes))
