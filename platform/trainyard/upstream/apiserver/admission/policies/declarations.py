"""The variables of admission policies, and their types.

Source: kubernetes/apiserver v0.35.4 pkg/admission/plugin/cel/compile.go (BuildRequestType, BuildNamespaceType).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.upstream.apiserver.cel import DYN, STRING, Field, ObjectType, Type, list_of, map_of
from trainyard.upstream.apiserver.cel.types import BOOL, INT, TIMESTAMP, opaque

STRINGS = list_of(STRING)
TEXTS = map_of(STRING, STRING)


def record(fields: Mapping[str, Type]) -> ObjectType:
    """Declare an object whose fields are these; the map may grow."""
    return ObjectType(
        "object",
        "object",
        find=lambda name: Field(fields[name], name) if name in fields else None,
        names=lambda: fields,
        nullable_fields=False,
    )


GROUP_VERSION_KIND = record({"group": STRING, "version": STRING, "kind": STRING})
GROUP_VERSION_RESOURCE = record({"group": STRING, "version": STRING, "resource": STRING})
USER_INFO = record({"username": STRING, "uid": STRING, "groups": STRINGS, "extra": map_of(STRING, STRINGS)})
REQUEST = record(
    {
        "kind": GROUP_VERSION_KIND,
        "resource": GROUP_VERSION_RESOURCE,
        "subResource": STRING,
        "requestKind": GROUP_VERSION_KIND,
        "requestResource": GROUP_VERSION_RESOURCE,
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": USER_INFO,
        "dryRun": BOOL,
        "options": DYN,
    }
)
NAMESPACE = record(
    {
        "metadata": record(
            {
                **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), STRING),
                **dict.fromkeys(("labels", "annotations"), TEXTS),
                **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), TIMESTAMP),
                **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), INT),
                "finalizers": STRINGS,
            }
        ),
        "spec": record({"finalizers": STRINGS}),
        "status": record(
            {
                "phase": STRING,
                "conditions": list_of(
                    record(
                        {
                            **dict.fromkeys(("status", "type", "message", "reason"), STRING),
                            "lastTransitionTime": TIMESTAMP,
                        }
                    )
                ),
            }
        ),
    }
)
AUTHORIZER = opaque("kubernetes.authorization.Authorizer")
RESOURCE_CHECK = opaque("kubernetes.authorization.ResourceCheck")


def declare_variables(
    *, object_type: Type = DYN, params: Type | None, variables: Type, authorizer: bool
) -> dict[str, Type]:
    """Declare what an expression of a policy may refer to; `params` is None where the policy takes none."""
    found = {
        "object": object_type,
        "oldObject": object_type,
        "namespaceObject": NAMESPACE,
        "request": REQUEST,
        "variables": variables,
    }
    if params is not None:
        found["params"] = params
    if authorizer:
        found |= {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK}
    return found


SIMPLE = frozenset({"bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"})


def simplify_type(given: Type) -> Type:
    """Return the type that `variables.x` has for an expression of a type: simple, or a list or map of such."""
    if given.kind == "list":
        return list_of(simplify_type(given.element))
    if given.kind == "map":
        return map_of(simplify_type(given.parameters[0]), simplify_type(given.element))
    return given if given.kind in SIMPLE else DYN
