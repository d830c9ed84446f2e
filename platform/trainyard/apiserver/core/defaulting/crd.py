"""Defaults of CustomResourceDefinitions.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/v1/defaults.go.
"""

from __future__ import annotations

from trainyard.apiserver.core.shapes import Object, child, inner, text


def definition(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a CustomResourceDefinition."""
    if (spec := child(value, "spec")) is None:
        return
    names = child(spec, "names")
    if names is not None and text(names, "kind"):
        if not names.get("singular"):
            names["singular"] = names["kind"].lower()
        if not names.get("listKind"):
            names["listKind"] = f"{names['kind']}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = child(inner(spec, "conversion", "webhook", "clientConfig"), "service")
    if service is not None and service.get("port") is None:
        service["port"] = 443
