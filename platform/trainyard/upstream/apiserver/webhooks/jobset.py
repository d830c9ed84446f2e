"""JobSet: names that fit, references to replicated jobs, coordinator, claims, and what an update may change.

Verified against JobSet 0.12.0 and 0.11.1, whose gates are off: InPlaceRestart and, since 0.12, RestartJob and
ElasticJobSet. Before 0.11 the coordinator's label was not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy

from trainyard.base.labels import QUEUE
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, each, flag, inner, number, text, texts
from trainyard.upstream.apiserver.gates import OFF, Gates
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, labels_of

RULE = Rule(
    "webhook/jobset",
    "jobset v0.12.0 pkg/webhooks/jobset_webhook.go",
    title="A JobSet passes the checks of its webhook.",
    fix="name replicated jobs that exist; shorten names that are too long; remove fields that are switched off",
)

_INT32 = 2**31 - 1
_NAME_BYTES = 63
_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
_GATED_ACTIONS = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
_rule_name = re.compile("[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?").fullmatch
POD_SUFFIX = "-abcde"
"""As long as what the Job controller adds to the names of pods."""
_SIZES = ("parallelism", "completions")
_MUTABLE = ("nodeSelector", "tolerations", "schedulingGates")


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a JobSet."""
    if review.old is not None:
        yield from _check_update(review)
        return
    spec = review.spec
    yield from _check_network(spec)
    yield from _check_manager(spec)
    names_seen: set[str] = set()
    for index, job in each(spec, "replicatedJobs"):
        names_seen.add(text(job, "name"))
        path: Path = ("spec", "replicatedJobs", index)
        yield from _check_job(job, review.name, path)
        if index == 0 and isinstance(job.get("dependsOn"), list):
            yield RULE.forbidden((*path, "dependsOn"), "the first replicated job cannot depend on another")
        for place, item in each(job, "dependsOn"):
            if text(item, "name") not in names_seen:
                yield RULE.missing(
                    (*path, "dependsOn", place), item.get("name"), "must be the name of an earlier replicated job"
                )
    yield from _check_targets(inner(spec, "successPolicy"), ("spec", "successPolicy"), names_seen)
    yield from _check_failure_policy(inner(spec, "failurePolicy"), names_seen, review.around.gates)
    if (coordinator := child(spec, "coordinator")) is not None:
        yield from _check_coordinator(coordinator, spec, review.name, labelled=review.since("jobset", "0.11.0"))
    yield from _check_claims(spec, review)


def default(review: Review) -> None:
    """Fill in what the webhook does on create."""
    filled = child(review.value, "spec")
    if filled is None:
        return
    if filled.get("successPolicy") is None:
        filled["successPolicy"] = {"operator": "All"}
    if filled.get("startupPolicy") is None:
        filled["startupPolicy"] = {"startupPolicyOrder": "AnyOrder"}
    for _, job in each(filled, "replicatedJobs"):
        _default_job(inner(job, "template", "spec"))
    if filled.get("network") is None:
        filled["network"] = {}
    if isinstance(network := filled["network"], dict):
        for option in ("enableDNSHostnames", "publishNotReadyAddresses"):
            network[option] = True if network.get(option) is None else network[option]
    for _, policy in each(filled, "volumeClaimPolicies"):
        if policy.get("retentionPolicy") is None:
            policy["retentionPolicy"] = {"whenDeleted": "Delete"}
    for index, rule in each(inner(filled, "failurePolicy"), "rules"):
        if rule.get("name") in (None, ""):
            rule["name"] = f"failurePolicyRule{index}"


def _default_job(spec: Object) -> None:
    if spec and spec.get("completionMode") is None:
        spec["completionMode"] = "Indexed"
    pod = inner(spec, "template", "spec")
    if pod and pod.get("restartPolicy") in (None, ""):
        pod["restartPolicy"] = "OnFailure"


def _check_network(spec: Object) -> Iterator[Problem]:
    subdomain = text(inner(spec, "network"), "subdomain")
    if subdomain and (detail := names.dns_subdomain(subdomain) or names.dns_label_1035(subdomain)):
        yield RULE.invalid(("spec", "network", "subdomain"), subdomain, detail)


def _check_manager(spec: Object) -> Iterator[Problem]:
    manager = spec.get("managedBy")
    if not isinstance(manager, str):
        return
    if detail := names.domain_prefixed_path(manager):
        yield RULE.invalid(("spec", "managedBy"), manager, detail)
    if names.size(manager) > _NAME_BYTES:
        yield RULE.too_long(("spec", "managedBy"), _NAME_BYTES)


