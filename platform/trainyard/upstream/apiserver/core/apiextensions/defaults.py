"""Default values of a schema: each must be valid by the schema that it stands in.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/defaulting/validation.go ValidateDefaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.apiextensions.nodes import EMBEDDED, RULES, properties
from trainyard.upstream.apiserver.core.shapes import Object, child, flag
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.schema.custom import Compiler
from trainyard.upstream.apiserver.validations.tree import Builder
from trainyard.upstream.apiserver.validations.walk import Scope, Visit

DEFAULT = Rule(
    "core/crd-default",
    "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/defaulting/validation.go",
    title="Default values in a CRD are valid for their own schema.",
    fix="change the default so that it satisfies the schema",
)


def check_defaults(
    schema: Object, converted: Object, path: Path, compiler: Compiler, release: int
) -> Iterator[Problem]:
    """Yield the defaults of a node and beneath it that their own schemas refuse; `converted` is the same schema closed.

    As on a server, those beneath additionalProperties are not looked at.
    """
    default = schema.get("default")
    if default is not None:
        yield from _check_default(default, converted, (*path, "default"), compiler, release)
    items, closed = child(schema, "items"), child(converted, "items")
    if items is not None and closed is not None:
        yield from check_defaults(items, closed, (*path, "items"), compiler, release)
    fields = dict(properties(converted))
    for name, field in properties(schema):
        if name in fields:
            yield from check_defaults(field, fields[name], (*path, "properties", name), compiler, release)


def _check_default(
    default: object, converted: Object, path: Path, compiler: Compiler, release: int
) -> Iterator[Problem]:
    faults = compiler.node(converted)(default)
    for fault in faults or ():
        found = fault.problem()
        yield Problem((*path, *found.path), DEFAULT.id, found.message, DEFAULT.source)
    builder = Builder(converted)
    if faults or not builder.bearing:
        return
    tree = builder.build(converted, converted, root=flag(converted, EMBEDDED))
    for broken in Visit(release, RULES).node(tree, Scope(default, None, path)):
        yield Problem(broken.path, DEFAULT.id, broken.message, DEFAULT.source)
