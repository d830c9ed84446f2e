"""TrainJobs on a runtime of the cluster: what the job says of it, and what the runtime does not let it say.

The TrainJob then carries what a run's own runtime would: image, command line, variables and sizes in `spec.trainer`,
and in a patch the rest of the pod, as far as patches go. Both are kept to the fields of Trainer 2.2: Kueue 0.19, which
is built with its types, writes a TrainJob back without newer ones.
Facts: trainer v2.2.1 and v2.3.0 pkg/apis/trainer/v1alpha1/trainjob_types.go; kueue v0.19.2 go.mod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.labels import OURS
from trainyard.base.manifests import identity_of
from trainyard.base.rules import Rule
from trainyard.render.kinds.base import Resolved
from trainyard.render.kinds.objects import pod
from trainyard.render.parts import pods
from trainyard.render.parts.objects import canonical
from trainyard.upstream.apiserver.webhooks.trainer import RESERVED
from trainyard.upstream.workloads import runtimes
from trainyard.upstream.workloads.base import Object, inner, number, text

MANAGER = f"{OURS}/run"
"""Who a patch is by; Kueue adds one of its own beside it."""

PATCHED = ("affinity", "imagePullSecrets", "nodeSelector", "securityContext", "serviceAccountName", "volumes")
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
    title="The runtime of a job exists on its cluster and has one job with one container for the nodes.",
    why=(
        "Trainer refuses a TrainJob without its runtime, and applies the job's fields only to a container with a "
        "known name"
    ),
    fix="use a runtime of platform/extra whose job is labelled trainer and has the container node, or remove runtime",
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
    title="The runtime of a job gives its pods all that the run needs.",
    why="a TrainJob sets only some fields of a pod: the runtime sets the others",
    fix="add the fields to the runtime, or remove runtime so that Trainyard writes one for the run",
    source="kubeflow/trainer v2.2.1 pkg/apis/trainer/v1alpha1/trainjob_types.go PodSpecPatch",
    layer="run",
    may_warn=True,
)
ENDS = Rule(
    id="run/runtime-restarts",
    title="The runtime of a job restarts the whole gang, as often as the job says.",
    why="by default a JobSet fails with its first pod, and a Job recreates pods one by one while the others wait",
    fix="set failurePolicy.maxRestarts and backoffLimit: 0 in the runtime",
    source="kubernetes-sigs/jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go; docs/launchers.md",
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
    names = [container.get("name") for container in spec.get("containers") or () if isinstance(container, Mapping)]
    return found[0] if names == [runtimes.NODE] and not spec.get("initContainers") else None


def trainer(run: Resolved) -> dict[str, Any]:
    """Return the TrainJob's settings for the runtime's trainer."""
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
        message = (
            f"runtime {name!r} must have one job 'node', labelled trainer, with one container 'node'; correct the "
            "runtime"
        )
        yield USABLE.at(source, ("runtime",), message)
    elif len(run.roles) > 1:
        message = f"runtime {name!r} only has pods for nodes, but the job has {len(run.roles)} roles; remove runtime"
        yield USABLE.at(source, ("runtime",), message)
    else:
        yield from check_reserved(run, runtime)
        yield from check_fields(run, runtime)
        yield from check_restarts(run, runtime, job)


def check_reserved(run: Resolved, runtime: Object) -> Iterator[Finding]:
    """Yield variables that the runtime's policy keeps to itself."""
    policy = inner(runtime, "spec", "mlPolicy")
    reserved = {name for key, (_, names) in RESERVED.items() if isinstance(policy.get(key), Mapping) for name in names}
    for variable in trainer(run).get("env", ()):
        if variable["name"] in reserved:
            field = next((name for name in ("env", "secrets") if variable["name"] in getattr(run.run.job, name)), "")
            at = (field, variable["name"]) if field else ("launcher",)
            message = (
                f"{variable['name']} is set by the policy of runtime {run.run.job.runtime!r}; remove it from the job"
            )
            yield TAKEN.at(run.run.source, at, message)


