"""JobSet: Jobs that start, fail and restart together (jobset v0.12.0, kueue v0.19.2 pkg/controller/jobs/jobset)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier, Exclusive
from trainyard.upstream.workloads.claims import of_jobset
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import Integration
from trainyard.upstream.workloads.job import INDEX
from trainyard.upstream.workloads.replicated import LISTS, jobs_at

CARRIER = Carrier(
    "jobset.x-k8s.io",
    "JobSet",
    (jobs_at("spec"),),
    "jobset",
    "jobset.x-k8s.io/jobset",
    Integration(grouped=True),
    ("spec", "suspend"),
    LISTS,
    trains=True,
    exclusive=Exclusive(
        "alpha.jobset.sigs.k8s.io/exclusive-topology",
        "jobset.sigs.k8s.io/job-key",
        group=("template",),
        size=("spec", "parallelism"),
    ),
    ending=Ending("Completed"),
    variables=INDEX,
    loses=of_jobset,
)
