"""Questions to the cluster's authorizer: their types are checked, their answers only a cluster knows.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/authz.go.
"""

from __future__ import annotations

from typing import Any

from trainyard.upstream.apiserver.cel.errors import Unknown
from trainyard.upstream.apiserver.cel.functions import Functions

FUNCTIONS = Functions(since=27)
SELECTORS = Functions(since=31)

_PACKAGE = "kubernetes.authorization"


@SELECTORS.define(
    f"{_PACKAGE}.ResourceCheck.fieldSelector(string) -> {_PACKAGE}.ResourceCheck",
    f"{_PACKAGE}.ResourceCheck.labelSelector(string) -> {_PACKAGE}.ResourceCheck",
)
@FUNCTIONS.define(
    f"{_PACKAGE}.Authorizer.path(string) -> {_PACKAGE}.PathCheck",
    f"{_PACKAGE}.Authorizer.group(string) -> {_PACKAGE}.GroupCheck",
    f"{_PACKAGE}.Authorizer.serviceAccount(string, string) -> {_PACKAGE}.Authorizer",
    f"{_PACKAGE}.PathCheck.check(string) -> {_PACKAGE}.Decision",
    f"{_PACKAGE}.GroupCheck.resource(string) -> {_PACKAGE}.ResourceCheck",
    f"{_PACKAGE}.ResourceCheck.subresource(string) -> {_PACKAGE}.ResourceCheck",
    f"{_PACKAGE}.ResourceCheck.namespace(string) -> {_PACKAGE}.ResourceCheck",
    f"{_PACKAGE}.ResourceCheck.name(string) -> {_PACKAGE}.ResourceCheck",
    f"{_PACKAGE}.ResourceCheck.check(string) -> {_PACKAGE}.Decision",
    f"{_PACKAGE}.Decision.errored() -> bool",
    f"{_PACKAGE}.Decision.error() -> string",
    f"{_PACKAGE}.Decision.allowed() -> bool",
    f"{_PACKAGE}.Decision.reason() -> string",
)
def ask(*_: Any) -> Any:
    """Say that only a cluster knows."""
    raise Unknown("the authorizer's answer")
