"""Jobs: completion modes, policies on failure and success, and what an update may not change.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/batch/validation/validation.go, compared with v1.34.4, v1.36.3 and v1.37.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.equality import check_immutable, differs
from trainyard.upstream.apiserver.core.jobpolicies import (
    check_failure_policy,
    check_success_policy,
    default_failure_policy,
)
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.pods.options import Options, keep_options, options_of
from trainyard.upstream.apiserver.core.pods.template import check_template
from trainyard.upstream.apiserver.core.selectors import check_label_selector, matches
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, fill, fill_absent, flag, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/batch/validation/validation.go"
JOB = Rule(
    "core/job",
    f"{SOURCE} validateJobSpec",
    title="A Job has valid counts, limits and completion mode.",
    fix="use counts of 0 or more; set completions for completionMode: Indexed",
)
NAME = Rule(
    "core/job-name",
    f"{SOURCE} ValidateJob",
    title="The pod host names of an Indexed Job are valid DNS labels.",
    fix="shorten the Job's name; its last pod is named <name>-<index>",
)
SELECTOR = Rule(
    "core/job-selector",
    f"{SOURCE} validateGeneratedSelector",
    title="A Job sets no selector and no generated labels of its own.",
    fix="remove spec.selector and the generated labels, or set manualSelector: true",
)
RESTART = Rule(
    "core/job-restart-policy",
    f"{SOURCE} validateJobSpec",
    title="The pods of a Job restart OnFailure or Never.",
    fix="set restartPolicy to Never or OnFailure; podFailurePolicy needs Never",
)
IMMUTABLE = Rule(
    "update/job",
    f"{SOURCE} ValidateJobSpecUpdate",
    title="An update of a Job changes only the fields that Kubernetes lets change.",
    fix="restore the field, or create a Job under another name",
)

MODES = ("NonIndexed", "Indexed")
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MOST_PARALLEL = 100_000
_MANY_COMPLETIONS = 100_000
_MOST_WITH_MANY = 10_000
_LONGEST_MANAGER = 63
_RESOURCES_MINOR = 36
"""From here on resources of suspended Jobs may change."""
_FIXED = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_LARGEST_INT32 = 2147483647


def default(value: Object, minor: int) -> None:
    """Default a Job."""
    if (spec := child(value, "spec")) is None:
        return
    _default_spec(spec, minor)
    labels = inner(spec, "template", "metadata").get("labels")
    meta = child(value, "metadata")
    if labels and meta is not None:
        fill(meta, "labels", labels)


def _default_spec(spec: Object, minor: int) -> None:
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
    spec.pop("scheduling", None)
    default_failure_policy(spec)
    default_template(spec, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a Job, and changes that an update may not make."""
    spec, path = inner(value, "spec"), ("spec",)
    options = options_of(minor(kubernetes))
    if old is not None:
        options = keep_options(options, inner(old, "spec", "template", "spec"))
    yield from check_job_spec(spec, path, options)
    if old is None or not _same_selection(spec, inner(old, "spec")):
        yield from _check_selector(value, spec)
    name, completions = text(inner(value, "metadata"), "name"), number(spec, "completions")
    if spec.get("completionMode") == "Indexed" and name and completions is not None and completions > 0:
        host = f"{name}-{completions - 1}"
        if names.dns_label(host):
            yield NAME.invalid(("metadata", "name"), name, f"the last pod's host name {host} would be no DNS label")
    if old is not None:
        yield from _check_update(value, old, options)


