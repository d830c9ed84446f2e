"""Kubernetes' own kinds that no run is: those that make pods for other people.

Facts: kubernetes v1.35; names of kueue v0.19.2 pkg/controller/jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.manifests import mapping
from trainyard.upstream.workloads.base import PLAIN, SPEC, Carrier, Template, pods_of_job
from trainyard.upstream.workloads.claims import kept_unless_said
from trainyard.upstream.workloads.job import INDEX
from trainyard.upstream.workloads.unread import BY_KUBERNETES, IDLE, MAKES, NO_RUN, SERVES
from trainyard.upstream.workloads.variables import Variables

ALONE = {"plan": NO_RUN, "life": "no controller makes it anew; the trial ends with the pod"}

POD = Carrier("", "Pod", (Template((), ()),), framework="pod", variables=Variables(), unread=ALONE)


def is_pod(value: Mapping[str, Any]) -> bool:
    """Say whether an object is a plain pod."""
    return (value.get("apiVersion"), value.get("kind")) == ("v1", POD.kind)


def made_job(cron_job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Job that a CronJob makes of its template, under the name of the CronJob and in its namespace.

    Of the template's metadata only labels and annotations count (kubernetes v1.35 pkg/controller/cronjob/utils.go
    getJobFromTemplate2, which adds the time to the name).
    """
    own, template = mapping(cron_job.get("metadata")), mapping(mapping(cron_job.get("spec")).get("jobTemplate"))
    named = {key: own[key] for key in ("name", "namespace") if own.get(key)}
    metadata = {**mapping(template.get("metadata")), **named}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec")}


POD_TEMPLATE = Carrier(
    "",
    "PodTemplate",
    (Template(()),),
    idle=True,
    unread={**IDLE, **BY_KUBERNETES, "policies": "no pod is made of it before somebody asks for one"},
)
REPLICATION_CONTROLLER = Carrier("", "ReplicationController", PLAIN, unread={**SERVES, **BY_KUBERNETES})
DAEMON_SET = Carrier("apps", "DaemonSet", (Template(SPEC),), unread={**SERVES, **BY_KUBERNETES})
DEPLOYMENT = Carrier("apps", "Deployment", PLAIN, framework="deployment", unread=SERVES)
REPLICA_SET = Carrier("apps", "ReplicaSet", PLAIN, unread={**SERVES, **BY_KUBERNETES})
STATEFUL_SET = Carrier(
    "apps", "StatefulSet", PLAIN, framework="statefulset", unread=SERVES, loses=kept_unless_said("spec")
)
CRON_JOB = Carrier(
    "batch",
    "CronJob",
    (Template(("spec", "jobTemplate", "spec"), count=pods_of_job),),
    suspend=("spec", "suspend"),
    makes=True,
    variables=INDEX,
    unread=MAKES,
)
