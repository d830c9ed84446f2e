"""Volcano Queues, PodGroups, HyperNodes and CronJobs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.schedules import parse_schedule
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, text
from trainyard.upstream.apiserver.core.timezones import is_zone
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.patterns import NotRead, TooLarge, compile_pattern
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of, name_of
from trainyard.upstream.apiserver.webhooks.decoded import is_zero
from trainyard.upstream.apiserver.webhooks.volcano.amounts import (
    GROUP_OF_QUEUES,
    QUEUE,
    RESOURCES,
    amounts_of,
    check_quantities,
    counted,
    lacks,
    parent_of,
    path_of,
    together,
)
from trainyard.upstream.apiserver.webhooks.volcano.policies import check_timeouts
from trainyard.upstream.apiserver.webhooks.volcano.trees import check_each_amount, check_tree

_SOURCE = "volcano v1.15.1 pkg/webhooks/admission"
GROUP = Rule(
    "webhook/volcano-podgroup",
    "volcano v1.15.1 pkg/webhooks/admission/podgroups/validate/validate_podgroup.go",
    title="A Volcano PodGroup names a queue that exists and one highest network tier.",
    fix="correct spec.queue; set either highestTierAllowed or highestTierName",
    may_warn=True,
)
NODE = Rule(
    "webhook/volcano-hypernode",
    "volcano v1.15.1 pkg/webhooks/admission/hypernodes/validate/admit_hypernode.go",
    title="A HyperNode has members with one valid selector each.",
    fix="give each member exactly one of exactMatch, regexMatch and labelMatch",
    may_warn=True,
)
CRON = Rule(
    "webhook/volcano-cronjob",
    f"{_SOURCE}/cronjobs/validate/admit_cronjob.go",
    title="A Volcano CronJob has a valid schedule and job template.",
    fix="use a schedule such as '0 3 * * *'; correct the job template as you would a Volcano Job",
    may_warn=True,
)

_HIERARCHY = "volcano.sh/hierarchy"
_WEIGHTS = "volcano.sh/hierarchy-weights"
_MOST_CRON_NAME = 52
_MOST_ZONE_PART = 14


def default_queue(review: Review) -> None:
    """Fill in what the webhook does on create: weight 1, and that others may reclaim."""
    spec = child(review.value, "spec")
    if spec is None:
        return
    if is_zero(spec, "weight", of=int):
        spec["weight"] = 1
    if spec.get("reclaimable") is None:
        spec["reclaimable"] = True


def check_queue(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Queue, by itself and in the tree of those that are known.

    Since 1.14.2 amounts are compared resource by resource, a tree has at most five levels below its root, and what the
    root has may not change.
    """
    newer = review.since("volcano", "1.14.2")
    yield from check_each_amount(review.spec) if newer else _check_amounts(review.spec)
    yield from _check_hierarchy(review)
    parent = text(review.spec, "parent")
    if parent and parent != "root" and parent == review.name:
        yield QUEUE.invalid(("spec", "parent"), parent, "a queue cannot be its own parent")
        return
    if review.name == "root" and newer and review.old is not None:
        yield from _check_root(review)
    if review.name == "root" or not _resources_changed(review):
        return
    above = None
    if parent not in ("", "root"):
        above = review.around.find(GROUP_OF_QUEUES, "Queue", parent)
        if above is None and parent == "default":
            above = {"metadata": {"name": parent}}
        elif above is None:
            yield review.absent(QUEUE, ("spec", "parent"), "Queue", parent)
    if newer:
        yield from check_tree(review, above)
        return
    if above is not None:
        yield from _check_child(review, above)
    children = [queue for queue in review.around.of(GROUP_OF_QUEUES, "Queue") if parent_of(queue) == review.name]
    if children:
        yield from _check_sums(review.spec, children, ("spec",))


def _check_root(review: Review) -> Iterator[Problem]:
    for kind in RESOURCES:
        if differs(amounts_of(review.spec, kind), amounts_of(review.old_spec, kind), "hard"):
            yield QUEUE.forbidden(path_of(kind), "the amounts of the root queue cannot be changed")


def _resources_changed(review: Review) -> bool:
    if review.old is None or text(review.spec, "parent") != text(review.old_spec, "parent"):
        return True
    return any(differs(amounts_of(review.spec, kind), amounts_of(review.old_spec, kind), "hard") for kind in RESOURCES)


def _check_amounts(spec: Object) -> Iterator[Problem]:
    yield from check_quantities(spec)
    capability, deserved, guarantee = (counted(amounts_of(spec, kind)) for kind in RESOURCES)
    if inner(spec, "capability"):
        if lacking := lacks(capability, deserved):
            yield QUEUE.invalid(
                (*path_of("deserved"), lacking), inner(spec, "deserved").get(lacking), "exceeds the capability"
            )
            return
        if lacking := lacks(capability, guarantee):
            yield QUEUE.invalid((*path_of("guarantee"), lacking), guarantee.get(lacking), "exceeds the capability")
            return
    if amounts_of(spec, "guarantee") and (lacking := lacks(deserved, guarantee)):
        yield QUEUE.invalid(
            (*path_of("guarantee"), lacking), amounts_of(spec, "guarantee").get(lacking), "exceeds the deserved amount"
        )