def check_job_spec(spec: Object, path: Path, options: Options) -> Iterator[Problem]:
    """Yield the problems with the specification of a Job, also inside a CronJob."""
    for field in _COUNTS:
        value = number(spec, field)
        if value is not None and value < 0:
            yield JOB.invalid((*path, field), value, "must be greater than or equal to 0")
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield JOB.required((*path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified")
    manager = spec.get("managedBy")
    if manager is not None:
        if detail := names.domain_prefixed_path(manager):
            yield JOB.invalid((*path, "managedBy"), manager, detail)
        if isinstance(manager, str) and names.size(manager) > _LONGEST_MANAGER:
            yield JOB.too_long((*path, "managedBy"), _LONGEST_MANAGER)
    yield from _check_mode(spec, path)
    template = child(spec, "template") or EMPTY
    if child(spec, "podFailurePolicy") is not None:
        yield from check_failure_policy(spec, (*path, "podFailurePolicy"))
    if child(spec, "successPolicy") is not None:
        if spec.get("completionMode") != "Indexed":
            yield JOB.invalid((*path, "successPolicy"), "", "requires indexed completion mode")
        else:
            yield from check_success_policy(spec, (*path, "successPolicy"))
    replacement = spec.get("podReplacementPolicy")
    choices = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in choices:
        yield JOB.unsupported((*path, "podReplacementPolicy"), replacement, choices)
    yield from check_template(template, (*path, "template"), options)
    yield from _check_restart(spec, template, path)


def _check_mode(spec: Object, path: Path) -> Iterator[Problem]:
    mode = spec.get("completionMode")
    if mode is not None and mode not in MODES:
        yield JOB.unsupported((*path, "completionMode"), mode, MODES)
    if mode == "Indexed":
        yield from _check_indexed(spec, path)
    elif mode in (None, "NonIndexed"):
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if (value := spec.get(field)) is not None:
                yield JOB.invalid((*path, field), value, "requires indexed completion mode")


def _check_indexed(spec: Object, path: Path) -> Iterator[Problem]:
    completions, parallelism = number(spec, "completions"), number(spec, "parallelism")
    failed = number(spec, "maxFailedIndexes")
    if spec.get("completions") is None:
        yield JOB.required((*path, "completions"), "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MOST_PARALLEL:
        yield JOB.invalid((*path, "parallelism"), parallelism, f"must be at most {_MOST_PARALLEL} with indexes")
    if failed is not None and failed > min(_MANY_COMPLETIONS, completions if completions is not None else failed):
        yield JOB.invalid((*path, "maxFailedIndexes"), failed, f"must be at most completions and {_MANY_COMPLETIONS}")
    if completions is None or completions <= _MANY_COMPLETIONS or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        yield JOB.required((*path, "maxFailedIndexes"), f"when completions are above {_MANY_COMPLETIONS}")
    for field, value in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
        if value is not None and value > _MOST_WITH_MANY:
            detail = f"must be at most {_MOST_WITH_MANY} when completions are above {_MANY_COMPLETIONS}"
            yield JOB.invalid((*path, field), value, detail)


def _check_restart(spec: Object, template: Object, path: Path) -> Iterator[Problem]:
    policy = inner(template, "spec").get("restartPolicy")
    at = (*path, "template", "spec", "restartPolicy")
    if policy in (None, "", "Always"):
        how = 'is "Always", the default,' if policy != "Always" else 'is "Always",'
        yield Problem(
            at, RESTART.id, f'{how} but must be "OnFailure" or "Never"; otherwise the Job never ends', RESTART.source
        )
    elif policy not in ("OnFailure", "Never"):
        yield RESTART.unsupported(at, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield RESTART.invalid(at, policy, "only Never is supported with podFailurePolicy")


def _same_selection(spec: Object, before: Object) -> bool:
    labels = ("template", "metadata", "labels")
    return spec.get("selector") == before.get("selector") and inner(spec, *labels) == inner(before, *labels)


def _check_selector(value: Object, spec: Object) -> Iterator[Problem]:
    selector, labels = child(spec, "selector"), inner(spec, "template", "metadata", "labels")
    at = ("spec", "selector")
    if flag(spec, "manualSelector"):
        if selector is None:
            yield SELECTOR.required(at, "must be specified with manualSelector")
            return
        yield from check_label_selector(selector, at)
        if matches(selector, labels) is False:
            yield SELECTOR.invalid(("spec", "template", "metadata", "labels"), labels, "the selector does not match")
        return
    meta = inner(value, "metadata")
    # A uid that is there was written by the server, together with the labels.
    uid = text(meta, "uid")
    expected = {"job-name": text(meta, "name"), "batch.kubernetes.io/job-name": text(meta, "name")}
    for key in ("controller-uid", "batch.kubernetes.io/controller-uid"):
        expected[key] = uid or "the uid that the server will give"
    for key, right in expected.items():
        if key in labels and labels[key] != right and (text(meta, "name") or "uid" in key):
            where = ("spec", "template", "metadata", "labels", key)
            yield SELECTOR.invalid(where, labels[key], f"must be '{right}'; leave it to the server")
    if selector is not None:
        yield from check_label_selector(selector, at)
        if matches(selector, expected) is False or matches(selector, {**labels, **expected}) is False:
            yield SELECTOR.invalid(at, selector, "is generated by the server; remove it, or set manualSelector: true")


def _check_update(value: Object, old: Object, options: Options) -> Iterator[Problem]:
    spec, before = inner(value, "spec"), inner(old, "spec")
    yield from _check_completions(spec, before)
    if before.get("selector") is not None or flag(spec, "manualSelector"):
        yield from check_immutable(spec.get("selector"), before.get("selector"), ("spec", "selector"), IMMUTABLE)
    meta, was = inner(spec, "template", "metadata"), inner(before, "template", "metadata")
    taken = bool(was.get("labels")) and "labels" not in meta
    if not flag(spec, "manualSelector") and (flag(before, "manualSelector") or taken):
        yield SELECTOR.required(
            ("spec", "template", "metadata", "labels"), "must have the labels of the generated selector"
        )
    for field in _FIXED:
        yield from check_immutable(spec.get(field), before.get(field), ("spec", field), IMMUTABLE)
    yield from _check_template(spec, before, old, options)


def _check_completions(spec: Object, before: Object) -> Iterator[Problem]:
    now, was = number(spec, "completions"), number(before, "completions")
    if now == was:
        return
    if spec.get("completionMode") != "Indexed":
        yield IMMUTABLE.invalid(("spec", "completions"), now, "field is immutable")
    elif now is not None and now != number(spec, "parallelism"):
        yield IMMUTABLE.invalid(("spec", "completions"), now, "can only be changed together with parallelism")


def _check_template(spec: Object, before: Object, old: Object, options: Options) -> Iterator[Problem]:
    """Judge a changed template: while a Job is suspended and has not started, where its pods run may still change.

    From Kubernetes 1.36 on also once it has stopped again, and resources too (gates
    MutableSchedulingDirectivesForSuspendedJobs, MutablePodResourcesForSuspendedJobs).
    """
    now, was = inner(spec, "template"), inner(before, "template")
    if not differs(now, was):
        return
    status = inner(old, "status")
    movable = flag(before, "suspend") and status.get("startTime") is None
    if options.minor >= _RESOURCES_MINOR:
        movable = flag(before, "suspend") and (movable or _is_suspended(status)) and not number(status, "active")
        was = _with_resources(now, was) if movable else was
    was = _with_directives(now, was) if movable else was
    yield from check_immutable(now, was, ("spec", "template"), IMMUTABLE)


def _is_suspended(status: Object) -> bool:
    conditions = status.get("conditions")
    return isinstance(conditions, list) and any(
        isinstance(entry, dict) and entry.get("type") == "Suspended" and entry.get("status") == "True"
        for entry in conditions
    )


def _with_directives(now: Object, was: Object) -> Object:
    spec, meta = inner(now, "spec"), inner(now, "metadata")
    moved = dict(inner(was, "spec"))
    for field in ("nodeSelector", "tolerations", "schedulingGates"):
        moved[field] = spec.get(field)
    affinity = dict(inner(was, "spec", "affinity"))
    affinity["nodeAffinity"] = inner(spec, "affinity").get("nodeAffinity")
    emptied = spec.get("affinity") is None and not any(affinity.values())
    moved["affinity"] = None if emptied else affinity
    labelled = {**inner(was, "metadata"), "labels": meta.get("labels"), "annotations": meta.get("annotations")}
    return {**was, "metadata": labelled, "spec": moved}


def _with_resources(now: Object, was: Object) -> Object:
    moved = dict(inner(was, "spec"))
    for kind in ("containers", "initContainers"):
        mine, theirs = inner(now, "spec").get(kind), moved.get(kind)
        if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
            moved[kind] = [
                {**before, "resources": after.get("resources")}
                if isinstance(after, dict) and isinstance(before, dict) and after.get("name") == before.get("name")
                else before
                for after, before in zip(mine, theirs, strict=True)
            ]
    return {**was, "spec": moved}