def check_fields(run: Resolved, runtime: Object) -> Iterator[Finding]:
    """Yield fields of the pod that come out otherwise than in a runtime of the run's own."""
    wanted = canonical(pod(run, run.roles[0]))["spec"]
    (found,) = runtimes.jobs(runtimes.change_runtime(runtime, {"spec": canonical(spec(run, runtime))}))
    there = found["template"]["spec"]["template"]["spec"]
    pairs = ((wanted, there), (wanted["containers"][0], there["containers"][0]))
    for ours, theirs in pairs:
        for field in differences(ours, theirs):
            message = f"runtime {run.run.job.runtime!r} {compare(field, theirs.get(field), ours.get(field))}"
            severity = Severity.WARNING if field in HABITS else None
            yield LOST.at(run.run.source, ("runtime",), message, severity=severity)
    mounts = [volume_mount["name"] for volume_mount in wanted["containers"][0].get("volumeMounts", ())]
    for volume in sorted({mount for mount in mounts if mounts.count(mount) > 1}):
        message = f"volume {volume!r} is mounted twice, which a TrainJob cannot patch; remove runtime"
        yield LOST.at(run.run.source, ("runtime",), message)


def compare(field: str, has: Any, needs: Any) -> str:
    """Return the value that a runtime gives its pods in a field, the one that the run needs, and what to do.

    >>> compare("hostNetwork", None, True)
    'gives its pods no hostNetwork, but the run needs true; add it to the runtime'
    >>> compare("priority", 7, None)
    'gives its pods priority 7, which the run must not have; remove it from the runtime'
    """
    value, wanted = show_value(has), show_value(needs)
    if has is None:
        return f"gives its pods no {field}, but the run needs {wanted or 'some'}; add it to the runtime"
    if needs is None:
        said = f"{field} {value}" if value else field
        return f"gives its pods {said}, which the run must not have; remove it from the runtime"
    if not value or not wanted:
        return f"gives its pods other {field} than the run needs; change the runtime"
    return f"gives its pods {field} {value}, but the run needs {wanted}; change the runtime"


def show_value(value: Any) -> str:
    """Return a plain value as YAML writes it, an empty text for any other."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int)) else ""


def differences(wanted: Object, there: Object) -> Iterator[str]:
    """Yield fields that differ; variables of the runtime's own, and a longer grace, do no harm."""
    for field in sorted({*wanted, *there} - {"containers"}):
        ours, theirs = wanted.get(field), there.get(field)
        if field == GRACE and isinstance(theirs, int) and isinstance(ours, int) and theirs >= ours:
            continue
        if field == "env" and isinstance(theirs, list):
            theirs = [variable for variable in theirs if variable in (ours or ())]
        if by_name(ours) != by_name(theirs):
            yield field


def by_name(value: Any) -> Any:
    """Return a list of named things as a map, whose order does not count; of mounts the name is the path."""
    if isinstance(value, list) and all(isinstance(entry, Mapping) and "name" in entry for entry in value):
        return {entry.get("mountPath") or entry["name"]: entry for entry in value}
    return value


def check_restarts(run: Resolved, runtime: Object, job: Object) -> Iterator[Finding]:
    """Yield restarts that are fewer than the run's, or of single pods."""
    name, wanted = run.run.job.runtime, run.sizing.restarts.value
    policy = inner(runtime, "spec", "template", "spec", "failurePolicy")
    if (most := number(policy, "maxRestarts", 0)) < wanted:
        message = (
            f"runtime {name!r} restarts the gang {most} times, but the run needs {wanted}; set maxRestarts: {wanted}"
        )
        yield ENDS.at(run.run.source, ("runtime",), message)
    if (backoff := number(inner(job, "template", "spec"), "backoffLimit", 6)) > 0:
        message = f"runtime {name!r} recreates up to {backoff} pods one by one; set backoffLimit: 0 there"
        yield ENDS.at(run.run.source, ("runtime",), message)
