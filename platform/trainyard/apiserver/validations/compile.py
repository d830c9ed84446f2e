"""Compiles the rules of one node of a schema, for one minor release of Kubernetes.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/compilation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.apiserver.cel import BOOL, STRING, CompileError, fieldpath, optional_of
from trainyard.apiserver.cel.environment import Environment
from trainyard.apiserver.validations.tree import CompiledRule, Node


def compile_rule(node: Node, rule: Mapping[str, Any], minor: int) -> CompiledRule:
    """Compile one rule of a node."""
    takes_optional = rule.get("optionalOldSelf") is True
    given = node.shared.declarations.type(node.schema, root=node.root)
    assert given is not None
    environment = Environment({"self": given, "oldSelf": optional_of(given) if takes_optional else given}, minor)
    text, expression = rule["rule"].strip(), rule.get("messageExpression") or ""
    shared = {
        "text": text,
        "message": (rule.get("message") or "").strip(),
        "reason": rule.get("reason") or "",
        "path": fieldpath.parse(rule.get("fieldPath") or "", node.schema) or (),
        "takes_optional": takes_optional,
    }
    try:
        program = environment.compile(rule["rule"], BOOL)
    except CompileError as error:
        return CompiledRule(**shared, error=error)
    try:
        message_program = environment.compile(expression, STRING) if expression else None
    except CompileError:
        message_program = None
    return CompiledRule(**shared, program=program, message_program=message_program)
