"""Runtimes, of which TrainJobs are made: those of a namespace and those of the cluster (trainer v2.3.0)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.replicated import LISTS, jobs_at
from trainyard.upstream.workloads.runtimes import TRAINER, VARIABLES
from trainyard.upstream.workloads.unread import IDLE

TEMPLATES = (jobs_at("spec", "template", "spec"),)
CARRIER = Carrier(
    TRAINER,
    "TrainingRuntime",
    TEMPLATES,
    "trainer",
    lists=LISTS,
    makes=True,
    idle=True,
    variables=VARIABLES,
    unread=IDLE,
)
CLUSTER_WIDE = Carrier(
    TRAINER,
    "ClusterTrainingRuntime",
    TEMPLATES,
    "trainer",
    lists=LISTS,
    makes=True,
    idle=True,
    variables=VARIABLES,
    namespaced=False,
    unread={**IDLE, "podsecurity": "it is in no namespace, whose level would hold; TrainJobs are judged by its pods"},
)
