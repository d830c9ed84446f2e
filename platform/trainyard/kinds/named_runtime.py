"""TrainJobs on a runtime of the cluster: what the job says of it, and what the runtime does not let it say.

The TrainJob then carries what a run's own runtime would: image, command line, variables and sizes in `spec.trainer`,
and in a patch the rest of the pod, as far as patches go. Both are kept to the fields of Trainer 2.2: Kueue 0.19, which
is built with its types, writes a TrainJob back without newer ones.
Facts: trainer v2.2.1 and v2.3.0 pkg/apis/trainer/v1alpha1/trainjob_types.go; kueue v0.19.2 go.mod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.apiserver.webhooks.trainer import RESERVED
from trainyard.carriers import runtimes
from trainyard.carriers.base import Object, inner, number, text
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.kinds.base import Resolved
from trainyard.kinds.objects import pod
from trainyard.labels import OURS
from trainyard.manifests import identity_of
from trainyard.parts import pods
from trainyard.parts.objects import canonical
from trainyard.rules import Rule

MANAGER = f"{OURS}/run"
"""Who a patch is by; Kueue adds one of its own beside it."""

PATCHED = ("imagePullSecrets", "nodeSelector", "securityContext", "serviceAccountName", "volumes")
"""Fields of a pod that a TrainJob may patch in both lines."""

OF_CONTAINER = ("securityContext", "volumeMounts")
OF_TRAINER = ("args", "command", "env", "image")

HABITS = frozenset(
    {
        "automountServiceAccountToken",
        "enableServiceLinks",
        "imagePullPolicy",
        "restartPolicy",
        "terminationGracePeriodSeconds",
        "terminationMessagePolicy",
    }
)
"""Fields without which pods still train: what else differs is an error."""

GRACE = "terminationGracePeriodSeconds"

USABLE = Rule(
    id="tr2-runtime",
    title="A runtime that a job names is on its cluster, with one job of one container for the nodes.",
    why="Trainer refuses a TrainJob without its runtime, and gives what the job says to a container it knows alone",
    fix="name a runtime of platform/extra with a job labelled trainer that has the container node, or remove runtime",
    source="kubeflow/trainer v2.3.0 pkg/constants/constants.go, pkg/runtime/core/trainingruntime.go",
    layer="run",
)
TAKEN = Rule(
    id="tr2-reserved",
    title="A job sets no variable that the policy of its runtime sets.",
    why="the webhook refuses the TrainJob",
    fix="remove the variable, or take a launcher or a runtime without it",
    source="kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins",
    layer="run",
)
LOST = Rule(
    id="run/runtime-fields",
    title="What a run needs of its pods reaches them through the runtime that its job names.",
    why="a TrainJob says a part of a pod alone: the rest is what the runtime says",
    fix="write it into the runtime, or remove runtime, so that the run has its own",
    source="kubeflow/trainer v2.2.1 pkg/apis/trainer/v1alpha1/trainjob_types.go PodSpecPatch",
    layer="run",
    may_warn=True,
)
ENDS = Rule(
    id="run/runtime-restarts",
    title="A runtime that a job names restarts the gang as often as the job would, and as one.",
    why="by itself a JobSet fails with its first pod, and a Job makes pods anew one by one while the others wait",
    fix="write failurePolicy.maxRestarts and backoffLimit: 0 into the runtime",
    source="kubernetes-sigs/jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go; docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)


def job_of(runtime: Object) -> Object | None:
    """Return the one job of a runtime, where that is called as ranks look for it, and its pod has one container."""
    template = inner(runtime, "spec", "template", "spec")
    listed, found = template.get("replicatedJobs"), list(runtimes.jobs(runtime))
    if len(found) != 1 or not isinstance(listed, list) or len(listed) != 1 or "subdomain" in inner(template, "network"):
        return None
    if (text(found[0], "name"), runtimes.step(found[0])) != (runtimes.NODE, runtimes.TRAINS):
        return None
    spec = inner(found[0], "template", "spec", "template", "spec")
    names = [each.get("name") for each in spec.get("containers") or () if isinstance(each, Mapping)]
    return found[0] if names == [runtimes.NODE] and not spec.get("initContainers") else None


def trainer(run: Resolved) -> dict[str, Any]:
    """Return what the TrainJob says of the runtime's trainer."""
    worker = run.roles[0]
    (container,) = pod(run, worker)["spec"]["containers"]
    return {
        **{field: container[field] for field in OF_TRAINER if field in container},
        "numNodes": worker.pods,
        "numProcPerNode": worker.processes,
        "resourcesPerNode": container["resources"],
    }


def patch(run: Resolved) -> dict[str, Any]:
    """Return the patch of the runtime's job."""
    template = pod(run, run.roles[0])
    (container,) = template["spec"]["containers"]
    own = {field: container[field] for field in OF_CONTAINER if field in container}
    spec = {field: template["spec"][field] for field in PATCHED if field in template["spec"]}
    inside = {"metadata": template["metadata"], "spec": {**spec, "containers": [{"name": runtimes.NODE, **own}]}}
    job = {"name": runtimes.NODE, "template": {"spec": {"template": inside}}}
    of_jobset = {"metadata": {"labels": pods.labels(run.run)}, "spec": {"replicatedJobs": [job]}}
    return {"manager": MANAGER, "trainingRuntimeSpec": {"template": of_jobset}}