def _check_job(job: Object, owner: str, path: Path) -> Iterator[Problem]:
    spec = inner(job, "template", "spec")
    if inner(spec, "template").get("spec") is None:
        yield RULE.required((*path, "template", "spec", "template", "spec", "containers"))
    replicas = number(job, "replicas")
    replicas = 1 if replicas is None else replicas
    parallelism = number(spec, "parallelism")
    if (1 if parallelism is None else parallelism) * replicas > _INT32:
        yield RULE.invalid((*path, "replicas"), replicas, f"replicas times parallelism must not exceed {_INT32}")
    group = job.get("groupName", "default")
    if detail := names.dns_label_1035(group):
        yield RULE.invalid((*path, "groupName"), group, detail)
    longest = f"{owner}-{text(job, 'name')}-{replicas - 1}"
    if detail := names.dns_label_1035(longest):
        yield RULE.invalid((*path, "name"), longest, f"the names of its jobs {_of(detail)}")
    completions = number(spec, "completions")
    if spec.get("completionMode") == "Indexed" and completions is not None:
        pod = f"{longest}-{completions - 1}{POD_SUFFIX}"
        if not detail and (detail := names.dns_label_1035(pod)):
            yield RULE.invalid((*path, "name"), pod, f"the names of its pods {_of(detail)}")


def _of(detail: str) -> str:
    return detail if detail.startswith("must") else f"must be right: {detail}"


def _check_targets(policy: Object, path: Path, known: set[str]) -> Iterator[Problem]:
    for index, name in texts(policy, "targetReplicatedJobs"):
        if name not in known:
            yield RULE.missing((*path, "targetReplicatedJobs", index), name, "must be the name of a replicated job")


def _check_failure_policy(policy: Object, known: set[str], gates: Gates) -> Iterator[Problem]:
    path: Path = ("spec", "failurePolicy")
    if policy.get("restartStrategy") == "InPlaceRestart" and "InPlaceRestart" not in gates:
        yield RULE.forbidden((*path, "restartStrategy"), OFF.format("InPlaceRestart"))
    rules = each(policy, "rules")
    for index, rule in rules:
        if rule.get("action") in _GATED_ACTIONS and "RestartJob" not in gates:
            yield RULE.forbidden((*path, "rules", index, "action"), OFF.format("RestartJob"))
            return
    seen: set[str] = set()
    for index, rule in rules:
        at: Path = (*path, "rules", index)
        name = text(rule, "name")
        if not _rule_name(name) or len(name) > 128:
            detail = "must be at most 128 letters, digits, '_', ',' or ':', from a letter to a letter, digit or '_'"
            yield RULE.invalid((*at, "name"), name, detail)
        if name in seen:
            yield RULE.duplicate((*at, "name"), name)
        seen.add(name)
        yield from _check_targets(rule, at, known)
        for place, reason in texts(rule, "onJobFailureReasons"):
            if reason not in _REASONS:
                yield RULE.unsupported((*at, "onJobFailureReasons", place), reason, _REASONS)


def _check_coordinator(coordinator: Object, spec: Object, owner: str, *, labelled: bool) -> Iterator[Problem]:
    path: Path = ("spec", "coordinator")
    name = text(coordinator, "replicatedJob")
    jobs = {text(job, "name"): job for _, job in reversed(each(spec, "replicatedJobs"))}
    job_index, pod_index = number(coordinator, "jobIndex") or 0, number(coordinator, "podIndex") or 0
    subdomain = text(inner(spec, "network"), "subdomain") or owner
    endpoint = f"{owner}-{name}-{job_index}-{pod_index}.{subdomain}"
    if labelled and (detail := names.label_value(endpoint)):
        yield RULE.invalid(path, endpoint, f"becomes a label: {detail}")
    if name not in jobs:
        yield RULE.missing((*path, "replicatedJob"), name, "must be the name of a replicated job")
        return
    replicas, inside = number(jobs[name], "replicas"), inner(jobs[name], "template", "spec")
    completions = number(inside, "completions")
    if not 0 <= job_index < (1 if replicas is None else replicas):
        yield RULE.invalid((*path, "jobIndex"), job_index, f"must be below the replicas of {name!r}")
    elif completions is None or inside.get("completionMode") != "Indexed":
        yield RULE.invalid((*path, "replicatedJob"), name, "must be an Indexed job with completions")
    elif not 0 <= pod_index < completions:
        yield RULE.invalid((*path, "podIndex"), pod_index, f"must be below the completions of {name!r}")


