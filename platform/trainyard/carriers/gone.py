"""Kinds that carried training and are no more: why, and the way out."""

from __future__ import annotations

from collections.abc import Mapping

GONE: Mapping[tuple[str, str], str] = {
    ("kubeflow.org", "MXJob"): "is gone since training-operator 1.9, as MXNet is; start its roles in a JobSet by exec"
}
"""By group and kind (kubeflow/trainer v1.9.0 CHANGELOG.md #2150; MXNet is in the Apache Attic since 2023)."""


def gone(kind: str) -> str | None:
    """Return why a kind of that name is no more, None where it may be."""
    return next((why for (_, name), why in GONE.items() if name == kind), None)
