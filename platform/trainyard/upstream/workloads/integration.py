"""What Kueue's own integration of a kind takes, and how it tells pods apart (kueue v0.19.2 pkg/controller/jobs)."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.base.labels import JOB_INDEX

REPLICA_INDEX = "training.kubeflow.org/replica-index"


@dataclass(frozen=True, slots=True)
class Integration:
    """What is particular to one kind of job."""

    grouped: bool = False
    """Whether two pod sets may be placed together."""
    prebuilt: bool = True
    """Whether a job may name a Workload that exists."""
    elastic: bool = False
    """Whether a job may change its size while it runs."""
    created_again: bool = True
    """Whether an update is judged by the rules for creation too."""
    index: str | None = None
    """The label that numbers the pods of one pod set; None where the kind has none."""


OF_JOB = Integration(elastic=True, index=JOB_INDEX)
OF_KUBEFLOW = Integration(created_again=False, index=REPLICA_INDEX)
OF_RAY = Integration(grouped=True, elastic=True)