def spec(run: Resolved, runtime: Object) -> dict[str, Any]:
    """Return the specification of a TrainJob that names a runtime."""
    identity = identity_of(runtime)
    return {
        "runtimeRef": {"apiGroup": identity.group, "kind": identity.kind, "name": identity.name},
        "trainer": trainer(run),
        "runtimePatches": [patch(run)],
        "activeDeadlineSeconds": run.sizing.deadline_seconds,
    }


def check(run: Resolved, runtime: Object | None) -> Iterator[Finding]:
    """Yield why a run cannot use the runtime that its job names, and what it does not let the job say."""
    name, source = run.run.job.runtime, run.run.source
    if runtime is None:
        known = did_you_mean(name or "", run.run.runtimes) if run.run.runtimes else "add its file there"
        where = f"platform/extra/{run.run.cluster_name}"
        yield USABLE.at(source, ("runtime",), f"runtime {name!r} is not in {where}; {known}")
    elif (job := job_of(runtime)) is None:
        message = f"runtime {name!r} should have one job 'node', labelled trainer, with one container 'node'; change it"
        yield USABLE.at(source, ("runtime",), message)
    elif len(run.roles) > 1:
        message = f"runtime {name!r} has pods for nodes alone, but the job has {len(run.roles)} roles; remove runtime"
        yield USABLE.at(source, ("runtime",), message)
    else:
        yield from check_reserved(run, runtime)
        yield from check_fields(run, runtime)
        yield from check_restarts(run, runtime, job)


def check_reserved(run: Resolved, runtime: Object) -> Iterator[Finding]:
    """Yield variables that the runtime's policy keeps to itself."""
    policy = inner(runtime, "spec", "mlPolicy")
    reserved = {name for key, (_, names) in RESERVED.items() if isinstance(policy.get(key), Mapping) for name in names}
    for each in trainer(run).get("env", ()):
        if each["name"] in reserved:
            field = next((name for name in ("env", "secrets") if each["name"] in getattr(run.run.job, name)), "")
            at = (field, each["name"]) if field else ("launcher",)
            message = f"{each['name']} is set by the policy of runtime {run.run.job.runtime!r}; leave it to that"
            yield TAKEN.at(run.run.source, at, message)


def check_fields(run: Resolved, runtime: Object) -> Iterator[Finding]:
    """Yield fields of the pod that come out otherwise than in a runtime of the run's own."""
    wanted = canonical(pod(run, run.roles[0]))["spec"]
    (found,) = runtimes.jobs(runtimes.changed(runtime, {"spec": canonical(spec(run, runtime))}))
    there = found["template"]["spec"]["template"]["spec"]
    pairs = ((wanted, there), (wanted["containers"][0], there["containers"][0]))
    for ours, theirs in pairs:
        for field in differences(ours, theirs):
            has, needs = shown(theirs.get(field)), shown(ours.get(field))
            message = (
                f"pods of runtime {run.run.job.runtime!r} have {has} {field}, the run needs {needs}; write it there"
            )
            severity = Severity.WARNING if field in HABITS else None
            yield LOST.at(run.run.source, ("runtime",), message, severity=severity)
    mounts = [each["name"] for each in wanted["containers"][0].get("volumeMounts", ())]
    for volume in sorted({each for each in mounts if mounts.count(each) > 1}):
        message = f"volume {volume!r} is mounted twice, which a TrainJob cannot patch; remove runtime"
        yield LOST.at(run.run.source, ("runtime",), message)


def shown(value: Any) -> str:
    """Return a value for a message: a plain one as it is written."""
    if value is None:
        return "no"
    return str(value) if isinstance(value, (str, int)) else "another"


def differences(wanted: Object, there: Object) -> Iterator[str]:
    """Yield fields that differ; variables of the runtime's own, and a longer grace, do no harm."""
    for field in sorted({*wanted, *there} - {"containers"}):
        ours, theirs = wanted.get(field), there.get(field)
        if field == GRACE and isinstance(theirs, int) and isinstance(ours, int) and theirs >= ours:
            continue
        if field == "env" and isinstance(theirs, list):
            theirs = [each for each in theirs if each in (ours or ())]
        if by_name(ours) != by_name(theirs):
            yield field


def by_name(value: Any) -> Any:
    """Return a list of named things as a map, whose order does not count; of mounts the name is the path."""
    if isinstance(value, list) and all(isinstance(each, Mapping) and "name" in each for each in value):
        return {each.get("mountPath") or each["name"]: each for each in value}
    return value


def check_restarts(run: Resolved, runtime: Object, job: Object) -> Iterator[Finding]:
    """Yield restarts that are fewer than the run's, or of single pods."""
    name, wanted = run.run.job.runtime, run.sizing.restarts.value
    policy = inner(runtime, "spec", "template", "spec", "failurePolicy")
    if (most := number(policy, "maxRestarts", 0)) < wanted:
        message = f"runtime {name!r} restarts the gang {most} times, but the run is to have {wanted}; raise maxRestarts"
        yield ENDS.at(run.run.source, ("runtime",), message)
    if (backoff := number(inner(job, "template", "spec"), "backoffLimit", 6)) > 0:
        message = f"runtime {name!r} makes up to {backoff} pods anew one by one; write backoffLimit: 0 there"
        yield ENDS.at(run.run.source, ("runtime",), message)
