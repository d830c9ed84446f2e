"""Rules of a podFailurePolicy look at disruptions before they look at exit codes.

Why: The first rule that matches decides. A drained pod ends with 143 or 137. A rule for these codes in front fails the
 whole Job, and the rule for disruptions has no effect.
Fix: move the rule with onPodConditions to the front.
Source: kubernetes v1.35 pkg/controller/job/pod_failure_policy.go matchPodFailurePolicy
"""

from collections.abc import Iterator
from typing import Any

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
STOPPED = (143, 137)
"""Exit codes after SIGTERM and SIGKILL."""

MILD = {"Ignore"}
"""Actions by which disruptions do not count."""

HARSH = {"FailJob", "FailIndex"}


def check(world: World) -> Iterator[Problem]:
    """Look at Jobs, and at those that CronJobs and JobSets make."""
    for job in world.workloads():
        for path, rules in job.manifest.at("spec", of=dict):
            yield from ordered(job.manifest, path, rules)
        for path, rules in job.manifest.at("spec", "jobTemplate", "spec", of=dict):
            yield from ordered(job.manifest, path, rules)
        for index, _ in enumerate(job.manifest.get("spec", "replicatedJobs") or ()):
            for path, rules in job.manifest.at("spec", "replicatedJobs", index, "template", "spec", of=dict):
                yield from ordered(job.manifest, path, rules)


def ordered(manifest: Any, path: tuple[str | int, ...], spec: dict[str, Any]) -> Iterator[Problem]:
    """Yield the first rule by which an exit code decides what a later rule says of disruptions."""
    policy = spec.get("podFailurePolicy")
    rules = policy.get("rules") if isinstance(policy, dict) else None
    rules = [rule if isinstance(rule, dict) else {} for rule in rules] if isinstance(rules, list) else []
    mild = [index for index, rule in enumerate(rules) if rule.get("action") in MILD and is_of_disruptions(rule)]
    for index, rule in enumerate(rules[: max(mild, default=0)]):
        code = next((code for code in STOPPED if matches(rule.get("onExitCodes"), code)), None)
        if code is not None and rule.get("action") in HARSH:
            message = f"rule {index} fails a drained pod, which ends with {code}, before rule {max(mild)} ignores it"
            place = Place(manifest, (*path, "podFailurePolicy", "rules", index, "action"))
            yield Problem(place, f"{message}; move rule {max(mild)} to the front")
            return


def is_of_disruptions(rule: dict[str, Any]) -> bool:
    """Say whether a rule is about pods that were drained or preempted."""
    conditions = rule.get("onPodConditions")
    return isinstance(conditions, list) and any(
        isinstance(item, dict) and item.get("type") == "DisruptionTarget" and item.get("status", "True") == "True"
        for item in conditions
    )


def matches(codes: Any, code: int) -> bool:
    """Say whether a rule for exit codes takes a code."""
    if not isinstance(codes, dict) or not isinstance(codes.get("values"), list):
        return False
    return (code in codes["values"]) == (codes.get("operator") == "In")
