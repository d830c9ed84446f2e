"""Job: equal pods that end (kubernetes v1.35, kueue v0.19.2 pkg/controller/jobs/job)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import SPEC, Carrier, Template, pods_of_job
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import OF_JOB
from trainyard.upstream.workloads.variables import Variables

INDEX = Variables(frozenset({"JOB_COMPLETION_INDEX"}))
"""What the Job controller adds to every container of an Indexed Job."""

CARRIER = Carrier(
    "batch",
    "Job",
    (Template(SPEC, count=pods_of_job),),
    framework="batch/job",
    queueing=OF_JOB,
    suspend=("spec", "suspend"),
    trains=True,
    ending=Ending("Complete"),
    variables=INDEX,
)
