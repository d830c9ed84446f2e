"""PyTorchJob, TFJob, XGBoostJob, PaddleJob and JAXJob: names, roles, containers; verified against 1.9.4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.base.manifests import value_at
from trainyard.upstream.apiserver.core.shapes import Object, below, child, each, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.workloads import carrier

_MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")
_PODS = "training-operator v1.9.4 pkg/controller.v1/common/pod.go, refused at reconcile"
_POLICY = Rule(
    "webhook/kubeflow-run-policy",
    "training-operator v1.9.4 pkg/common/util/webhooks.go",
    title="The runPolicy of a Kubeflow job names a supported manager, which never changes.",
    fix="correct or restore spec.runPolicy.managedBy",
)


@dataclass(frozen=True, slots=True)
class Job:
    """What is particular to one kind."""

    kind: str
    container: str
    folder: str
    roles: tuple[str, ...] = ()
    """Roles that may be there; none where any may."""
    managed: bool = True
    keeps_manager: bool = True

    @property
    def rule(self) -> Rule:
        """The kind's rule, with the file it comes from."""
        module = self.folder.replace("tensorflow", "tf").replace("paddlepaddle", "paddle")
        source = f"training-operator v1.9.4 pkg/webhooks/{self.folder}/{module}job_webhook.go"
        return Rule(
            f"webhook/{module}job",
            source,
            title=f"A {self.kind} passes the checks of its webhook: name, roles and containers.",
            fix="use a role, policy or count that the message allows; give each role the container that it names",
        )

    @property
    def path(self) -> Path:
        """The path of its replicas, by role."""
        row = carrier("kubeflow.org", self.kind)
        return row.templates[0].collection if row is not None else ()


JOBS: dict[str, Job] = {
    job.kind: job
    for job in (
        Job("PyTorchJob", "pytorch", "pytorch", ("Master", "Worker"), keeps_manager=False),
        Job("TFJob", "tensorflow", "tensorflow"),
        Job("XGBoostJob", "xgboost", "xgboost", ("Master", "Worker")),
        Job("PaddleJob", "paddle", "paddlepaddle", ("Master", "Worker")),
        Job("JAXJob", "jax", "jax", ("Worker",), managed=False, keeps_manager=False),
    )
}


RULES = {kind: job.rule for kind, job in JOBS.items()}
PODS = {
    kind: Rule(
        f"{rule.id}-pods",
        _PODS,
        title=f"The pod templates of a {kind} are valid for the training operator.",
        fix="write the value that the message gives, as for any pod",
        why="the training operator refuses the job and never starts its pods",
    )
    for kind, rule in RULES.items()
}


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a job of the five kinds; upstream by mistake lets a PyTorchJob change its manager."""
    job = JOBS[str(review.value.get("kind"))]
    rule = RULES[str(review.value.get("kind"))]
    if review.name and (detail := names.dns_label_1035(review.name)):
        yield rule.invalid(("metadata", "name"), review.name, detail)
    manager = inner(review.spec, "runPolicy").get("managedBy")
    path: Path = ("spec", "runPolicy", "managedBy")
    if job.keeps_manager and review.old is not None and inner(review.old_spec, "runPolicy").get("managedBy") != manager:
        yield _POLICY.invalid(path, manager, "field is immutable")
    if job.managed and manager is not None and manager not in _MANAGERS:
        yield _POLICY.unsupported(path, manager, _MANAGERS)
    specs = below(review.value, job.path)
    if not isinstance(value_at(review.value, job.path), dict):
        yield rule.required(job.path)
    for role in specs:
        yield from _check_role(role, inner(specs, role), job, rule)
    yield from _check_roles(review, job, specs, rule)


def _check_role(role: str, spec: Object, job: Job, rule: Rule) -> Iterator[Problem]:
    path: Path = (*job.path, role)
    if job.roles and role not in job.roles:
        yield rule.unsupported(path, role, job.roles, of_key=True)
    containers = each(inner(spec, "template", "spec"), "containers")
    at: Path = (*path, "template", "spec", "containers")
    for index, container in containers:
        if not text(container, "image"):
            yield rule.required((*at, index, "image"))
    if job.container not in {text(container, "name") for _, container in containers}:
        yield rule.required(at, f"must have a container named {job.container!r}")
    replicas = number(spec, "replicas")
    if role == "Master" and job.container in ("pytorch", "xgboost"):
        if replicas != 1:
            yield rule.forbidden((*path, "replicas"), f"must be 1, not {replicas}")
    elif job.container == "pytorch" and replicas is not None and replicas < 1:
        yield rule.forbidden((*path, "replicas"), f"must be at least 1, not {replicas}")


def _check_roles(review: Review, job: Job, specs: Object, rule: Rule) -> Iterator[Problem]:
    path = job.path
    if job.container == "tensorflow" and {"Chief", "Master"} <= set(specs):
        yield rule.forbidden(path, "must not have more than one Chief or Master")
    if job.container == "xgboost" and "Master" not in specs:
        yield rule.required((*path, "Master"))
    elastic = child(review.spec, "elasticPolicy")
    if job.container != "pytorch" or elastic is None:
        return
    if "Worker" not in specs:
        yield rule.required((*path, "Worker"), "when an elastic policy is used")
    if elastic.get("nProcPerNode") is not None and review.spec.get("nprocPerNode") is not None:
        yield rule.forbidden(("spec", "elasticPolicy", "nProcPerNode"), "must not be used with spec.nprocPerNode")


def reconcile(review: Review) -> Iterator[Problem]:
    """Yield why Services or pods of a job are refused for ever: long names, and mounts of volumes they lack."""
    job = JOBS[str(review.value.get("kind"))]
    rule = PODS[str(review.value.get("kind"))]
    specs = below(review.value, job.path)
    yield from _check_length(review.name, specs, rule)
    for role in specs:
        yield from _check_mounts(inner(specs, role, "template", "spec"), (*job.path, role, "template", "spec"), rule)


def _check_length(name: str, specs: Object, rule: Rule) -> Iterator[Problem]:
    """Look at the longest name of a pod, which its Service has, too (pkg/controller.v1/common/service.go)."""
    last = {
        role: max(1 if (count := number(child(specs, role) or {}, "replicas")) is None else count, 1) - 1
        for role in specs
    }
    longest = max((f"{name}-{role.lower()}-{index}" for role, index in last.items()), key=len, default=name)
    if names.dns_label_1035(name) is None and names.dns_label_1035(longest) is not None:
        detail = f"the name of its Service {longest!r} is longer than 63 characters"
        yield rule.invalid(("metadata", "name"), name, detail)


def _check_mounts(pod: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    volumes = {text(volume, "name") for _, volume in each(pod, "volumes")}
    for kind in ("initContainers", "containers"):
        for index, container in each(pod, kind):
            for place, mount in each(container, "volumeMounts"):
                if text(mount, "name") not in volumes:
                    at: Path = (*path, kind, index, "volumeMounts", place, "name")
                    yield rule.missing(at, mount.get("name"), "must be a volume of the pod")
