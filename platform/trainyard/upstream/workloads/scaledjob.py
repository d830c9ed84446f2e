"""ScaledJob: Jobs that KEDA makes of events (keda v2.20)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier, Template, pods_of_job
from trainyard.upstream.workloads.job import INDEX
from trainyard.upstream.workloads.unread import MAKES

CARRIER = Carrier(
    "keda.sh",
    "ScaledJob",
    (Template(("spec", "jobTargetRef"), count=pods_of_job),),
    "keda",
    makes=True,
    variables=INDEX,
    unread={
        **MAKES,
        "webhooks": "what KEDA's webhook asks is not restated; its Jobs are judged when they are made",
    },
)
