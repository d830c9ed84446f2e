"""What the operators' admission webhooks and controllers refuse, restated from their sources; a module per operator.

The rules mirror the releases that their sources name: Kueue 0.19.2, JobSet 0.12.0, Trainer 2.3.0, training-operator
1.9.4, LeaderWorkerSet 0.9.0, Volcano 1.14.1, KubeRay 1.6.2 and MPI operator 0.8.2, asked of the running webhooks, and
AppWrapper 1.2.1. For another release of an operator they are the nearest that is known. Modules are imported when an
object of their kind is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.apiserver.problems import Problem
from trainyard.upstream.apiserver.schema.defaults import copy_containers
from trainyard.upstream.apiserver.webhooks import decoded, rewritten
from trainyard.upstream.apiserver.webhooks.around import CONSULTED, Around, Review, gather_objects, labels_of
from trainyard.upstream.apiserver.webhooks.runtimes import UNCHECKED
from trainyard.upstream.workloads import table

__all__ = [
    "ADMISSION",
    "CONSULTED",
    "DEFAULTS",
    "RECONCILE",
    "Around",
    "Review",
    "check",
    "default",
    "gather_objects",
    "reconcile",
]

_RAY = "ray.io"
_KUEUE = "kueue.x-k8s.io"
_TRAINER = "trainer.kubeflow.org"
_LWS = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
_JOBSET = ("jobset.x-k8s.io", "JobSet")
_APP_WRAPPER = ("workload.codeflare.dev", "AppWrapper")

Key = tuple[str, str]
"""Group and kind."""
Hooks = tuple[tuple[str, str], ...]
"""Projects, each with a function below this package."""

_KUBEFLOW_JOBS = tuple(key for key, row in table().items() if row.operator == "training-operator")
_QUEUED = {key: row for key, row in table().items() if row.queueing is not None}
"""Rows of the kinds that Kueue's own integrations queue by the rules of `kueue.jobs`, but for those named below."""

_OPERATORS: dict[Key, Hooks] = {
    _APP_WRAPPER: (("appwrapper", "appwrapper:check"),),
    **dict.fromkeys(_KUBEFLOW_JOBS, (("training-operator", "training_operator:check"),)),
    _JOBSET: (("jobset", "jobset:check"),),
    (_TRAINER, "TrainJob"): (("trainer", "trainer:check_job"),),
    (_TRAINER, "TrainingRuntime"): (("trainer", "trainer:check_runtime"),),
    (_TRAINER, "ClusterTrainingRuntime"): (("trainer", "trainer:check_runtime"),),
    _LWS: (("lws", "lws:check"),),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): (("lws", "lws:check_roles"),),
    ("batch.volcano.sh", "Job"): (("volcano", "volcano.jobs:check"),),
    ("batch.volcano.sh", "CronJob"): (("volcano", "volcano.queues:check_cron_job"),),
    ("scheduling.volcano.sh", "Queue"): (("volcano", "volcano.queues:check_queue"),),
    ("scheduling.volcano.sh", "PodGroup"): (("volcano", "volcano.queues:check_pod_group"),),
    ("topology.volcano.sh", "HyperNode"): (("volcano", "volcano.queues:check_hyper_node"),),
}
FRAMEWORKS = {key: row.framework for key, row in table().items() if row.framework}
"""The name of Kueue's integration, by the kind of jobs that it queues."""
_BY_KUEUE: dict[Key, str] = {
    **dict.fromkeys(_QUEUED, "jobs:check"),
    (_KUEUE, "ClusterQueue"): "quota:check_cluster_queue",
    (_KUEUE, "Cohort"): "quota:check_cohort",
    (_KUEUE, "ResourceFlavor"): "quota:check_flavor",
    (_KUEUE, "Workload"): "quota:check_workload",
    ("", "Pod"): "serving:check_pod",
    ("apps", "Deployment"): "serving:check_deployment",
    ("apps", "StatefulSet"): "serving:check_stateful_set",
    **dict.fromkeys((key for key in _QUEUED if key[0] == _RAY), "ray:check"),
    (_TRAINER, "TrainJob"): "trainjob:check",
    _LWS: "serving:check_lws",
}

ADMISSION: dict[Key, Hooks] = {
    **_OPERATORS,
    **{key: (*_OPERATORS.get(key, ()), ("kueue", f"kueue.{entry}")) for key, entry in _BY_KUEUE.items()},
}
"""By group and kind: which project's webhooks judge it, and the function below this package."""

