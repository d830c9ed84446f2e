"""Defaults of the kinds that run pods: Job, CronJob, and the controllers of the apps group.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/batch/v1/defaults.go, pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from trainyard.apiserver.core.pods.defaults import fill, fill_absent, set_pod, set_template
from trainyard.apiserver.core.pods.gates import drop_disabled
from trainyard.apiserver.core.shapes import Object, child, inner

_LARGEST_INT32 = 2147483647


def template(owner: Object, minor: int) -> None:
    """Default the pod template of an object, and drop what the release does not look at."""
    if (embedded := child(owner, "template")) is not None:
        set_template(embedded)
        if (spec := child(embedded, "spec")) is not None:
            drop_disabled(spec, minor)


def pod(value: Object, minor: int) -> None:
    """Default a Pod."""
    set_pod(value)
    if (spec := child(value, "spec")) is not None:
        drop_disabled(spec, minor)


def pod_template(value: Object, minor: int) -> None:
    """Default a PodTemplate."""
    template(value, minor)


def job(value: Object, minor: int) -> None:
    """Default a Job."""
    if (spec := child(value, "spec")) is None:
        return
    job_spec(spec, minor)
    labels = inner(spec, "template", "metadata").get("labels")
    meta = child(value, "metadata")
    if labels and meta is not None:
        fill(meta, "labels", labels)


def job_spec(spec: Object, minor: int) -> None:
    """Default the specification of a Job: it does so for a Job alone, not inside a CronJob."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill_absent(spec, "parallelism", 1)
    fill_absent(spec, "backoffLimit", 6 if spec.get("backoffLimitPerIndex") is None else _LARGEST_INT32)
    fill_absent(spec, "completionMode", "NonIndexed")
    fill_absent(spec, "suspend", False)
    failed = spec.get("podFailurePolicy") is not None
    fill_absent(spec, "podReplacementPolicy", "Failed" if failed else "TerminatingOrFailed")
    fill_absent(spec, "manualSelector", False)
    failure_policy(spec)
    template(spec, minor)


def failure_policy(spec: Object) -> None:
    """Default the status of the conditions that a pod failure policy looks for."""
    rules = inner(spec, "podFailurePolicy").get("rules")
    for rule in rules if isinstance(rules, list) else ():
        patterns = rule.get("onPodConditions") if isinstance(rule, dict) else None
        for pattern in patterns if isinstance(patterns, list) else ():
            if isinstance(pattern, dict):
                fill(pattern, "status", "True")


def cron_job(value: Object, minor: int) -> None:
    """Default a CronJob."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "concurrencyPolicy", "Allow")
    fill_absent(spec, "suspend", False)
    fill_absent(spec, "successfulJobsHistoryLimit", 3)
    fill_absent(spec, "failedJobsHistoryLimit", 1)
    if (embedded := child(inner(spec, "jobTemplate"), "spec")) is not None:
        failure_policy(embedded)
        template(embedded, minor)


def deployment(value: Object, minor: int) -> None:
    """Default a Deployment."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "replicas", 1)
    fill_absent(spec, "revisionHistoryLimit", 10)
    fill_absent(spec, "progressDeadlineSeconds", 600)
    _rolling(spec, "strategy", {"maxUnavailable": "25%", "maxSurge": "25%"})
    template(spec, minor)


def daemon_set(value: Object, minor: int) -> None:
    """Default a DaemonSet."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "revisionHistoryLimit", 10)
    _rolling(spec, "updateStrategy", {"maxUnavailable": 1, "maxSurge": 0})
    template(spec, minor)


def _rolling(spec: Object, field: str, defaults: Object) -> None:
    fill_absent(spec, field, {})
    if (strategy := child(spec, field)) is None:
        return
    fill(strategy, "type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill_absent(strategy, "rollingUpdate", {})
        if (rolling := child(strategy, "rollingUpdate")) is not None:
            for key, default in defaults.items():
                fill_absent(rolling, key, default)


def stateful_set(value: Object, minor: int) -> None:
    """Default a StatefulSet; `maxUnavailable` is behind a gate that is off."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "podManagementPolicy", "OrderedReady")
    fill_absent(spec, "replicas", 1)
    fill_absent(spec, "revisionHistoryLimit", 10)
    fill_absent(spec, "updateStrategy", {})
    if (strategy := child(spec, "updateStrategy")) is not None:
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            fill_absent(strategy, "rollingUpdate", {})
        if (rolling := child(strategy, "rollingUpdate")) is not None and strategy["type"] == "RollingUpdate":
            fill_absent(rolling, "partition", 0)
            rolling.pop("maxUnavailable", None)
    fill_absent(spec, "persistentVolumeClaimRetentionPolicy", {})
    if (policy := child(spec, "persistentVolumeClaimRetentionPolicy")) is not None:
        fill(policy, "whenDeleted", "Retain")
        fill(policy, "whenScaled", "Retain")
    claims = spec.get("volumeClaimTemplates")
    for claim in claims if isinstance(claims, list) else ():
        if isinstance(claim, dict) and (claim_spec := child(claim, "spec")) is not None:
            fill_absent(claim_spec, "volumeMode", "Filesystem")
    template(spec, minor)


def replica_set(value: Object, minor: int) -> None:
    """Default a ReplicaSet."""
    if (spec := child(value, "spec")) is not None:
        fill_absent(spec, "replicas", 1)
        template(spec, minor)


def replication_controller(value: Object, minor: int) -> None:
    """Default a ReplicationController, whose selector and labels come from its template."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "replicas", 1)
    labels = inner(spec, "template", "metadata").get("labels")
    if labels:
        fill(spec, "selector", labels)
        if (meta := child(value, "metadata")) is not None:
            fill(meta, "labels", labels)
    template(spec, minor)
