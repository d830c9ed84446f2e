"""Lifecycle policies of Volcano Jobs and of their tasks: an event or an exit code, and an action."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, count, each, number, text, texts
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang

RULE = Rule(
    "webhook/volcano-policies",
    "volcano v1.14.1 pkg/webhooks/admission/jobs/validate/util.go",
    title="Lifecycle policies of a Volcano Job have valid events, exit codes and actions.",
    fix="set either events or exitCode, not 0; use a known action",
    may_warn=True,
)

ANY = "*"
EVENTS = (
    ANY,
    "PodFailed",
    "PodEvicted",
    "PodPending",
    "Unknown",
    "TaskCompleted",
    "TaskFailed",
    "JobUpdated",
)
ACTIONS = (
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
)


def check_policies(holder: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the policies of a job or a task; no two may speak of the same event or exit code."""
    events: set[str] = set()
    codes: set[int] = set()
    for index, policy in each(holder, "policies"):
        at: Path = (*path, "policies", index)
        named = bool(text(policy, "event")) or count(policy, "events") > 0
        code = number(policy, "exitCode")
        if named and code is not None:
            yield RULE.forbidden(at, "event and exitCode cannot both be set")
        elif not named and code is None:
            yield RULE.required(at, "exactly one of event and exitCode")
        elif named:
            yield from _check_events(policy, at, events)
        elif code == 0:
            yield RULE.invalid((*at, "exitCode"), code, "must not be 0, which means success")
        elif code is not None:
            if code in codes:
                yield RULE.duplicate((*at, "exitCode"), code)
            codes.add(code)
    if ANY in events and len(events) > 1:
        yield RULE.invalid((*path, "policies"), sorted(events), f"event {ANY!r} must be the only event")


def check_timeouts(spec: Object, at: Path) -> Iterator[Problem]:
    """Yield the timeouts of the job and its tasks, and its estimate, that are no Go durations."""
    estimate = spec.get("runningEstimate")
    if isinstance(estimate, str) and golang.seconds(estimate) is None:
        yield RULE.invalid((*at, "runningEstimate"), estimate, "must be a duration, such as 5m")
    holders: list[tuple[Object, Path]] = [(spec, at)]
    holders += [(task, (*at, "tasks", index)) for index, task in each(spec, "tasks")]
    for holder, path in holders:
        for index, policy in each(holder, "policies"):
            written = policy.get("timeout")
            if isinstance(written, str) and golang.seconds(written) is None:
                yield RULE.invalid((*path, "policies", index, "timeout"), written, "must be a duration, such as 5m")


def _check_events(policy: Object, path: Path, seen: set[str]) -> Iterator[Problem]:
    named = {name: None for _, name in texts(policy, "events")}
    if event := text(policy, "event"):
        named[event] = None
    action = text(policy, "action")
    for name in named:
        if name not in EVENTS:
            yield RULE.unsupported((*path, "event"), name, EVENTS)
        elif action not in ACTIONS:
            yield RULE.unsupported((*path, "action"), action, ACTIONS)
        elif name in seen:
            yield RULE.duplicate((*path, "event"), name)
        seen.add(name)
