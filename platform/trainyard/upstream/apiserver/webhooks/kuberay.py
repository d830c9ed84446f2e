"""RayCluster, RayJob and RayService: KubeRay refuses at reconcile; verified against 1.6.2 and 1.7.0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import yaml

from trainyard.upstream.apiserver.core.schedules import parse_schedule
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, number, text
from trainyard.upstream.apiserver.core.timezones import is_zone
from trainyard.upstream.apiserver.gates import OFF
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of, labels_of
from trainyard.upstream.apiserver.webhooks.raydeletion import check_deletion
from trainyard.upstream.apiserver.webhooks.rayoptions import SINCE, check_options, check_upgrade

RULE = Rule(
    "webhook/kuberay",
    "kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go, refused at reconcile",
    title="A RayCluster, RayJob or RayService passes the checks of KubeRay.",
    fix="add the field that the message names, or remove one of the two fields that exclude each other",
    why="KubeRay's controller refuses the object and never starts its pods",
    may_warn=True,
)

_CRON = "RayCronJob"
_CRON_NAME = 36
_SCHEDULE: Path = ("spec", "schedule")
_CLUSTER_NAME = 53
_DELETION = "RayJobDeletionPolicy"
_OWNER_NAME = 47
_RESOURCES = ("num-cpus", "num-gpus", "memory", "resources")
_FAULT_TOLERANT = "ray.io/ft-enabled"
_STORAGE = "ray.io/external-storage-namespace"
_TIMEOUT = "ray.io/initializing-timeout"
_V2 = "RAY_enable_autoscaler_v2"
_ON = ("1", "true")
_TOKEN_VERSION = (2, 52, 0)
_version = re.compile(r"v?(\d+)(?:\.(\d+))(?:\.(\d+))?.*").fullmatch
_SPEC: Path = ("spec",)
_CLUSTER: Path = ("spec", "rayClusterSpec")


def check_cluster(review: Review) -> Iterator[Problem]:
    """Yield why a RayCluster would get no pods."""
    yield from _check_name(review.name, _CLUSTER_NAME)
    yield from _check_spec(review.spec, review, _SPEC)
    strategy = inner(review.spec, "upgradeStrategy").get("type")
    path: Path = ("spec", "upgradeStrategy", "type")
    if strategy is not None:
        if strategy not in ("Recreate", "None"):
            yield RULE.unsupported(path, strategy, ("Recreate", "None"))
        origin = labels_of(review.value).get("ray.io/originated-from-crd")
        if origin in ("RayJob", "RayService"):
            yield RULE.forbidden(path, f"cannot be set on a cluster of a {origin}")


def check_job(review: Review) -> Iterator[Problem]:
    """Yield why a RayJob would fail with status ValidationFailed."""
    yield from _check_name(review.name, _OWNER_NAME)
    spec = review.spec
    suspend, shuts_down = flag(spec, "suspend"), flag(spec, "shutdownAfterJobFinishes")
    if suspend and not shuts_down:
        yield RULE.forbidden(("spec", "suspend"), "needs shutdownAfterJobFinishes")
    yield from check_deletion(spec, RULE, gated=_deletes(review))
    selector, cluster = inner(spec, "clusterSelector"), child(spec, "rayClusterSpec")
    if suspend and selector:
        yield RULE.forbidden(("spec", "suspend"), "a job with a clusterSelector cannot be suspended")
    if cluster is None and not selector:
        yield RULE.required(_CLUSTER, "set rayClusterSpec or clusterSelector")
    mode, backoff = text(spec, "submissionMode"), number(spec, "backoffLimit")
    if selector:
        yield from _check_selector(selector, mode, backoff)
    if mode == "InteractiveMode" and backoff is not None and backoff > 0:
        yield RULE.forbidden(("spec", "backoffLimit"), "is incompatible with InteractiveMode")
    if mode == "SidecarMode":
        yield from _check_sidecar(spec)
    if cluster is not None:
        if flag(inner(cluster, "authOptions"), "enableK8sTokenAuth"):
            yield RULE.forbidden((*_CLUSTER, "authOptions", "enableK8sTokenAuth"), "is not supported for a RayJob")
        yield from _check_spec(cluster, review, _CLUSTER)
    yield from _check_environment(text(spec, "runtimeEnvYAML"))
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if (value := number(spec, field)) is not None and value <= 0:
            yield RULE.invalid(("spec", field), value, "must be greater than 0")
    if backoff is not None and backoff < 0:
        yield RULE.invalid(("spec", "backoffLimit"), backoff, "must be greater than or equal to 0")


def check_cron_job(review: Review) -> Iterator[Problem]:
    """Yield why KubeRay would make no RayJobs of a RayCronJob, whose controller needs a gate.

    Who writes one has turned the gate on, as a rule, so that it is a warning where nobody said so.
    """
    if _CRON not in review.around.gates:
        yield replace(RULE.forbidden(("spec",), OFF.format(_CRON)), warns=True)
    if review.since("kuberay", SINCE):
        if names.size(review.name) > _CRON_NAME:
            yield RULE.too_long(("metadata", "name"), _CRON_NAME)
        if "TZ" in text(review.spec, "schedule"):
            yield RULE.invalid(_SCHEDULE, review.spec["schedule"], "cannot name a time zone; use timeZone")
        if (zone := review.spec.get("timeZone")) is not None and not (zone and is_zone(str(zone))):
            yield RULE.invalid(("spec", "timeZone"), zone, "must be a time zone such as Europe/Berlin")
    if detail := parse_schedule(text(review.spec, "schedule")):
        yield RULE.invalid(_SCHEDULE, review.spec.get("schedule"), detail)
    job: Object = {**review.value, "metadata": {}, "spec": inner(review.spec, "jobTemplate")}
    for problem in check_job(replace(review, value=job)):
        yield replace(problem, path=("spec", "jobTemplate", *problem.path[1:]))


def check_service(review: Review) -> Iterator[Problem]:
    """Yield why a RayService would get no cluster."""
    yield from _check_name(review.name, _OWNER_NAME)
    yield from _check_timeout(review.value)
    cluster = inner(review.spec, "rayClusterConfig")
    path: Path = ("spec", "rayClusterConfig")
    if flag(inner(cluster, "authOptions"), "enableK8sTokenAuth"):
        yield RULE.forbidden((*path, "authOptions", "enableK8sTokenAuth"), "is not supported for a RayService")
    yield from _check_spec(cluster, review, path)
    if text(inner(cluster, "headGroupSpec", "headService", "metadata"), "name"):
        yield RULE.forbidden((*path, "headGroupSpec", "headService", "metadata", "name"), "must not be set")
    strategy = inner(review.spec, "upgradeStrategy").get("type")
    known = ("NewClusterWithIncrementalUpgrade", "NewCluster", "None")
    if strategy is not None and strategy not in known:
        yield RULE.unsupported(("spec", "upgradeStrategy", "type"), strategy, known)
    delay = number(review.spec, "rayClusterDeletionDelaySeconds")
    if delay is not None and delay < 0:
        yield RULE.invalid(("spec", "rayClusterDeletionDelaySeconds"), delay, "must be greater than or equal to 0")
    if review.enabled("RayServiceIncrementalUpgrade", "kuberay", SINCE):
        yield from check_upgrade(review.spec, RULE)


def _deletes(review: Review) -> bool:
    """Whether groups may be suspended and clusters deleted by rules, for which there is a gate."""
    return review.enabled(_DELETION, "kuberay", "1.6.0")


def _check_name(name: str, limit: int) -> Iterator[Problem]:
    if names.size(name) > limit:
        yield RULE.too_long(("metadata", "name"), limit)
    elif name and (detail := names.dns_label_1035(name)):
        yield RULE.invalid(("metadata", "name"), name, detail)


def _check_spec(spec: Object, review: Review, path: Path) -> Iterator[Problem]:
    head = inner(spec, "headGroupSpec")
    containers = each(inner(head, "template", "spec"), "containers")
    if not containers:
        yield RULE.required((*path, "headGroupSpec", "template", "spec", "containers"))
        return
    environment = {text(each_, "name"): each_.get("value") for _, each_ in each(containers[0][1], "env")}
    yield from _check_group(head, (*path, "headGroupSpec"))
    scales = flag(spec, "enableInTreeAutoscaling")
    v2 = text(inner(spec, "autoscalerOptions"), "version") == "v2"
    for index, group in each(spec, "workerGroupSpecs"):
        at: Path = (*path, "workerGroupSpecs", index)
        if not count(inner(group, "template", "spec"), "containers"):
            yield RULE.required((*at, "template", "spec", "containers"))
            return
        yield from _check_replicas(group, at, scales=scales)
        yield from _check_group(group, at)
        idle = number(group, "idleTimeoutSeconds")
        if idle is not None and idle < 0:
            yield RULE.invalid((*at, "idleTimeoutSeconds"), idle, "must be greater than or equal to 0")
        elif idle is not None and not v2 and environment.get(_V2) not in _ON:
            yield RULE.forbidden((*at, "idleTimeoutSeconds"), "needs autoscalerOptions.version v2")
        if flag(group, "suspend") and not _deletes(review):
            yield RULE.forbidden((*at, "suspend"), OFF.format(_DELETION))
        if scales and flag(group, "suspend"):
            yield RULE.forbidden((*at, "suspend"), "a group of a cluster that scales itself cannot be suspended")
    yield from _check_tolerance(spec, review.value, environment, path)
    yield from _check_autoscaler(spec, environment, path, scales=scales, v2=v2)
    yield from _check_auth(spec, path)
    if review.since("kuberay", SINCE):
        yield from check_options(spec, environment, path, RULE, review.around.gates)


def _check_group(group: Object, path: Path) -> Iterator[Problem]:
    parameters = inner(group, "rayStartParams")
    if inner(group, "resources") and any(parameters.get(name) for name in _RESOURCES):
        yield RULE.forbidden((*path, "resources"), "set resources here or in rayStartParams, not in both")
    if "labels" in parameters:
        yield RULE.forbidden((*path, "rayStartParams", "labels"), "set the group's field labels instead")
    for key, value in inner(group, "labels").items():
        if detail := names.label_key(key) or names.label_value(value):
            yield RULE.invalid((*path, "labels", key), value, detail)


def _check_replicas(group: Object, path: Path, *, scales: bool) -> Iterator[Problem]:
    least, most = number(group, "minReplicas"), number(group, "maxReplicas")
    if not scales and (least is None or most is None):
        yield RULE.required((*path, "minReplicas" if least is None else "maxReplicas"))
    for field, value in (("minReplicas", least), ("maxReplicas", most)):
        if value is not None and value < 0:
            yield RULE.invalid((*path, field), value, "must be greater than or equal to 0")
    if least is not None and most is not None and least > most:
        yield RULE.invalid((*path, "minReplicas"), least, f"must not be greater than maxReplicas {most}")


def _check_tolerance(spec: Object, owner: Object, environment: Object, path: Path) -> Iterator[Problem]:
    found = annotations_of(owner)
    options, head = child(spec, "gcsFaultToleranceOptions"), inner(spec, "headGroupSpec")
    at: Path = (*path, "headGroupSpec", "template", "spec", "containers", 0, "env")
    marked = str(found.get(_FAULT_TOLERANT) or "")
    if marked and options is not None:
        detail = "gcsFaultToleranceOptions and the annotation cannot both be set"
        yield RULE.forbidden(("metadata", "annotations", _FAULT_TOLERANT), detail)
    if options is None and marked.lower() != "true" and "RAY_REDIS_ADDRESS" in environment:
        yield RULE.forbidden(at, "RAY_REDIS_ADDRESS needs gcsFaultToleranceOptions")
    parameters = inner(head, "rayStartParams")
    if options is not None:
        if parameters.get("redis-password"):
            where: Path = (*path, "headGroupSpec", "rayStartParams", "redis-password")
            yield RULE.forbidden(where, "set gcsFaultToleranceOptions.redisPassword instead")
        for name in ("REDIS_PASSWORD", "RAY_REDIS_ADDRESS"):
            if name in environment:
                yield RULE.forbidden(at, f"set gcsFaultToleranceOptions instead of {name}")
        if found.get(_STORAGE):
            detail = "set gcsFaultToleranceOptions.externalStorageNamespace instead"
            yield RULE.forbidden(("metadata", "annotations", _STORAGE), detail)
    if parameters.get("redis-username") or "REDIS_USERNAME" in environment:
        yield RULE.forbidden(at, "set the Redis user in gcsFaultToleranceOptions.redisUsername instead")


def _check_autoscaler(spec: Object, environment: Object, path: Path, *, scales: bool, v2: bool) -> Iterator[Problem]:
    at: Path = (*path, "headGroupSpec", "template", "spec")
    options = inner(spec, "autoscalerOptions")
    if not scales and environment.get(_V2) in _ON:
        yield RULE.forbidden((*at, "containers", 0, "env"), f"{_V2} needs enableInTreeAutoscaling")
    if scales and options.get("version") is not None and _V2 in environment:
        yield RULE.forbidden((*at, "containers", 0, "env"), f"set autoscalerOptions.version alone, without {_V2}")
    if scales and v2:
        groups = [(inner(spec, "headGroupSpec"), at)]
        groups += [(g, (*path, "workerGroupSpecs", i, "template", "spec")) for i, g in each(spec, "workerGroupSpecs")]
        for group, where in groups:
            restart = text(inner(group, "template", "spec"), "restartPolicy")
            if restart not in ("", "Never"):
                yield RULE.invalid((*where, "restartPolicy"), restart, "must be Never with autoscaler v2")
    idle = number(options, "idleTimeoutSeconds")
    if idle is not None and idle < 0:
        yield RULE.invalid((*path, "autoscalerOptions", "idleTimeoutSeconds"), idle, "must not be negative")


def _check_auth(spec: Object, path: Path) -> Iterator[Problem]:
    options = inner(spec, "authOptions")
    kubernetes = flag(options, "enableK8sTokenAuth")
    at: Path = (*path, "authOptions")
    if text(options, "mode") != "token":
        if kubernetes:
            yield RULE.forbidden((*at, "enableK8sTokenAuth"), "needs mode token")
        return
    written = text(spec, "rayVersion")
    found = _version(written.strip())
    needed = (2, 55, 0) if kubernetes else _TOKEN_VERSION
    if found is None or tuple(int(part or 0) for part in found.groups()) < needed:
        least = ".".join(map(str, needed))
        yield RULE.invalid((*path, "rayVersion"), written, f"token authentication needs Ray {least} or later")
    if kubernetes and text(options, "secretName"):
        yield RULE.forbidden((*at, "secretName"), "cannot be set with enableK8sTokenAuth")


def _check_selector(selector: Object, mode: str, backoff: int | None) -> Iterator[Problem]:
    if not text(selector, "ray.io/cluster"):
        yield RULE.required(("spec", "clusterSelector", "ray.io/cluster"))
    if mode == "SidecarMode":
        yield RULE.forbidden(("spec", "clusterSelector"), "is not supported in SidecarMode")
    if backoff is not None and backoff > 0:
        yield RULE.forbidden(("spec", "backoffLimit"), "is incompatible with a clusterSelector")


def _check_sidecar(spec: Object) -> Iterator[Problem]:
    for field in ("submitterPodTemplate", "submitterConfig"):
        if child(spec, field) is not None:
            yield RULE.forbidden(("spec", field), "is not supported in SidecarMode")
    restart = text(inner(spec, "rayClusterSpec", "headGroupSpec", "template", "spec"), "restartPolicy")
    if restart not in ("", "Never"):
        path: Path = (*_CLUSTER, "headGroupSpec", "template", "spec", "restartPolicy")
        yield RULE.invalid(path, restart, "must be Never in SidecarMode")


def _check_environment(written: str) -> Iterator[Problem]:
    path: Path = ("spec", "runtimeEnvYAML")
    try:
        value = yaml.safe_load(written)
    except (yaml.YAMLError, ValueError, RecursionError):
        yield RULE.invalid(path, written, "must be YAML")
        return
    if value is not None and not isinstance(value, dict):
        yield RULE.invalid(path, written, "must be a map")


def _check_timeout(value: Object) -> Iterator[Problem]:
    written = str(annotations_of(value).get(_TIMEOUT) or "")
    if not written:
        return
    seconds = golang.seconds(written)
    if seconds is None:
        seconds = golang.integer(written)
    if seconds is None or seconds <= 0:
        yield RULE.invalid(("metadata", "annotations", _TIMEOUT), written, "must be a duration or seconds above 0")
