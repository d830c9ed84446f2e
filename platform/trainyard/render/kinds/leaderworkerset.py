"""LeaderWorkerSet: one group of pods that restarts as one and has no end.

Facts: lws v0.9.0 pkg/controllers, pkg/utils/pod/pod_utils.go, pkg/webhooks; kubernetes v1.35 pkg/apis/apps/validation
(a StatefulSet's pods always restart); kueue v0.19.2 pkg/controller/jobs/leaderworkerset; Argo CD 3.2 on a real cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.base.findings import Finding, Severity, count_of
from trainyard.base.rules import Rule
from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.kinds.objects import files, pod, queued
from trainyard.render.launchers import Role, Wiring
from trainyard.render.parts.objects import Resource
from trainyard.specs.run import Run

INDEX = "LWS_WORKER_INDEX"
INDEX_LABEL = "leaderworkerset.sigs.k8s.io/worker-index"

HOLD = """\
told=0 seen= code=
trap 'told=$((told + 1)); kill -TERM $started' TERM
"$@" &
started=$!
[ $told -eq 0 ] || kill -TERM $started
while [ "$seen" != $told ]; do
  seen=$told; wait $started; now=$?
  [ $now -eq 127 ] && [ "$code" ] || code=$now
done
trap 'exit 0' TERM
[ $told -gt 0 ] || [ $code -ne 0 ] && exit $code
echo 'done: waiting until the job is retired'
while :; do sleep 3600 & wait $!; done
"""
"""What a pod runs: the program, and after a good end nothing, since a container that ends is started again.

That would train once more, and the other pods of the group with it. A program that is told to end, or that fails, ends
the container with what it ended with. A signal interrupts `wait`, which says 143 then, and the program's own code when
asked again; once that is told, some shells know no such process, and say 127.
"""

ENDLESS = Rule(
    id="lws-no-end",
    title="A LeaderWorkerSet has a deadline.",
    why="a LeaderWorkerSet never completes: its pods keep their nodes until the job is retired",
    fix="set maxHours, use JobSet for a job that ends, or waive this if the job serves until it is retired",
    source="lws v0.9.0 api/leaderworkerset/v1/leaderworkerset_types.go; kubernetes v1.35 pkg/apis/apps/validation",
    layer="run",
    severity=Severity.WARNING,
)
FOR_EVER = Rule(
    id="lws-restarts",
    title="Jobs with restarts are of a kind that counts restarts.",
    why="a LeaderWorkerSet restarts its group without limit, whatever the exit code",
    fix="remove restarts, or use JobSet",
    source="lws v0.9.0 pkg/controllers/pod_controller.go handleRestartPolicy",
    layer="run",
)

HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  if condition.type == "Available" and condition.status == "True" then
    return {status = "Healthy", message = condition.message or "Available"}
  elseif condition.status == "True" then
    hs.message = condition.message or condition.type
  end
end
return hs
"""
"""A group that waits in its queue says the same as one that starts (measured)."""


class LeaderWorkerSet(Kind):
    """A LeaderWorkerSet of one group, led by the first worker; when a container restarts, all are made anew.

    It is for what serves other runs: a reward model, an evaluator. Kueue admits the group as one, and takes its nodes
    back at the deadline.
    """

    name = "LeaderWorkerSet"
    group = "leaderworkerset.x-k8s.io"
    version = "v1"
    gives = frozenset({"rank", "master", "hosts"})
    suffix = 11
    """A dash and ten characters after the name of a StatefulSet, in a label of its pods (controller-revision-hash)."""
    objects = frozenset({"leaderworkerset.x-k8s.io/LeaderWorkerSet", "/ConfigMap"})
    health = HEALTH
    behaviour = Behaviour(
        fails="all pods are deleted and created together",
        drained="the same",
        counts="not used: it restarts without limit",
        done="its job is retired: pods that ended with 0 wait and keep their GPUs",
        late="Kueue takes the quota back and the pods are deleted",
    )

    def host(self, run: str, _role: str, index: int) -> str:
        """Return `<job>-0` for the leader, and `<job>-0-<index>`."""
        return f"{run}-0-{index}" if index else f"{run}-0"

    def wiring(self, run: Run) -> Wiring:
        """Return names below the operator's Service, which is called as the set."""
        return Wiring(
            host=lambda role, index: f"{self.host(run.name, role, index)}.{run.name}",
            rank=INDEX,
            rank_field=f"metadata.labels['{INDEX_LABEL}']",
        )

    def gang(self, _run: Resolved) -> Mapping[str, int]:
        """Return none: the workers are made when the leader is there."""
        return {}

    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the LeaderWorkerSet and the files."""
        (role,) = run.roles
        group = {
            "size": role.pods,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "workerTemplate": pod(run, hold_role(role), restart="Always"),
        }
        spec = {"replicas": 1, "startupPolicy": "LeaderCreated", "leaderWorkerTemplate": group}
        yield queued(run, spec)
        yield from files(run)

    def check(self, run: Resolved) -> Iterator[Finding]:
        """Yield a set that holds its nodes without an end, and restarts that nobody counts."""
        job, source = run.run.job, run.run.source
        at = ("kind",) if job.kind else ("launcher",)
        if job.max_hours is None:
            kept = count_of(run.sizing.pods, "pod")
            message = f"a LeaderWorkerSet never completes, and {kept} on as many nodes stay until retired; set maxHours"
            yield ENDLESS.at(source, at, message)
        if job.restarts is not None:
            message = f"restarts is {job.restarts}, but a LeaderWorkerSet restarts without limit; remove it"
            yield FOR_EVER.at(source, ("restarts",), message)


def hold_role(role: Role) -> Role:
    """Return a role whose pods wait when their program has ended well."""
    return replace(role, command=("sh", "-c", HOLD, "hold", *role.command))


KIND = LeaderWorkerSet()
