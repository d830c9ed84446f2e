"""Trainer v2: TrainJobs against their runtime, and runtimes; verified against 2.3.0 and 2.2.1.

A TrainJob is judged against its runtime where that is among the known objects or brought by Trainer; without it, it
cannot be judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.pods.resources import check_resources
from trainyard.upstream.apiserver.core.shapes import (
    EMPTY,
    Object,
    below,
    child,
    count,
    each,
    flag,
    inner,
    number,
    text,
    texts,
)
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of, labels_of
from trainyard.upstream.apiserver.webhooks.jobset import POD_SUFFIX
from trainyard.upstream.apiserver.webhooks.runtimes import ANCESTOR, UNCHECKED, brought_spec
from trainyard.upstream.apiserver.webhooks.torchtune import check_torchtune

GROUP = "trainer.kubeflow.org"
SINCE = "2.3.0"
"""Since then patches add jobs, initializers mount their volume, and variables of MPI and torchtune's settings count."""
_PLUGINS = "trainer v2.3.0 pkg/runtime/framework/plugins"
RUNTIME = Rule(
    "webhook/training-runtime",
    "trainer v2.3.0 pkg/webhooks/trainingruntime_webhook.go",
    title="A TrainingRuntime has one replica per job, and the container that each step needs.",
    fix="set replicas to 1, or name the container as the message says",
)
JOB = Rule(
    "webhook/trainjob",
    "trainer v2.3.0 pkg/webhooks/trainjob_webhook.go",
    title="A TrainJob names a runtime that exists, and has a valid name.",
    fix="name an existing TrainingRuntime or ClusterTrainingRuntime; use a DNS label as its name",
)
PATCHES = Rule(
    "webhook/trainjob-patches",
    f"{_PLUGINS}/jobset/jobset.go",
    title="Runtime patches of a TrainJob have a manager and change only allowed fields.",
    fix="set the manager; set env of the trainer in spec.trainer, not in a patch",
)
TORCH = Rule(
    "webhook/trainjob-torch",
    f"{_PLUGINS}/torch/torch.go",
    title="A TrainJob with the torch policy sets no reserved variables, and its runtime's containers exist.",
    fix="remove the reserved variable, or correct the runtime",
)
MPI = Rule(
    "webhook/trainjob-mpi",
    f"{_PLUGINS}/mpi/mpi.go",
    title="A TrainJob with the MPI policy sets no reserved variables, and has a launcher for several nodes.",
    fix="remove the reserved variable; set numNodes to 1, or use a runtime with a launcher",
)
FLUX = Rule(
    "webhook/trainjob-flux",
    f"{_PLUGINS}/flux/flux.go",
    title="A TrainJob with the Flux policy starts at least one process per node.",
    fix="set numProcPerNode to 1 or more; name no init container flux-installer",
)
XGBOOST = Rule(
    "webhook/trainjob-xgboost",
    f"{_PLUGINS}/xgboost/xgboost.go",
    title="A TrainJob with the XGBoost policy sets no reserved variables.",
    fix="remove the variable; the runtime sets it",
)
VOLCANO = Rule(
    "webhook/trainjob-volcano",
    f"{_PLUGINS}/volcano/volcano.go",
    title="The queue name in a TrainJob's Volcano runtime is not empty.",
    fix="give the annotation of the runtime a queue's name, or remove it",
)
PODS = Rule(
    "webhook/trainjob-pods",
    "trainer v2.3.0 pkg/runtime/framework/plugins/jobset/builder.go, refused at reconcile",
    title="The JobSet that Trainer makes of a TrainJob, and its Jobs, are valid.",
    fix="write the value that the message gives",
    why="the pods never start, and Trainer tries again for ever",
)

_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
_DATASET, _MODEL, _NODE = "dataset-initializer", "model-initializer", "node"
_CONTAINERS = {"trainer": _NODE, _MODEL: _MODEL, _DATASET: _DATASET}
RESERVED = {
    "torch": (TORCH, {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}),
    "xgboost": (XGBOOST, {"DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"}),
    "mpi": (
        MPI,
        {
            "OMPI_MCA_orte_default_hostfile",
            "OMPI_MCA_plm_rsh_args",
            "OMPI_MCA_orte_keep_fqdn_hostnames",
            "OMPI_MCA_orte_set_default_slots",
        },
    ),
}
"""By policy of a runtime, variables that a TrainJob must not set."""


