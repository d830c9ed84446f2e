"""A Job's life: retries, its failure policy, its success policy.

Facts: kubernetes v1.35 pkg/controller/job: job_controller.go, pod_failure_policy.go, success_policy.go,
backoff_utils.go. Waits between retries, ten seconds and twice as long each time, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import count_of
from trainyard.base.labels import JOB_INDEX
from trainyard.faces.local.controllers.base import Object, Pod, RunError, count
from trainyard.faces.local.controllers.job import Job, is_indexed
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Make, Step, ended
from trainyard.upstream.workloads import pods_of_job

RETRIES = 6
"""A Job's `backoffLimit` where none is said."""

UNLIMITED = 2**31 - 1
BY_POLICY, TOO_OFTEN = "PodFailurePolicy", "BackoffLimitExceeded"
INDICES = "FailedIndexes"
RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


@dataclass
class JobLife(Life):
    """Of one Job."""

    job: Object = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    per_index: dict[str, int] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """Indices that are given up."""
    reason: str = ""
    """Of its failure, in the server's word."""

    @property
    def spec(self) -> Object:
        """The Job's specification."""
        found: Object = self.job["spec"]
        return found

    @property
    def limit(self) -> int:
        """How many failures it bears."""
        default = UNLIMITED if self.spec.get("backoffLimitPerIndex") is not None else RETRIES
        return count(self.spec.get("backoffLimit"), default)

    def begin(self) -> Iterable[str]:
        """Return as many pods as may run at once."""
        self.waiting = list(self.names)
        self.running = set()
        return self.more()

    def more(self) -> list[str]:
        """Return pods for which there is room now."""
        room = max(0, pods_of_job(self.spec) - len(self.running))
        found, self.waiting = self.waiting[:room], self.waiting[room:]
        self.running |= set(found)
        return found

    def again(self) -> None:
        """Begin from nothing."""
        super().again()
        self.failures, self.reason = 0, ""
        self.per_index.clear()
        self.lost.clear()

    def restarted(self, pod: Pod, restarts: int) -> Step:
        """Fail where containers were started again too often: a limit of 0 bears one less than others seem to."""
        limit = self.limit
        if pod.spec.get("restartPolicy") == "OnFailure" and restarts >= max(1, limit):
            return self.fail(TOO_OFTEN, f"containers were restarted {restarts} times, backoffLimit is {limit}")
        return GO_ON

    def fail(self, reason: str, why: str) -> Step:
        """Return the bad end."""
        self.reason = reason
        return ended(well=False, why=why)

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Count a good end; of a bad one ask the policy, then the limits."""
        self.running.discard(pod.name)
        if exit_.well:
            self.succeeded.add(pod.name)
            return self.done() or Step(start=tuple(self.more()))
        ruled = self.ruled(pod, exit_)
        if isinstance(ruled, Step):
            return ruled
        if ruled == "FailIndex":
            return self.lose(pod)
        if ruled != "Ignore":
            self.failures += 1
            self.per_index[pod.name] = self.per_index.get(pod.name, 0) + 1
        if self.failures > self.limit:
            pods = count_of(self.failures, "pod has", "pods have")
            why = f"{pods} failed, backoffLimit is {self.limit}; {pod.role}-{pod.index} exited with code {exit_.code}"
            return self.fail(TOO_OFTEN, why)
        per_index = self.spec.get("backoffLimitPerIndex")
        if per_index is not None and self.per_index.get(pod.name, 0) > per_index:
            return self.lose(pod)
        self.running.add(pod.name)
        return Step(
            start=(pod.name,), why=f"{pod.role}-{pod.index} exited with code {exit_.code}; try {self.failures + 1}"
        )

    def ruled(self, pod: Pod, exit_: Exit) -> Step | str:
        """Return the action of the pod failure policy: the end, an action, or nothing."""
        for number, rule in enumerate((self.spec.get("podFailurePolicy") or {}).get("rules") or ()):
            what = matched(rule, pod, exit_)
            if what:
                action: str = rule["action"]
                if action == "FailJob":
                    return self.fail(BY_POLICY, f"{what} matching FailJob rule at index {number}")
                return action
        return ""

    def lose(self, pod: Pod) -> Step:
        """Give an index up; the others go on, unless too many are lost."""
        self.lost.add(pod.name)
        most = self.spec.get("maxFailedIndexes")
        if most is not None and len(self.lost) > most:
            return self.fail("MaxFailedIndexesExceeded", f"{len(self.lost)} indices have failed, of at most {most}")
        return self.done() or Step(start=tuple(self.more()), why=f"index {self.index(pod)} has failed for good")

    @staticmethod
    def index(pod: Pod) -> int:
        """Return a pod's completion index."""
        return int(pod.value["metadata"]["annotations"].get(JOB_INDEX, 0))

    def done(self) -> Step | None:
        """Return the end of the Job, if it is there: by its success policy, or when every pod has ended."""
        indices = {self.index(pod) for pod in self.pods if pod.name in self.succeeded}
        for rule in (self.spec.get("successPolicy") or {}).get("rules") or () if is_indexed(self.spec) else ():
            wanted = numbers(rule["succeededIndexes"]) if rule.get("succeededIndexes") else None
            met = indices & wanted if wanted is not None else indices
            enough = rule.get("succeededCount")
            if len(met) >= (enough if enough is not None else len(wanted or indices) or 1):
                return ended(well=True, why="its success policy is met")
        if len(self.succeeded) + len(self.lost) < len(self.pods):
            return None
        if self.lost:
            return self.fail(INDICES, f"{len(self.lost)} of {len(self.pods)} indices have failed")
        return ended(well=True, why="every pod has succeeded")


def matched(rule: Mapping[str, Any], pod: Pod, exit_: Exit) -> str:
    """Return why a rule is for a failed pod, in the server's words; empty where it is not."""
    where = f"{pod.value['metadata']['namespace']}/{pod.name}"
    codes = rule.get("onExitCodes")
    if codes and not exit_.disrupted:
        named = codes.get("containerName")
        inside = exit_.code in codes["values"]
        if (named is None or named == exit_.container) and inside == (codes["operator"] == "In") and exit_.code != 0:
            return f"container {exit_.container} for pod {where} failed with exit code {exit_.code}"
    for condition in rule.get("onPodConditions") or ():
        named = condition.get("type") == "DisruptionTarget" and condition.get("status", "True") == "True"
        if named and exit_.disrupted:
            return f"pod {where} has condition DisruptionTarget"
    return ""


def numbers(text: str, most: int | None = None) -> set[int]:
    """Return the numbers of a list such as `0,2-4`; raises RunError for another text, and for numbers above `most`."""
    found: set[int] = set()
    for part in text.split(","):
        match = RANGE.fullmatch(part)
        if match is None:
            raise RunError(f"indices {text!r:.80} must be a list of numbers, as in 0,2-4")
        low, high = int(match[1]), int(match[2] or match[1])
        if most is not None and high > most:
            raise RunError(f"index {high} is above {most}, the last that runs here; make the job smaller")
        found |= set(range(low, high + 1))
    return found


LIVES: Mapping[type, Make] = {Job: lambda pods, job, _: JobLife(pods, job=job)}