def _check_hierarchy(review: Review) -> Iterator[Problem]:
    found = annotations_of(review.value)
    hierarchy, weights = str(found.get(_HIERARCHY) or ""), str(found.get(_WEIGHTS) or "")
    path: Path = ("metadata", "annotations")
    if not hierarchy and not weights:
        return
    if review.old is None and hierarchy and weights and not hierarchy.startswith("root"):
        hierarchy, weights = f"root/{hierarchy}", f"1/{weights}"
    if hierarchy.count("/") != weights.count("/"):
        yield QUEUE.invalid((*path, _HIERARCHY), hierarchy, f"must have as many parts as {_WEIGHTS}")
        return
    for weight in weights.split("/"):
        value = golang.decimal(weight)
        if value is None or value <= 0:
            yield QUEUE.invalid((*path, _WEIGHTS), weights, "must be numbers greater than 0, divided by slashes")
            return
    for queue in review.around.of(GROUP_OF_QUEUES, "Queue"):
        other = str(annotations_of(queue).get(_HIERARCHY) or "")
        if name_of(queue) != review.name and other.startswith(f"{hierarchy}/"):
            yield QUEUE.invalid((*path, _HIERARCHY), hierarchy, f"is above queue {name_of(queue)!r}")


def _check_child(review: Review, above: Object) -> Iterator[Problem]:
    have, want = counted(inner(above, "spec", "capability")), counted(inner(review.spec, "capability"))
    if lacking := lacks(have, want):
        yield QUEUE.invalid(("spec", "capability"), lacking, f"exceeds the capability of parent {name_of(above)!r}")
        return
    siblings = [
        queue
        for queue in review.around.of(GROUP_OF_QUEUES, "Queue")
        if parent_of(queue) == name_of(above) and name_of(queue) != review.name
    ]
    yield from _check_limits(inner(above, "spec"), [*siblings, review.value], ("spec",))


def _check_sums(spec: Object, children: list[Object], path: Path) -> Iterator[Problem]:
    capability = counted(inner(spec, "capability"))
    for queue in children:
        if lacking := lacks(capability, counted(inner(queue, "spec", "capability"))):
            yield QUEUE.invalid((*path, "capability"), lacking, f"is less than that of child {name_of(queue)!r}")
            return
    yield from _check_limits(spec, children, path)


def _check_limits(spec: Object, children: list[Object], path: Path) -> Iterator[Problem]:
    """What the children are promised together may not exceed what the parent has, or could have."""
    for kind in ("guarantee", "deserved"):
        total = together(children, kind)
        limit = amounts_of(spec, kind) or inner(spec, "capability")
        if limit and (lacking := lacks(counted(limit), total)):
            yield QUEUE.invalid((*path, kind), lacking, f"all children together exceed the parent's {kind}")
            return


def check_pod_group(review: Review) -> Iterator[Problem]:
    """Yield a PodGroup's missing queue, or network topology that names its highest tier twice; only on create."""
    if review.old is not None:
        return
    queue = text(review.spec, "queue")
    known = queue in ("", "default", "root") or review.around.find(GROUP_OF_QUEUES, "Queue", queue) is not None
    if not known:
        yield review.absent(GROUP, ("spec", "queue"), "Queue", queue)
    holders: list[tuple[Object, Path]] = [(review.spec, ("spec",))]
    for index, policy in each(review.spec, "subGroupPolicy"):
        holders.append((policy, ("spec", "subGroupPolicy", index)))
    for holder, path in holders:
        topology = inner(holder, "networkTopology")
        if topology.get("highestTierAllowed") is not None and text(topology, "highestTierName"):
            detail = "highestTierAllowed and highestTierName cannot both be set"
            yield GROUP.forbidden((*path, "networkTopology"), detail)


def check_hyper_node(review: Review) -> Iterator[Problem]:
    """Yield patterns of a HyperNode's members that are no regular expressions of Go's kind."""
    if not count(review.spec, "members"):
        yield NODE.required(("spec", "members"))
    for index, member in each(review.spec, "members"):
        pattern = text(inner(member, "selector", "regexMatch"), "pattern")
        try:
            compile_pattern(pattern)
        except TooLarge:  # Go's are larger
            continue
        except NotRead:
            path: Path = ("spec", "members", index, "selector", "regexMatch", "pattern")
            yield NODE.invalid(path, pattern, "must be a regular expression of RE2")


def check_cron_job(review: Review) -> Iterator[Problem]:
    """Yield the problems with a CronJob's schedule, time zone and name; its template is not judged."""
    yield from check_timeouts(inner(review.spec, "jobTemplate", "spec"), ("spec", "jobTemplate", "spec"))
    schedule = text(review.spec, "schedule")
    path: Path = ("spec", "schedule")
    if not schedule:
        yield CRON.required(path)
    elif "TZ" in schedule:
        yield CRON.invalid(path, schedule, "must not contain TZ; use timeZone")
    elif parse_schedule(schedule):
        yield CRON.invalid(path, schedule, "must be a cron expression")
    zone = review.spec.get("timeZone")
    if isinstance(zone, str) and not _is_usable_zone(zone):
        yield CRON.invalid(("spec", "timeZone"), zone, "must be a time zone of the IANA database")
    if names.size(review.name) > _MOST_CRON_NAME:
        yield CRON.too_long(("metadata", "name"), _MOST_CRON_NAME)


def _is_usable_zone(zone: str) -> bool:
    parts = zone.split("/")
    odd = any(part in (".", "..") or part.startswith("-") or not 1 <= len(part) <= _MOST_ZONE_PART for part in parts)
    return not odd and zone.lower() != "local" and is_zone(zone)
