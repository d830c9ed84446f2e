"""Compiles the rules of one node of a schema, for one minor release of Kubernetes.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/compilation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.cel import BOOL, STRING, CompileError, fieldpath, optional_of
from trainyard.upstream.apiserver.cel.environment import Environment
from trainyard.upstream.apiserver.cel.types import Type
from trainyard.upstream.apiserver.validations.ratchet import Schema
from trainyard.upstream.apiserver.validations.rule import CompiledRule


def compile_rule(rule: Mapping[str, Any], given: Type, schema: Schema, minor: int) -> CompiledRule:
    """Compile one rule of a node of a schema; `given` is the node's type in CEL."""
    takes_optional = rule.get("optionalOldSelf") is True
    environment = Environment({"self": given, "oldSelf": optional_of(given) if takes_optional else given}, minor)
    text, expression = rule["rule"].strip(), rule.get("messageExpression") or ""
    shared = {
        "text": text,
        "message": (rule.get("message") or "").strip(),
        "reason": rule.get("reason") or "",
        "path": fieldpath.parse(rule.get("fieldPath") or "", schema) or (),
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
