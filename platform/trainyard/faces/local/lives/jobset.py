"""A JobSet's life: its Jobs', its failure policy over them, its success policy.

Facts: jobset v0.12.0 pkg/controllers/failure_policy.go, success_policy.go, startup_policy.go, depends_on.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trainyard.faces.local.controllers.base import Object, Pod
from trainyard.faces.local.controllers.jobset import JobSet, children, replicas
from trainyard.faces.local.controllers.trainjob import Plan, TrainJob, runtime_of
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Make, Step, ended
from trainyard.faces.local.lives.job import JobLife


@dataclass
class JobSetLife(Life):
    """Of a JobSet."""

    jobset: Object = field(default_factory=dict)
    jobs: dict[str, JobLife] = field(default_factory=dict)
    role: dict[str, str] = field(default_factory=dict)
    """The replicated job of each Job."""
    done: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    """Replicated jobs that have started."""
    restarts: int = 0
    counted: int = 0

    def __post_init__(self) -> None:
        for replicated, job in children(self.jobset):
            name = job["metadata"]["name"]
            self.jobs[name] = JobLife([pod for pod in self.pods if pod.job == name], job=job)
            self.role[name] = replicated["name"]

    @property
    def spec(self) -> Object:
        """The JobSet's specification."""
        found: Object = self.jobset["spec"]
        return found

    def begin(self) -> Iterable[str]:
        """Return the pods of the replicated jobs that wait for none."""
        self.done.clear()
        self.begun.clear()
        return self.more()

    def more(self) -> list[str]:
        """Return the pods of replicated jobs that need not wait any more; what has started counts as ready."""
        found: list[str] = []
        for replicated in self.spec["replicatedJobs"]:
            name = replicated["name"]
            if name not in self.begun and self.may_begin(replicated):
                self.begun.add(name)
                for job, life in self.jobs.items():
                    if self.role[job] == name:
                        found += life.begin()
        return found

    def may_begin(self, replicated: Object) -> bool:
        """Whether a replicated job's turn has come: what it depends on is ready, or complete."""
        for needed in replicated.get("dependsOn") or ():
            complete = {self.role[job] for job in self.done}
            if needed["name"] not in (complete if needed.get("status") == "Complete" else self.begun):
                return False
        return True

    def again(self) -> None:
        """Begin all Jobs anew."""
        super().again()
        for life in self.jobs.values():
            life.again()

    def restarted(self, pod: Pod, _restarts: int) -> Step:
        """Ask the pod's Job."""
        self.restarts += 1
        return self.follow(pod, self.jobs[pod.job].restarted(pod, self.restarts))

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Ask the pod's Job, then the policies."""
        return self.follow(pod, self.jobs[pod.job].finished(pod, exit_))

    def follow(self, pod: Pod, step: Step) -> Step:
        """Return the step of the JobSet after a step of one of its Jobs."""
        if step.over is None:
            return step
        if not step.over:
            return self.failed(pod.job, step)
        self.done.add(pod.job)
        policy = self.spec.get("successPolicy") or {}
        wanted = set(policy.get("targetReplicatedJobs") or ()) or {
            replicated_job["name"] for replicated_job in self.spec["replicatedJobs"]
        }
        there = sum(self.role[job] in wanted for job in self.done)
        needed = sum(
            replicas(replicated_job)
            for replicated_job in self.spec["replicatedJobs"]
            if replicated_job["name"] in wanted
        )
        if there >= (1 if policy.get("operator") == "Any" else needed):
            return ended(well=True, why="its success policy is met")
        more = self.more()
        return Step(start=tuple(more)) if more else GO_ON

    def failed(self, job: str, step: Step) -> Step:
        """Apply the first rule that is for a failed Job; without one all Jobs begin again, as often as may be."""
        policy = self.spec.get("failurePolicy")
        if policy is None:
            return ended(well=False, why=f"Job {job} has failed: {step.why}")
        action = next(
            (rule["action"] for rule in policy.get("rules") or () if self.applies(rule, job, step)), "RestartJobSet"
        )
        most = policy.get("maxRestarts") or 0
        if action == "FailJobSet":
            return ended(well=False, why=f"its failure policy fails it: {step.why}")
        if not action.endswith("IgnoreMaxRestarts"):
            if self.counted >= most:
                return ended(well=False, why=f"all {most} restarts are used up: {step.why}")
            self.counted += 1
        spent = f"restart {self.counted} of {most}"
        if action.startswith("RestartJobSet"):
            return Step(all_again=True, why=f"{step.why}; {spent}")
        life = self.jobs[job]
        life.again()
        return Step(start=tuple(life.begin()), why=f"{step.why}; {spent} of Job {job} alone")

    def applies(self, rule: Object, job: str, step: Step) -> bool:
        """Whether a rule is for a failed Job."""
        reasons, patterns = rule.get("onJobFailureReasons"), rule.get("onJobFailureMessagePatterns")
        roles = rule.get("targetReplicatedJobs")
        return (
            (not reasons or self.jobs[job].reason in reasons)
            and (not patterns or any(re.search(pattern, step.why) for pattern in patterns))
            and (not roles or self.role[job] in roles)
        )


LIVES: Mapping[type, Make] = {
    JobSet: lambda pods, job, _: JobSetLife(pods, jobset=job),
    TrainJob: lambda pods, job, objects: JobSetLife(pods, jobset=Plan(job, runtime_of(job, objects)).build()),
}
