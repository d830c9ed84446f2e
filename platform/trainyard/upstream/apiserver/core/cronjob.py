"""CronJobs: schedules, time zones and the Jobs they make.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/batch/validation/validation.go ValidateCronJobCreate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.job import SOURCE, check_job_spec
from trainyard.upstream.apiserver.core.jobpolicies import default_failure_policy
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.pods.options import keep_options, options_of
from trainyard.upstream.apiserver.core.schedules import parse_schedule
from trainyard.upstream.apiserver.core.shapes import Object, child, fill, fill_absent, flag, inner, number, text
from trainyard.upstream.apiserver.core.timezones import is_zone
from trainyard.upstream.apiserver.problems import Problem, Rule

CRON = Rule(
    "core/cron-job",
    f"{SOURCE} validateCronJobSpec",
    title="A CronJob has valid history limits, deadlines and concurrencyPolicy.",
    fix="correct the field in the message; concurrencyPolicy is Allow, Forbid or Replace",
)
NAME = Rule(
    "core/cron-job-name",
    f"{SOURCE} ValidateCronJobCreate",
    title="The name of a CronJob has at most 52 characters.",
    fix="shorten metadata.name",
    why="Kubernetes appends 11 characters for each Job, so the API server refuses longer names",
)
SCHEDULE = Rule(
    "core/schedule",
    "github.com/robfig/cron/v3 v3.0.1 parser.go ParseStandard",
    title="The schedule of a CronJob is a valid cron expression.",
    fix='write five cron fields, such as "0 3 * * *", or @daily',
)
ZONE = Rule(
    "core/time-zone",
    f"{SOURCE} validateTimeZone",
    title="The time zone of a CronJob exists.",
    fix="set timeZone to a name such as Europe/Berlin, or remove it",
)
TEMPLATE = Rule(
    "core/cron-job-template",
    f"{SOURCE} ValidateJobTemplateSpec",
    title="The job template of a CronJob leaves generated fields out.",
    fix="remove the selector and manualSelector from jobTemplate.spec",
)

POLICIES = ("Allow", "Forbid", "Replace")
_LONGEST_NAME = 52
_zone_part = re.compile(r"[A-Za-z.\-_0-9+]{1,14}").fullmatch


def default(value: Object, minor: int) -> None:
    """Default a CronJob."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "concurrencyPolicy", "Allow")
    fill_absent(spec, "suspend", False)
    fill_absent(spec, "successfulJobsHistoryLimit", 3)
    fill_absent(spec, "failedJobsHistoryLimit", 1)
    if (embedded := child(inner(spec, "jobTemplate"), "spec")) is not None:
        default_failure_policy(embedded)
        default_template(embedded, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a CronJob; an update may change everything but its name."""
    spec, before = inner(value, "spec"), inner(old or {}, "spec")
    name = text(inner(value, "metadata"), "name")
    if len(name) > _LONGEST_NAME and old is None:
        yield NAME.invalid(("metadata", "name"), name, f"must be no more than {_LONGEST_NAME} characters")
    yield from _check_schedule(spec, before)
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        limit = number(spec, field)
        if limit is not None and limit < 0:
            yield CRON.invalid(("spec", field), limit, "must be greater than or equal to 0")
    policy = spec.get("concurrencyPolicy") or "Allow"
    if policy not in POLICIES:
        yield CRON.unsupported(("spec", "concurrencyPolicy"), policy, POLICIES)
    template = inner(spec, "jobTemplate", "spec")
    options = options_of(minor(kubernetes))
    if old is not None:
        options = keep_options(options, inner(before, "jobTemplate", "spec", "template", "spec"))
    path = ("spec", "jobTemplate", "spec")
    yield from check_job_spec(template, path, options)
    if template.get("selector") is not None:
        yield TEMPLATE.invalid((*path, "selector"), template["selector"], "is auto-generated; leave it out")
    if flag(template, "manualSelector"):
        yield TEMPLATE.unsupported((*path, "manualSelector"), True, ("false",))


def _check_schedule(spec: Object, before: Object) -> Iterator[Problem]:
    schedule, zone = text(spec, "schedule"), spec.get("timeZone")
    at = ("spec", "schedule")
    known = "TZ" in text(before, "schedule")
    if not schedule:
        if not spec.get("schedule"):
            yield CRON.required(at)
    else:
        if detail := parse_schedule(schedule):
            yield SCHEDULE.invalid(at, schedule, detail)
        if "TZ" in schedule and (not known or zone is not None):
            yield SCHEDULE.invalid(at, schedule, "cannot name a time zone; use spec.timeZone")
    if isinstance(zone, str) and zone != before.get("timeZone") and (detail := _zone(zone)):
        yield ZONE.invalid(("spec", "timeZone"), zone, detail)


def _zone(zone: str) -> str | None:
    if not zone:
        return "must be left out or name a time zone"
    for part in zone.split("/"):
        if part in {".", ".."} or part.startswith("-") or not _zone_part(part):
            return "unknown time zone"
    if zone.lower() == "local":
        return "must be an explicit time zone"
    return None if is_zone(zone) else "unknown time zone"
