"""Judges an object by the schema of its kind, as the API server's decoding and structural validation do.

The value is one to which `defaults.apply` has been applied. Where create and server-side apply differ, what either
refuses is refused, and the message says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.base.versions import order
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.problems import Problem, Rule
from trainyard.upstream.apiserver.schema import custom, typed
from trainyard.upstream.apiserver.schema.custom import NULL
from trainyard.upstream.apiserver.schema.walk import Check

SCALE = Rule(
    "schema/scale",
    "k8s.io/apiextensions-apiserver v0.35.4 pkg/registry/customresource/validator.go",
    title="The replica count at a scale path is a 32-bit number of at least 0.",
    fix="write a number from 0 to 2147483647",
)
RANGED = (1, 36)
"""Kubernetes release from which a CRD's int32 and int64 are checked (kube-openapi 43fb72c5454a)."""


def check(value: Any, kind: Kind, *, kubernetes: str, required: bool = False) -> Iterator[Problem]:
    """Yield the problems that the server finds before any rule of the kind: with fields, types, values and lists.

    `required` also asks for what OpenAPI requires of a core kind: for those whose own rules nobody restates.
    """
    created = not kind.typed and is_only_created(value)
    for fault in compile_schema(kind, ranged=order(kubernetes)[:2] >= RANGED, required=required)(value) or ():
        if not (created and fault.rule == NULL):
            yield fault.problem()
    if kind.scale and not kind.typed:
        yield from check_scale(value, kind.scale.get("specReplicasPath", ""))


def is_only_created(value: Any) -> bool:
    """Whether an object has no name but a prefix of one: it can be created, which drops null, but not applied."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and not metadata.get("name") and bool(metadata.get("generateName"))


def check_scale(value: Any, path: str) -> Iterator[Problem]:
    """Check the replicas that the scale subresource of a custom resource reads: 0 to 2^31-1."""
    keys = tuple(path.lstrip(".").split("."))
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return
        value = value[key]
    if value is None or (type(value) is int and not 0 <= value < 2**31):
        yield SCALE.invalid(keys, value, "must be from 0 to 2147483647, as its scale subresource has it")


@lru_cache(maxsize=1024)
def compile_schema(kind: Kind, *, ranged: bool, required: bool) -> Check:
    """Compile a kind's schema; fields are compiled when an object first has them."""
    if kind.typed:
        return typed.Compiler(required=required).root(kind.schema)
    return custom.Compiler(ranged=ranged).root(kind.schema, drops_status=kind.status)
