"""What Kueue's webhooks refuse of queues, cohorts, flavors and Workloads (kueue v0.19.2 pkg/webhooks), as values.

Kueue's own answer is written of them by `queueing.replay`, the API server's verdict by `apiserver.webhooks.kueue`.
"""

from trainyard.upstream.kueue.webhooks.faults import Fault, Object
from trainyard.upstream.kueue.webhooks.quota import cluster_queue_faults, cohort_faults, flavor_faults
from trainyard.upstream.kueue.webhooks.workload import reclaimable_faults, workload_faults

__all__ = [
    "Fault",
    "Object",
    "cluster_queue_faults",
    "cohort_faults",
    "flavor_faults",
    "reclaimable_faults",
    "workload_faults",
]
