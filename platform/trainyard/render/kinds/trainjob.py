"""TrainJob: a JobSet that Trainer makes of a runtime; the runtime is the run's own, called as the run.

The runtime holds everything that pods are made of, and the TrainJob says no more than how many: `spec.trainer` cannot
change, and whatever in it Kueue writes back in another form, an empty value or a number for a quantity, is refused for
ever. So nothing in it depends on the release: 2.2 and 2.3 differ in what they make of `resourcesPerNode`, patches and
the torch policy, of which there is none.

A launcher writes its own command lines, of names that JobSet gives: no policy of a framework is used, whose variables
say the same, but for MPI's, which alone makes the keys and the list of hosts. Its launcher is then a job of its own
beside the nodes, as `runLauncherAsNode: false` has it, so that `numNodes` is the workers.
Facts: trainer v2.2.1 and v2.3.0 pkg/runtime/core/trainingruntime.go, pkg/runtime/framework/plugins; kueue v0.19.2
pkg/controller/jobs/trainjob; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.labels import SYNC_WAVE
from trainyard.render.kinds import named_runtime
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.job import INDEX_FIELD, INDEX_VARIABLE
from trainyard.render.kinds.jobset import JobSet, jobs, replicated_job
from trainyard.render.kinds.objects import files, make_object, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.parts import pods
from trainyard.render.parts.health import by_conditions
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import WORKER, Sized
from trainyard.specs.run import Run
from trainyard.upstream.workloads import carrier
from trainyard.upstream.workloads.runtimes import NODE, RUNTIME, STEP, TRAINS

GROUP = "trainer.kubeflow.org"
LAUNCHER = "launcher"

BEFORE = "-1"
"""Wave of a runtime, which has no health to wait for: two webhooks refuse a TrainJob whose runtime is not there."""

KUEUE = "kueue.x-k8s.io/manager"
"""Who patches a TrainJob that is queued (kueue v0.19.2 pkg/controller/jobs/trainjob)."""

KEYS = "/etc/ssh-keys"
"""Where Trainer mounts the run's own key pair; below root's home, its default, no other user may look."""

HOSTFILE = "/etc/mpi/hostfile"

HEALTH = by_conditions(
    """\
local wanted, ready = 0, 0
for _, job in ipairs(status.jobsStatus or {}) do
  wanted = wanted + 1
  ready = ready + (job.ready or 0) + (job.succeeded or 0)
end
""",
    '  hs.message = ready .. " of " .. wanted .. " jobs ready"\n',
    done="Complete",
)
"""Argo CD has no health for a TrainJob: an Application is Healthy whatever it does."""


class TrainJob(Kind):
    """A TrainJob: Trainer makes a JobSet of its runtime, so that names, restarts and ends are a JobSet's.

    It is applied by Argo CD itself and not by the server, whose dry run of all waves at once would ask for the runtime
    before it is there.
    """

    name = "TrainJob"
    group = GROUP
    version = "v1alpha1"
    gives = frozenset({"rank", "master", "hosts", "ssh"})
    replicas = None
    container = NODE
    takes_runtimes = True
    suffix = 6
    """As a JobSet's."""
    objects = frozenset({f"{GROUP}/TrainJob", f"{GROUP}/{RUNTIME}", "/ConfigMap"})
    inner = frozenset({"Pod", "Job"})
    ignore = (
        {
            "group": GROUP,
            "kind": "TrainJob",
            "jsonPointers": ["/spec/suspend"],
            "jqPathExpressions": [
                f'.spec.runtimePatches[] | select(.manager == "{KUEUE}")',
                ".spec.runtimePatches[].time",
            ],
        },
    )
    health = HEALTH
    behaviour = JobSet.behaviour

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """Return those of the runtime, which is what patches are about."""
        row = carrier(GROUP, RUNTIME)
        return row.lists if row is not None else {}

    def facts(self, run: Run) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield whose runtime it is; one of the cluster has its own say in how the run fails and ends."""
        if run.job.runtime is None:
            yield "runtime", Sized(run.name, "the run's own")
        else:
            yield "runtime", Sized(run.job.runtime, "runtime of the job, which sets failures and restarts")

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield the findings on fields of the job that its named runtime does not allow."""
        if run.run.job.runtime is not None:
            yield from named_runtime.check(run, run.run.runtimes.get(run.run.job.runtime))

    def called(self, role: str) -> str:
        """Return `node` for the workers: Trainer and its tools look for a job of that name."""
        return NODE if role == WORKER else role

    def carries(self, role: str) -> bool:
        """Whether a role has a name that is not the workers'."""
        return role != NODE

    def host(self, run: str, role: str, index: int) -> str:
        """Return a pod's host name; a role is one Job, with index 0."""
        return f"{run}-{self.called(role)}-0-{index}"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the Service of the JobSet, which is called as the TrainJob."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank=INDEX_VARIABLE,
            rank_field=INDEX_FIELD,
            keys=KEYS,
            hostfile=HOSTFILE,
        )

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the TrainJob, its runtime unless the job names one, and the files."""
        named = run.run.runtimes.get(run.run.job.runtime or "")
        if named is not None:
            yield queued(run, named_runtime.spec(run, named))
            yield from files(run)
            return
        worker = run.roles[0]
        name = run.run.name
        spec = {
            "runtimeRef": {"apiGroup": GROUP, "kind": RUNTIME, "name": name},
            "trainer": {"numNodes": worker.pods, "numProcPerNode": worker.processes},
        }
        yield queued(run, spec)
        yield make_object(run, self.api_version, RUNTIME, annotations={SYNC_WAVE: BEFORE}, spec=runtime(run))
        yield from files(run)


def runtime(run: Resolved) -> dict[str, Any]:
    """Return the specification of a run's runtime."""
    over_ssh = "ssh" in run.launcher.wants(run.run, run.specs)
    trains = LAUNCHER if over_ssh else WORKER
    steps = {trains: {STEP: TRAINS}}
    template = jobs(run, [replicated_job(run, role, labels=steps.get(role.name)) for role in run.roles])
    policy = mpi(run.roles[0]) if over_ssh else {"numNodes": run.roles[0].pods}
    return {"mlPolicy": policy, "template": {"metadata": {"labels": pods.labels(run.run)}, "spec": template}}


def mpi(worker: Role) -> dict[str, Any]:
    """Return MPI's policy; its own number of nodes is that of the job with the label, of which there is one pod."""
    return {
        "numNodes": 1,
        "mpi": {
            "mpiImplementation": "OpenMPI",
            "numProcPerNode": worker.processes,
            "runLauncherAsNode": False,
            "sshAuthMountPath": KEYS,
        },
    }


KIND = TrainJob()