def check_runtime(review: Review) -> Iterator[Problem]:
    """Yield the problems with a runtime's jobs; changes of a namespaced TrainingRuntime are never judged."""
    if labels_of(review.value).get(UNCHECKED) == "disabled" and review.since("trainer", SINCE):
        return
    if review.old is not None and review.value.get("kind") == "TrainingRuntime":
        return
    for index, job in each(inner(review.spec, "template", "spec"), "replicatedJobs"):
        step = text(inner(job, "template", "metadata", "labels"), ANCESTOR)
        if step not in _CONTAINERS:
            continue
        path: Path = ("spec", "template", "spec", "replicatedJobs", index)
        replicas = number(job, "replicas")
        if replicas is not None and replicas != 1:
            yield RUNTIME.invalid((*path, "replicas"), replicas, "must be 1")
        pod = inner(job, "template", "spec", "template", "spec")
        if _CONTAINERS[step] not in {text(container, "name") for _, container in each(pod, "containers")}:
            at: Path = (*path, "template", "spec", "template", "spec", "containers")
            yield RUNTIME.required(at, f"must have a container named {_CONTAINERS[step]!r} for the step {step!r}")


def runtime_of(review: Review) -> Object | None:
    """The specification of the runtime that a TrainJob names, one that Trainer brings among them; None if unknown."""
    reference = inner(review.spec, "runtimeRef")
    kind, name = text(reference, "kind") or "ClusterTrainingRuntime", text(reference, "name")
    namespace = review.namespace if kind == "TrainingRuntime" else None
    found = review.around.find(GROUP, kind, name, namespace=namespace)
    if found is not None:
        return inner(found, "spec")
    return brought_spec(name) if kind == "ClusterTrainingRuntime" else None


def jobs_of(runtime: Object) -> list[Object]:
    """The replicated jobs of a runtime's specification."""
    return [job for _, job in each(inner(runtime, "template", "spec"), "replicatedJobs")]


def check_job(review: Review) -> Iterator[Problem]:
    """Yield the problems with a TrainJob."""
    reference = inner(review.spec, "runtimeRef")
    group, kind = reference.get("apiGroup", GROUP), reference.get("kind", "ClusterTrainingRuntime")
    if group != GROUP or kind not in ("ClusterTrainingRuntime", "TrainingRuntime"):
        yield JOB.invalid(
            ("spec", "runtimeRef"), f"{kind}.{group}", "must be a TrainingRuntime or ClusterTrainingRuntime"
        )
        return
    if review.old is not None:
        yield from _check_patches_kept(review)
    yield from _check_patches(review.spec)
    runtime = runtime_of(review)
    if runtime is None:
        yield review.absent(JOB, ("spec", "runtimeRef"), kind, text(reference, "name"))
        return
    newer = review.since("trainer", SINCE)
    if not newer:
        yield from _check_patched(review.spec, runtime)
    yield from _check_initializers(review.spec, runtime, newer=newer)
    yield from _check_policy(review, runtime, newer=newer)


def reconcile(review: Review) -> Iterator[Problem]:
    """Yield why the JobSet of a TrainJob, or a Job of that, is refused: the amounts of its nodes, and its names.

    Every pod of the trainer has the resources of the job; the JobSet has its name, and Jobs of Trainer are indexed.
    """
    path: Path = ("spec", "trainer", "resourcesPerNode")
    resources = below(review.value, path)
    claims = {text(claim, "name") for _, claim in each(resources, "claims")}
    yield from (
        replace(problem, rule=PODS.id, source=PODS.source) for problem in check_resources(resources, claims, path)
    )
    runtime = runtime_of(review)
    nodes = number(inner(review.spec, "trainer"), "numNodes")
    for job in jobs_of(runtime) if runtime is not None and names.dns_label_1035(review.name) is None else ():
        trains = text(inner(job, "template", "metadata", "labels"), ANCESTOR) == "trainer"
        last = (nodes if trains and nodes else number(inner(job, "template", "spec"), "completions")) or 1
        pod = f"{review.name}-{text(job, 'name')}-0-{last - 1}{POD_SUFFIX}"
        if names.dns_label_1035(pod) is not None:
            yield PODS.invalid(
                ("metadata", "name"), review.name, f"the name of its pod {pod!r} is longer than 63 characters"
            )
            return


