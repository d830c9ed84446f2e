"""Security contexts of our own programs beside runs: nobody's user, as Pod Security `restricted` takes it.

Runs have those of `security`, which follow from jobs and teams.
Source: kubernetes/pod-security-admission v0.35 policy/check_*_restricted.go.
"""

from __future__ import annotations

from typing import Any

NOBODY = 65532
"""Nobody's user in particular, and its group: such programs own no files."""


LEAST: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""The least that a container must say."""


def pod() -> dict[str, Any]:
    """Return the security context of a pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": NOBODY,
        "runAsGroup": NOBODY,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container() -> dict[str, Any]:
    """Return the security context of a container, which writes to its volumes alone."""
    return {**LEAST, "readOnlyRootFilesystem": True}