_REFUSED: dict[Key, Hooks] = {
    _APP_WRAPPER: (("appwrapper", "appwrapper:reconcile"),),
    (_RAY, "RayCluster"): (("kuberay", "kuberay:check_cluster"),),
    (_RAY, "RayJob"): (("kuberay", "kuberay:check_job"),),
    (_RAY, "RayService"): (("kuberay", "kuberay:check_service"),),
    (_RAY, "RayCronJob"): (("kuberay", "kuberay:check_cron_job"),),
    ("batch", "CronJob"): (("kueue", "kueue.jobs:reconcile_cron_job"),),
    ("kubeflow.org", "MPIJob"): (("mpi-operator", "mpi_operator:reconcile"),),
    **dict.fromkeys(_KUBEFLOW_JOBS, (("training-operator", "training_operator:reconcile"),)),
}
_COUNTED = (("kueue", "kueue.podsets:check_count"),)
RECONCILE: dict[Key, Hooks] = {
    **_REFUSED,
    **{key: (*_REFUSED.get(key, ()), *_COUNTED) for key in _QUEUED if key[0] != _RAY},
    (_TRAINER, "TrainJob"): (("trainer", "trainer:reconcile"), ("kueue", "kueue.trainjob:check_count")),
}
"""By group and kind: which project's controller refuses it after admission, and the function below this package."""

_FILL: dict[Key, Hooks] = {
    (_KUEUE, "ClusterQueue"): (("kueue", "kueue.quota:default"),),
    (_KUEUE, "ResourceFlavor"): (("kueue", "kueue.quota:default"),),
    _APP_WRAPPER: (("appwrapper", "appwrapper:default"),),
    _JOBSET: (("jobset", "jobset:default"),),
    _LWS: (("lws", "lws:default"), ("kueue", "kueue.serving:default_lws")),
    (_TRAINER, "TrainJob"): (("trainer", "trainer:default"), ("kueue", "kueue.trainjob:default")),
    ("", "Pod"): (("kueue", "kueue.serving:default_pod"),),
    ("batch.volcano.sh", "Job"): (("volcano", "volcano.jobs:default"),),
    ("scheduling.volcano.sh", "Queue"): (("volcano", "volcano.queues:default_queue"),),
}
DEFAULTS: dict[Key, Hooks] = {
    **_FILL,
    **{key: (*_FILL.get(key, ()), ("kueue", "kueue.suspend:default")) for key in _QUEUED},
}
"""By group and kind: which project's webhook fills fields in before schema and rules are looked at, and how."""

_READ = {(_KUEUE, "Workload"): (("kueue", ""),)}
"""Kinds that a webhook is asked to change and leaves as they are."""
_NAMES = {
    "volcano.jobs:check": "/jobs/validate",
    "volcano.jobs:default": "/jobs/mutate",
    "volcano.queues:check_cron_job": "/cronjobs/validate",
    "volcano.queues:check_hyper_node": "/hypernodes/validate",
    "volcano.queues:check_pod_group": "/podgroups/validate",
    "volcano.queues:check_queue": "/queues/validate",
    "volcano.queues:default_queue": "/queues/mutate",
    "lws:check_roles": "disaggregatedset",
}
"""Webhooks that an installation may leave out, by function, each with its name among the gates that are off."""
_EXEMPT = {"kueue": frozenset({"kube-system", "kueue-system"}), "volcano": frozenset({"kube-system", "volcano-system"})}
"""Namespaces that a project's webhooks leave alone."""
_UPDATERS = frozenset({"lws", "trainer"})
"""Projects whose webhooks fill fields in on updates too; the others' are asked on creation alone."""
_PATCHERS = frozenset({"volcano"})
"""Projects whose webhooks say what to change field by field, and so leave the rest as it is written."""


@cache
def _found(entry: str) -> Callable[..., Any]:
    module, _, name = entry.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def default(
    value: Object,
    *,
    kind: Kind,
    projects: Mapping[str, str],
    old: Object | None = None,
    given: Object | None = None,
    around: Around = Around(),  # noqa: B008  # frozen and empty
) -> None:
    """Fill in, in place, what mutating webhooks add and later layers need; `old` is the stored object, with defaults.

    A hook may return true for a change that nothing here needs to know, other than that it was made.
    """
    review = Review(value, old, around, given, kind, projects)
    hooks = [
        (project, _found(entry))
        for project, entry in DEFAULTS.get((kind.group, kind.kind), ())
        if _NAMES.get(entry) not in around.gates.off
        if project in projects and _decides(project, review, kind)
        if old is None or project in _UPDATERS
    ]
    typed = [hook for project, hook in hooks if project not in _PATCHERS]
    if typed and not kind.typed:
        _rewrite(review, typed, kind)
        typed = []
    for hook in (*typed, *(hook for project, hook in hooks if project in _PATCHERS)):
        hook(review)