def default(review: Review) -> bool:
    """Say whether the webhook stamps a patch with the time: one that is new and has none, or that changed."""
    before = {text(patch, "manager"): patch for _, patch in each(review.old_spec, "runtimePatches")}
    for _, patch in each(review.spec, "runtimePatches"):
        old = before.get(text(patch, "manager"))
        if old is None and patch.get("time") is None:
            return True
        if old is not None and _without_time(old) != _without_time(patch):
            return True
    return False


def patched_jobs(spec: Object) -> Iterator[tuple[Path, Object]]:
    """Yield the replicated jobs that a TrainJob's patches speak of, with their places."""
    for index, patch in each(spec, "runtimePatches"):
        template = inner(patch, "trainingRuntimeSpec", "template", "spec")
        at: Path = ("spec", "runtimePatches", index, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
        for place, job in each(template, "replicatedJobs"):
            yield (*at, place), job


def _check_patches(spec: Object) -> Iterator[Problem]:
    for index, patch in each(spec, "runtimePatches"):
        manager = text(patch, "manager")
        if not manager:
            yield PATCHES.required(("spec", "runtimePatches", index, "manager"))
        elif detail := names.domain_prefixed_path(manager):
            yield PATCHES.invalid(("spec", "runtimePatches", index, "manager"), manager, detail)
    for path, job in patched_jobs(spec):
        pod = inner(job, "template", "spec", "template", "spec")
        for place, container in each(pod, "containers"):
            if text(container, "name") in (_DATASET, _MODEL, _NODE) and count(container, "env"):
                at: Path = (*path, "template", "spec", "template", "spec", "containers", place, "env")
                yield PATCHES.forbidden(at, "set env in spec.trainer or spec.initializer")


def _check_patched(spec: Object, runtime: Object) -> Iterator[Problem]:
    """Yield patches of jobs that the runtime lacks, which since 2.3 are added before anything is looked at."""
    known = {text(job, "name") for job in jobs_of(runtime)}
    for path, job in patched_jobs(spec):
        if text(job, "name") not in known:
            yield PATCHES.missing((*path, "name"), job.get("name"), "must be the name of a job of the runtime")


def _check_patches_kept(review: Review) -> Iterator[Problem]:
    """Patches change only while the job is suspended, as one is that waits in a queue: Kueue has suspended that."""
    if flag(review.spec, "suspend") or flag(review.old_spec, "suspend"):
        return
    now, before = (_timeless(spec) for spec in (review.spec, review.old_spec))
    if differs(now, before):
        yield PATCHES.forbidden(("spec", "runtimePatches"), "can only be modified while the TrainJob is suspended")


def _timeless(spec: Object) -> list[Object]:
    return [_without_time(patch) for _, patch in each(spec, "runtimePatches")]


def _without_time(patch: Object) -> Object:
    return {key: part for key, part in patch.items() if key != "time"}


def _jobs(spec: Object, runtime: Object, *, added: bool = True) -> dict[str, list[Object]]:
    """The containers of each replicated job of the runtime, with those that patches add.

    `added` says whether patches add jobs too, as since 2.3; before, they changed those of the runtime alone.
    """
    found: dict[str, list[Object]] = {}
    own = {text(job, "name") for job in jobs_of(runtime)}
    patched = [job for _, job in patched_jobs(spec) if added or text(job, "name") in own]
    for job in (*jobs_of(runtime), *patched):
        pod = inner(job, "template", "spec", "template", "spec")
        found.setdefault(text(job, "name"), []).extend(
            container for kind in ("initContainers", "containers") for _, container in each(pod, kind)
        )
    return found


def _check_initializers(spec: Object, runtime: Object, *, newer: bool) -> Iterator[Problem]:
    jobs = _jobs(spec, runtime, added=newer)
    for field, name in (("dataset", _DATASET), ("model", _MODEL)):
        if child(inner(spec, "initializer"), field) is None:
            continue
        reference = inner(spec, "runtimeRef").get("name")
        containers = [each_ for each_ in jobs.get(name, ()) if text(each_, "name") == name]
        mounts = (text(mount, "name") for container in containers for _, mount in each(container, "volumeMounts"))
        if not containers:
            detail = f"the runtime must have a job and a container named {name!r}"
            yield PATCHES.invalid(("spec", "runtimeRef"), reference, detail)
        elif newer and "initializer" not in mounts:
            detail = f"container {name!r} of the runtime must mount the volume 'initializer'"
            yield PATCHES.invalid(("spec", "runtimeRef"), reference, detail)


def _check_policy(review: Review, runtime: Object, *, newer: bool) -> Iterator[Problem]:
    policy, trainer = inner(runtime, "mlPolicy"), child(review.spec, "trainer")
    for source, (rule, reserved) in RESERVED.items():
        if child(policy, source) is None or (source == "mpi" and not newer):
            continue
        for index, variable in each(trainer or EMPTY, "env"):
            if text(variable, "name") in reserved:
                at: Path = ("spec", "trainer", "env", index)
                yield rule.forbidden(at, f"{variable['name']} is reserved for the runtime")
    if (torch := child(policy, "torch")) is not None:
        if newer:
            yield from _check_injection(review.spec, runtime, torch)
        if trainer is not None and [part for _, part in texts(trainer, "command")] == ["tune", "run"]:
            yield from check_torchtune(review.spec, trainer, newer=newer)
    if (mpi := child(policy, "mpi")) is not None and trainer is not None:
        yield from _check_mpi(review.spec, runtime, mpi, trainer, newer=newer)
    if (flux := child(policy, "flux")) is not None:
        yield from _check_flux(review.spec, runtime, flux, (trainer or EMPTY) if newer else EMPTY)
    yield from _check_volcano(review.spec, runtime)


def _check_injection(spec: Object, runtime: Object, torch: Object) -> Iterator[Problem]:
    jobs = _jobs(spec, runtime)
    for _, target in each(inner(torch, "envInjection"), "targets"):
        job = text(target, "jobName")
        known = {text(container, "name") for container in jobs.get(job, ())}
        for _, name in texts(target, "containerNames"):
            if name not in known:
                detail = f"the runtime injects into container {name!r} of job {job!r}, which it does not have"
                yield TORCH.invalid(("spec", "runtimeRef"), inner(spec, "runtimeRef").get("name"), detail)


def _check_mpi(spec: Object, runtime: Object, mpi: Object, trainer: Object, *, newer: bool) -> Iterator[Problem]:
    nodes = number(trainer, "numNodes")
    if nodes is None or nodes < 2 or not flag(mpi, "runLauncherAsNode"):
        return
    if not {"launcher", _NODE} <= set(_jobs(spec, runtime, added=newer)):
        detail = "must be 1, since the runtime lacks a launcher or a node job"
        yield MPI.invalid(("spec", "trainer", "numNodes"), nodes, detail)


def _check_flux(spec: Object, runtime: Object, flux: Object, trainer: Object) -> Iterator[Problem]:
    """Before 2.3 the runtime's number of processes alone is looked at, and `trainer` is empty here."""
    processes = number(trainer, "numProcPerNode")
    if processes is None:
        processes = number(flux, "numProcPerNode")
    if processes is not None and processes < 1:
        yield FLUX.invalid(("spec", "trainer", "numProcPerNode"), processes, "must be greater than or equal to 1")
    for job in jobs_of(runtime):
        pod = inner(job, "template", "spec", "template", "spec")
        if text(job, "name") == _NODE and "flux-installer" in {text(c, "name") for _, c in each(pod, "initContainers")}:
            detail = "its init container 'flux-installer' is reserved"
            yield FLUX.invalid(("spec", "runtimeRef"), inner(spec, "runtimeRef").get("name"), detail)


def _check_volcano(spec: Object, runtime: Object) -> Iterator[Problem]:
    if child(inner(runtime, "podGroupPolicy"), "volcano") is None:
        return
    found = dict(annotations_of(inner(runtime, "template")))
    for _, patch in each(spec, "runtimePatches"):
        found.update(annotations_of(inner(patch, "trainingRuntimeSpec", "template")))
    if found.get(_QUEUE_NAME) == "":
        detail = f"annotation {_QUEUE_NAME} of its runtime must not be empty"
        yield VOLCANO.invalid(("spec", "runtimeRef"), inner(spec, "runtimeRef").get("name"), detail)
