"""File paths inside volumes and containers.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateLocalNonReservedPath.
"""

from __future__ import annotations

from typing import Any


def no_backsteps(value: Any) -> str | None:
    """A path without `..` as a part."""
    if type(value) is not str or ".." not in value or ".." not in value.split("/"):
        return None
    return "must not contain '..'"


def check_descending(value: Any) -> str | None:
    """A relative path that stays below where it starts."""
    if type(value) is str and value.startswith("/"):
        return "must be a relative path"
    return no_backsteps(value)


def local(value: Any) -> str | None:
    """A descending path that does not start with the two dots that the kubelet uses itself."""
    if detail := check_descending(value):
        return detail
    return "must not start with '..'" if type(value) is str and value.startswith("..") else None
