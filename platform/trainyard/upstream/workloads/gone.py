"""Kinds that carried training and are no more, or are not made here: why, and the way out."""

from __future__ import annotations

from collections.abc import Mapping

GONE: Mapping[tuple[str, str], str] = {
    ("kubeflow.org", "MXJob"): "is gone since training-operator 1.9, as MXNet is; start its roles in a JobSet by exec"
}
"""By group and kind (kubeflow/trainer v1.9.0 CHANGELOG.md #2150; MXNet is in the Apache Attic since 2023)."""


MPI_V1 = "is of the training operator, of which Kueue sees no job; write MPIJob, which is v2beta1 of the MPI Operator"
"""docs/decisions/mpijob-v1.md."""


def gone(kind: str) -> str | None:
    """Return why a kind of that name is no more, or is not made here; None where it may be."""
    letters = "".join(filter(str.isalnum, kind)).lower().replace("kubefloworg", "")
    if letters in ("mpijobv1", "v1mpijob"):
        return MPI_V1
    return next((why for (_, name), why in GONE.items() if name == kind), None)