def _rewrite(review: Review, hooks: Iterable[Callable[..., Any]], kind: Kind) -> None:
    """Let webhooks change an object's typed form; only where they do is it written into the object itself."""
    form = copy_containers(review.value)
    if (kind.kind, kind.version) == ("ClusterQueue", "v1beta1"):
        form = {**form, "spec": rewritten.encode_value(form.get("spec"), kind.schema["properties"]["spec"])}
    rewritten.rewrite(form, kind)
    before = copy_containers(form)
    answers = [hook(replace(review, value=form)) for hook in hooks]
    if any(answers) or form != before:
        review.value.clear()
        review.value.update(form)


def check(
    value: Object,
    *,
    kind: Kind,
    projects: Mapping[str, str],
    old: Object | None = None,
    around: Around = Around(),  # noqa: B008  # frozen and empty
    given: Object | None = None,
) -> Iterator[Problem]:
    """Yield the refusals of the admission webhooks of the installed projects.

    `value` and `old` are defaulted; `given` is the manifest as written, which tells an explicit `false` from none;
    `projects` are the releases of what is installed. What webhooks look up and `around` does not hold cannot be judged.
    Never raises on sound structure; a subtree of a wrong type is passed over.
    """
    hooks = ADMISSION.get((kind.group, kind.kind), ())
    review = Review(value, old, around, given, kind, projects)
    asked = (project for project, _ in hooks if project in projects and _is_asked(project, review, kind))
    if not kind.typed and any(asked) and _is_selected(review):
        yield from decoded.check(value, kind)
        if old is None and _is_mutated(review, kind, projects):
            yield from decoded.check_dropped(value, kind.schema)
    yield from _run(ADMISSION, review, kind, projects)


def _is_mutated(review: Review, kind: Kind, projects: Mapping[str, str]) -> bool:
    """Whether a webhook may change new objects of a kind, and so reads what creation drops afterwards."""
    hooks = DEFAULTS.get((kind.group, kind.kind), _READ.get((kind.group, kind.kind), ()))
    return any(project in projects and _is_asked(project, review, kind) for project, _ in hooks)


def _is_selected(review: Review) -> bool:
    """Whether webhooks are asked at all: since Trainer 2.3 not of runtimes that say so, before and after."""
    runtime = review.value.get("kind") in ("ClusterTrainingRuntime", "TrainingRuntime")
    if not runtime or not review.since("trainer", "2.3.0"):
        return True
    both = (review.value, review.value if review.old is None else review.old)
    return any(labels_of(labelled).get(UNCHECKED) != "disabled" for labelled in both)


def _is_asked(project: str, review: Review, kind: Kind) -> bool:
    """Whether a project's webhooks are asked about objects of a namespace."""
    if not kind.namespaced:
        return True
    selected = (
        project != "kueue"
        or (kind.group, kind.kind) not in FRAMEWORKS
        or review.around.scope.namespaces is None
        or review.around.is_managed(review.namespace) is not False
    )
    return selected and review.namespace not in _EXEMPT.get(project, ())


def _decides(project: str, review: Review, kind: Kind) -> bool:
    """Whether a project's webhooks look at an object; Kueue's say yes to jobs whose integration is off."""
    framework = FRAMEWORKS.get((kind.group, kind.kind)) if project == "kueue" else None
    return review.around.scope.integrates(framework) and _is_asked(project, review, kind)


def reconcile(
    value: Object,
    *,
    kind: Kind,
    projects: Mapping[str, str],
    around: Around = Around(),  # noqa: B008  # frozen and empty
) -> Iterator[Problem]:
    """Yield why a controller would never run an object that admission lets pass; sources say "refused at reconcile"."""
    yield from _run(RECONCILE, Review(value, None, around, releases=projects), kind, projects)


def _run(
    registry: Mapping[Key, Hooks],
    review: Review,
    kind: Kind,
    projects: Mapping[str, str],
) -> Iterator[Problem]:
    for project, entry in registry.get((kind.group, kind.kind), ()):
        if project not in projects or not _decides(project, review, kind):
            continue
        left_out = _NAMES.get(entry) in review.around.gates.off
        yield from (replace(problem, warns=True) if left_out else problem for problem in _found(entry)(review))
