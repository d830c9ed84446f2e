"""Kubernetes' own kinds that no run is: those that make pods for other people.

Facts: kubernetes v1.35; names of kueue v0.19.2 pkg/controller/jobs.
"""

from __future__ import annotations

from trainyard.upstream.workloads.base import PLAIN, SPEC, Carrier, Template, pods_of_job
from trainyard.upstream.workloads.job import INDEX
from trainyard.upstream.workloads.unread import IDLE, MAKES, NO_RUN, SERVES
from trainyard.upstream.workloads.variables import Variables

POD = Carrier("", "Pod", (Template((), ()),), framework="pod", variables=Variables(), unread={"plan": NO_RUN})
POD_TEMPLATE = Carrier(
    "",
    "PodTemplate",
    (Template(()),),
    idle=True,
    unread={**IDLE, "policies": "no pod is made of it before somebody asks for one"},
)
REPLICATION_CONTROLLER = Carrier("", "ReplicationController", PLAIN, unread=SERVES)
DAEMON_SET = Carrier("apps", "DaemonSet", (Template(SPEC),), unread=SERVES)
DEPLOYMENT = Carrier("apps", "Deployment", PLAIN, framework="deployment", unread=SERVES)
REPLICA_SET = Carrier("apps", "ReplicaSet", PLAIN, unread=SERVES)
STATEFUL_SET = Carrier("apps", "StatefulSet", PLAIN, framework="statefulset", unread=SERVES)
CRON_JOB = Carrier(
    "batch",
    "CronJob",
    (Template(("spec", "jobTemplate", "spec"), count=pods_of_job),),
    suspend=("spec", "suspend"),
    makes=True,
    variables=INDEX,
    unread=MAKES,
)