def _check_claims(spec: Object, review: Review) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, policy in each(spec, "volumeClaimPolicies"):
        for place, template in each(policy, "templates"):
            at: Path = ("spec", "volumeClaimPolicies", index, "templates", place)
            name = text(inner(template, "metadata"), "name")
            where: Path = (*at, "metadata", "name")
            if name in seen:
                yield RULE.duplicate(where, name)
            seen.add(name)
            if detail := names.dns_subdomain(name):
                yield RULE.invalid(where, name, detail)
            if names.size(f"{name}-{review.name}") > _NAME_BYTES:
                yield RULE.too_long(where, _NAME_BYTES - names.size(review.name) - 1)
            yield from _check_mounts(spec, name, where)
            claim = review.around.find("", "PersistentVolumeClaim", f"{name}-{review.name}", namespace=review.namespace)
            if claim is not None and inner(policy, "retentionPolicy").get("whenDeleted", "Delete") != "Retain":
                yield RULE.invalid(where, name, "whenDeleted must be Retain, since the claim exists")


def _check_mounts(spec: Object, name: str, path: Path) -> Iterator[Problem]:
    mounted = False
    for index, job in each(spec, "replicatedJobs"):
        pod = inner(job, "template", "spec", "template", "spec")
        at: Path = ("spec", "replicatedJobs", index, "template", "spec", "template", "spec", "volumes")
        for place, volume in each(pod, "volumes"):
            if text(volume, "name") == name:
                yield RULE.invalid((*at, place, "name"), name, "is the name of a volume claim template")
        for kind in ("initContainers", "containers"):
            for _, container in each(pod, kind):
                mounted |= any(text(mount, "name") == name for _, mount in each(container, "volumeMounts"))
    if not mounted:
        yield RULE.invalid(path, name, "no container mounts this volume claim")


def _check_update(review: Review) -> Iterator[Problem]:
    """Replicated jobs never change; while suspended, a pod's placement, labels and annotations may."""
    now, before = deepcopy(review.spec), review.old_spec
    queued = bool(labels_of(review.old or EMPTY).get(QUEUE))
    if flag(now, "suspend") or flag(before, "suspend") or queued:
        old = {text(job, "name"): job for _, job in each(before, "replicatedJobs")}
        for _, job in each(now, "replicatedJobs"):
            if (stored := old.get(text(job, "name"))) is not None:
                _forgive(inner(job, "template", "spec", "template"), inner(stored, "template", "spec", "template"))
    if "ElasticJobSet" in review.around.gates:
        yield from _check_scaled(now, before)
    path: Path = ("spec", "replicatedJobs")
    if count(now, "replicatedJobs") != count(before, "replicatedJobs"):
        yield RULE.invalid(path, count(now, "replicatedJobs"), "field is immutable")
        return
    pairs = zip(each(now, "replicatedJobs"), each(before, "replicatedJobs"), strict=False)
    for (index, job), (_, stored) in pairs:
        if differs(job, stored):
            yield RULE.invalid((*path, index), text(job, "name"), "field is immutable")
    if now.get("managedBy") != before.get("managedBy"):
        yield RULE.invalid(("spec", "managedBy"), now.get("managedBy"), "field is immutable")


def _check_scaled(now: Object, before: Object) -> Iterator[Problem]:
    """Let Indexed jobs have more or fewer pods, as many as indices, and put back what they had to compare the rest.

    That a JobSet has ended, after which nothing may change, is in its status, which no file has.
    """
    old = {text(job, "name"): inner(job, "template", "spec") for _, job in each(before, "replicatedJobs")}
    for index, job in each(now, "replicatedJobs"):
        spec, stored = inner(job, "template", "spec"), old.get(text(job, "name"))
        if stored is None or spec.get("completionMode") != "Indexed":
            continue
        at: Path = ("spec", "replicatedJobs", index, "template", "spec")
        sizes = {field: number(spec, field) for field in _SIZES}
        if any(spec.get(field) != stored.get(field) for field in _SIZES):
            for field, size in sizes.items():
                if size is not None and size < 1 and spec.get(field) != stored.get(field):
                    yield RULE.invalid((*at, field), size, "must be greater than or equal to 1")
            if None not in sizes.values() and len(set(sizes.values())) > 1:
                detail = "completions must be equal to parallelism for Elastic Indexed Jobs"
                yield RULE.invalid((*at, "completions"), sizes["completions"], detail)
        for field in _SIZES:
            spec.pop(field, None)
            if field in stored:
                spec[field] = stored[field]


def _forgive(template: Object, stored: Object) -> None:
    """Put back what may change, so that the rest can be compared."""
    parts = (
        (template.get("metadata"), stored.get("metadata"), ("labels", "annotations")),
        (template.get("spec"), stored.get("spec"), _MUTABLE),
    )
    for now, before, fields in parts:
        for field in fields:
            kept = before.get(field) if isinstance(before, dict) else None
            if isinstance(now, dict):
                now.pop(field, None)
                if kept is not None:
                    now[field] = kept
    if not template.get("metadata") and isinstance(stored.get("metadata"), dict):
        template["metadata"] = stored["metadata"]
