"""Containers that operators add to pods without a security context of their own, and pods that they make so.

Sources: training-operator v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, mpi/mpijob_controller.go; kuberay v1.6.2
ray-operator/controllers/ray/common/pod.go BuildAutoscalerContainer, common/job.go GetSubmitterTemplate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainyard.base.manifests import value_at
from trainyard.upstream.apiserver.admission.podsecurity.installs import Containers
from trainyard.upstream.apiserver.admission.podsecurity.pods import Container, Pod
from trainyard.upstream.apiserver.admission.podsecurity.settings import Settings
from trainyard.upstream.apiserver.core.shapes import Object, below, count, text
from trainyard.upstream.apiserver.problems import Path
from trainyard.upstream.workloads import Carrier, Template
from trainyard.upstream.workloads.arriving import Added
from trainyard.upstream.workloads.ray import SUBMITTER

_RAY = "ray.io"
_SUBMITTER = "ray-job-submitter"
_SIDECARS = "add security contexts to the sidecars in the operator's configuration"


class Made(NamedTuple):
    """A pod that is made of an object: as it is written, and as it comes to be."""

    written: Pod
    complete: Pod
    """The same with what the operator adds."""
    remedy: str = ""
    """What to do about containers that the operator adds without a security context."""
    configurable: bool = False
    """Whether the operator's own settings may change what it adds, and are not known."""
    place: Path = ()
    """What of the object stands for the pod, where the pod is written in another."""


def complete(value: Object, row: Carrier, template: Template, pod: Pod, settings: Settings) -> Made:
    """Return a pod of one of a kind's templates with the containers that an operator adds to it.

    Those that have the security context of the pod's own container break no level that it keeps.
    """
    pods = pod_set(value, template, pod)
    own = [item for item in (row.arriving(value, pods) if row.arriving else ()) if item.remedy is not None]
    if any(item.replaced for item in own) and settings.waits is not None:
        more = _told(settings.waits, pod, "initContainers")
    else:
        firsts = Counter({field: count(pod.spec, field) for field in ("containers", "initContainers")})
        more = tuple(_placed(own, pod, firsts))
    sidecars = _sidecars(row, template, settings)
    more = (*more, *_told(sidecars, pod, "containers", len(own)))
    remedies = [item.remedy for item in own if item.remedy] + ([_SIDECARS] if sidecars else [])
    unknown = any(item.replaced for item in own) and settings.waits is None
    if not more:
        return Made(pod, pod)
    return Made(pod, Pod(pod.value, pod.path, more), " and ".join(remedies), configurable=unknown)


def pod_set(value: Object, template: Template, pod: Pod) -> str:
    """Return the name of the pod set of a template, at the place of the pod."""
    return next((one_pod_set.name for one_pod_set in template.pod_sets(value) if one_pod_set.template == pod.path), "")


def _placed(own: Iterable[Added], pod: Pod, firsts: Counter[str]) -> Iterator[Container]:
    """Yield containers behind those of the pod's lists."""
    for item in own:
        yield Container(item.name, item.value, pod.at(item.among, firsts[item.among]))
        firsts[item.among] += 1


def _sidecars(row: Carrier, template: Template, settings: Settings) -> Containers:
    """Return the containers that KubeRay's settings add to every pod with Ray."""
    if row.group != _RAY or template.name == SUBMITTER:
        return ()
    return settings.sidecars.get("head" if template.name == "head" else "worker", ())


def submitter(value: Object, row: Carrier) -> Iterator[Made]:
    """Yield the pod that KubeRay makes to submit a job that has no template for it."""
    template = row.template(SUBMITTER)
    if template is None or value_at(value, template.pattern) is not None:
        return
    if _mode(below(value, template.holder)) == "K8sJobMode":
        path = template.pattern
        container = Container(_SUBMITTER, {}, (*path, "spec", "containers", 0))
        remedy = f"add a {template.pattern[-1]} with security contexts"
        yield Made(Pod({}, path), Pod({}, path, (container,)), remedy)


def _told(containers: Containers, pod: Pod, field: str, before: int = 0) -> tuple[Container, ...]:
    """Return containers of an operator's settings behind those of a list of the pod, and some others that it adds."""
    first = count(pod.spec, field) + before
    return tuple(
        Container(text(value, "name"), value, pod.at(field, first + index)) for index, value in enumerate(containers)
    )


def _mode(job: Object) -> str:
    return text(job, "submissionMode") or "K8sJobMode"
