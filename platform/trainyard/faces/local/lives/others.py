"""The lives of Volcano's Jobs, Ray's and LeaderWorkerSets.

Facts: volcano v1.14.1 pkg/controllers/job/state, job_controller_util.go applyPolicies; kuberay v1.6.2 rayjob_controller
and RayJobSpec.submitterConfig; lws v0.9.0 pkg/controllers/pod_controller.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import count_of
from trainyard.faces.local.controllers.base import Object, Pod, count
from trainyard.faces.local.controllers.lws import LeaderWorkerSet
from trainyard.faces.local.controllers.ray import RayCluster, RayJob
from trainyard.faces.local.controllers.volcano import Job as VolcanoJob
from trainyard.faces.local.controllers.volcano import find_task, tasks
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Make, Step, UntilAll, ended
from trainyard.faces.local.lives.job import JobLife

VOLCANO_RETRIES = 3
PROGRAM = re.compile(r"Job '[^']+' (succeeded|failed|was stopped)")
"""What `ray job logs --follow` writes at the end (ray 2.52 dashboard/modules/job/cli.py)."""

SUBMISSIONS = 2
"""Retries of a RayJob's submitter where none are said."""


@dataclass
class VolcanoLife(Life):
    """Of a Volcano Job: policies by event, of the task before those of the Job."""

    job: Object = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    retries: int = 0

    def again(self) -> None:
        """Forget what was before all began again."""
        super().again()
        self.failed.clear()

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Apply the policy for what has happened; without one, wait for all."""
        why = f"{pod.role}-{pod.index} exited with code {exit_.code}"
        if exit_.well:
            self.succeeded.add(pod.name)
            whole = {one_pod.name for one_pod in self.pods if one_pod.role == pod.role}
            events = ["TaskCompleted"] if whole <= self.succeeded else []
        else:
            self.failed.add(pod.name)
            events = ["PodEvicted" if exit_.disrupted else "PodFailed"]
        for event in events:
            action = self.action(pod, event, exit_.code)
            if action:
                return self.act(action, pod, f"{why}; {event} means {action}")
        return self.done() if len(self.succeeded) + len(self.failed) == len(self.pods) else GO_ON

    def action(self, pod: Pod, event: str, code: int) -> str:
        """Return the action of the first policy for an event or an exit code."""
        task: Mapping[str, Any] = find_task(self.job, pod.role) or {}
        for policy in (*(task.get("policies") or ()), *(self.job["spec"].get("policies") or ())):
            events = {policy.get("event"), *(policy.get("events") or ())}
            if event in events or "*" in events or (code and policy.get("exitCode") == code):
                return str(policy.get("action"))
        return ""

    def act(self, action: str, pod: Pod, why: str) -> Step:
        """Return the step that follows from an action."""
        if action == "CompleteJob":
            return ended(well=True, why=why)
        if action in {"AbortJob", "TerminateJob"}:
            return ended(well=False, why=why)
        most = count(self.job["spec"].get("maxRetry"), VOLCANO_RETRIES)
        self.retries += 1
        if self.retries > most:
            return ended(well=False, why=f"{why}; all {most} retries are used up")
        if action == "RestartJob":
            return Step(all_again=True, why=f"{why}; retry {self.retries} of {most}")
        again = (
            [one_pod.name for one_pod in self.pods if one_pod.role == pod.role]
            if action == "RestartTask"
            else [pod.name]
        )
        self.succeeded -= set(again)
        self.failed -= set(again)
        return Step(start=tuple(again), why=f"{why}; retry {self.retries} of {most}")

    def done(self) -> Step:
        """Return the end when no pod runs any more: enough have ended well, of all and of each task."""
        spec = self.job["spec"]
        wanted = spec.get("minSuccess") or spec.get("minAvailable") or len(self.pods)
        for task in tasks(self.job):
            mine = {pod.name for pod in self.pods if pod.role == task["name"]}
            least = task.get("minAvailable")
            if least is not None and spec.get("minSuccess") is None and len(mine & self.succeeded) < least:
                return ended(well=False, why=f"of task {task['name']} fewer than {least} have succeeded")
        well = len(self.succeeded) >= wanted
        pods = count_of(len(self.pods), "pod")
        return ended(well=well, why=f"{len(self.succeeded)} of {pods} pods succeeded, {wanted} are needed")


@dataclass
class RayLife(Life):
    """Of a RayJob: that of its program, of which the submitter writes how it ended. A RayCluster alone never ends.

    The submitter ends with 0 even after a program that failed; the operator asks Ray, which is what its line is from.
    """

    job: Object = field(default_factory=dict)
    submitter: JobLife | None = None
    verdict: str = ""
    """How the program has ended, in Ray's words."""
    tries: int = 0

    def read_line(self, pod: Pod, line: str) -> None:
        """Learn how the program has ended."""
        found = PROGRAM.search(line) if pod.role == "submitter" else None
        self.verdict = found[1] if found else self.verdict

    def again(self) -> None:
        """Begin with a new cluster."""
        super().again()
        self.verdict = ""
        if self.submitter is not None:
            self.submitter.again()

    def __post_init__(self) -> None:
        mine = [pod for pod in self.pods if pod.role == "submitter"]
        limit = (self.job["spec"].get("submitterConfig") or {}).get("backoffLimit", SUBMISSIONS)
        self.submitter = JobLife(mine, job={"spec": {"backoffLimit": limit}}) if mine else None

    def begin(self) -> Iterable[str]:
        """Return all pods."""
        if self.submitter is not None:
            self.submitter.begin()
        return super().begin()

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """End as the submitter does."""
        if pod.role != "submitter" or self.submitter is None:
            return GO_ON
        if self.verdict not in {"failed", "was stopped"}:
            return self.submitter.finished(pod, exit_)
        most = count(self.job["spec"].get("backoffLimit"), 0)
        if self.tries >= most or self.verdict == "was stopped":
            return ended(well=False, why=f"Ray reports that the program {self.verdict}")
        self.tries += 1
        return Step(all_again=True, why=f"Ray reports that the program {self.verdict}; retry {self.tries} of {most}")


@dataclass
class GroupsLife(UntilAll):
    """Of a LeaderWorkerSet, which serves and never ends: here it has ended when every container has once ended well.

    A container that fails takes its group with it, unless the policy says otherwise.
    """

    job: Object = field(default_factory=dict)

    stays = False

    def restarted(self, pod: Pod, _restarts: int) -> Step:
        """Make the pod's group anew."""
        policy = self.job["spec"]["leaderWorkerTemplate"].get("restartPolicy") or "RecreateGroupOnPodRestart"
        if policy == "None":
            return GO_ON
        group = [one_pod.name for one_pod in self.pods if one_pod.job == pod.job]
        return Step(start=tuple(group), why=f"{pod.role}-{pod.index} failed; its group is recreated")


LIVES: Mapping[type, Make] = {
    VolcanoJob: lambda pods, job, _: VolcanoLife(pods, job=job),
    RayCluster: lambda pods, job, _: RayLife(pods, job=job),
    RayJob: lambda pods, job, _: RayLife(pods, job=job),
    LeaderWorkerSet: lambda pods, job, _: GroupsLife(pods, job=job),
}
