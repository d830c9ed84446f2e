"""The lives of the training operator's jobs, and of MPIJobs.

Facts: training-operator v1.9.4 pkg/controller.v1/common/{job,pod}.go, core/job.go PastBackoffLimit, and
UpdateJobStatus of each kind; mpi-operator v0.8.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trainyard.faces.local.controllers import controller_of
from trainyard.faces.local.controllers.base import Object, Pod
from trainyard.faces.local.controllers.mpijob import MPIJob, MPIJobV1
from trainyard.faces.local.controllers.replicas import CHIEF, MASTER, WORKER, Replicas
from trainyard.faces.local.lives.base import GO_ON, Exit, Life, Make, Step, ended
from trainyard.faces.local.lives.job import JobLife

RETRYABLE = 128
"""Exit codes from here on are tried again under restart policy ExitCode."""


@dataclass
class ReplicasLife(Life):
    """Of a job with replica types."""

    job: Object = field(default_factory=dict)

    @property
    def kind(self) -> Replicas:
        """The controller of the job."""
        found = controller_of(self.job)
        assert isinstance(found, Replicas)
        return found

    @property
    def limit(self) -> int | None:
        """How often containers may start again; without one, always."""
        found: int | None = (self.job["spec"].get("runPolicy") or {}).get("backoffLimit")
        return found

    def restarted(self, _pod: Pod, restarts: int) -> Step:
        """Fail where containers were started again too often."""
        if self.limit is not None and restarts >= max(1, self.limit):
            return ended(well=False, why=f"containers were restarted {restarts} times, backoffLimit is {self.limit}")
        return GO_ON

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Count a good end; after a bad one make the pod anew where its replica type says so."""
        if exit_.disrupted:
            return self.deleted(pod)
        if exit_.well:
            self.succeeded.add(pod.name)
            return self.done()
        policy = self.policy(pod)
        self.failures += 1
        retried = policy in {"OnFailure", "Always"} or (policy == "ExitCode" and exit_.code >= RETRYABLE)
        why = f"{pod.role}-{pod.index} exited with code {exit_.code}"
        if not retried or self.limit == 0:
            return ended(well=False, why=f"{why}, and restart policy {policy} does not restart it")
        return Step(start=(pod.name,), why=f"{why}; it is recreated")

    def policy(self, pod: Pod) -> str:
        """Return the restart policy of a pod's replica type."""
        replicas = self.kind.replicas(self.job)
        found = next(replica for name, replica in replicas.items() if name.lower() == pod.role)
        return found.get("restartPolicy") or self.kind.restart

    def mortal(self, pod: Pod) -> bool:
        """Whether the job fails when the pod is deleted while it runs: until it is gone it counts as failed.

        A TFJob and an XGBoostJob fail by any such pod but those that their kind spares; the others look at the policy
        (training-operator v1.9.4 pkg/core/status.go UpdateJobReplicaStatuses, UpdateJobStatus of each kind).
        """
        if self.kind.kind == "TFJob":
            return not (pod.role == WORKER.lower() and self.job["spec"].get("enableDynamicWorker"))
        return self.policy(pod) != "ExitCode" if self.kind.kind == "XGBoostJob" else self.policy(pod) == "Never"

    def deleted(self, pod: Pod) -> Step:
        """Return the step after a running pod was deleted."""
        who = f"{pod.role}-{pod.index}"
        if self.mortal(pod):
            return ended(well=False, why=f"{who} was deleted while it ran, which fails a {self.kind.kind}")
        return Step(start=(pod.name,), why=f"{who} was deleted; it is recreated")

    def spared(self, pod: Pod) -> str:
        """Return a note if deleting the pod would fail the job, although a failing container would not."""
        if not self.mortal(pod) or self.policy(pod) not in {"OnFailure", "Always"}:
            return ""
        return f"a pod that is deleted, as by a drain, would fail the {self.kind.kind}"

    def done(self) -> Step:
        """Return the end where the pods have ended well that decide it."""
        wanted, enough = self.deciding()
        if len(wanted & self.succeeded) >= enough:
            return ended(well=True, why="all pods that it waits for have succeeded")
        return GO_ON

    def deciding(self) -> tuple[set[str], int]:
        """Return the pods that decide, and how many of them must end well."""
        kind, spec = self.kind, self.job["spec"]
        roles = kind.replicas(self.job)
        leaders = [name for name in (CHIEF, MASTER) if name in roles]
        workers = {pod.name for pod in self.pods if pod.role == WORKER.lower()}
        if leaders:
            led = {pod.name for pod in self.pods if pod.role == leaders[0].lower()}
            return led, len(led)
        if kind.kind == "TFJob" and spec.get("successPolicy") != "AllWorkers":
            return {pod.name for pod in self.pods if pod.role == WORKER.lower() and pod.index == 0}, 1
        return workers, 1 if spec.get("elasticPolicy") and kind.kind == "PyTorchJob" else len(workers)


@dataclass
class MPILife(Life):
    """Of an MPIJob: its launcher's. A worker that fails is never made anew."""

    job: Object = field(default_factory=dict)
    launcher: JobLife | None = None

    def __post_init__(self) -> None:
        launchers = [pod for pod in self.pods if pod.role == "launcher"]
        if self.job["apiVersion"].endswith("/v2beta1"):
            policy = self.job["spec"].get("runPolicy") or {}
            limits = {"backoffLimit": policy["backoffLimit"]} if policy.get("backoffLimit") is not None else {}
            self.launcher = JobLife(launchers, job={"spec": limits})

    def begin(self) -> Iterable[str]:
        """Return all pods."""
        if self.launcher is not None:
            self.launcher.begin()
        return super().begin()

    def restarted(self, pod: Pod, restarts: int) -> Step:
        """Ask the launcher's Job about its container."""
        if pod.role == "launcher" and self.launcher is not None:
            return self.launcher.restarted(pod, restarts)
        return GO_ON

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """End as the launcher does."""
        if pod.role != "launcher":
            return GO_ON
        if self.launcher is not None:
            return self.launcher.finished(pod, exit_)
        return ended(well=exit_.well, why=f"the launcher exited with code {exit_.code}")


LIVES: Mapping[type, Make] = {
    Replicas: lambda pods, job, _: ReplicasLife(pods, job=job),
    MPIJob: lambda pods, job, _: MPILife(pods, job=job),
    MPIJobV1: lambda pods, job, _: MPILife(pods, job=job),
}
