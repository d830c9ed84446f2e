"""Devices of nodes: a container sees the GPUs that it asks for, and claims come from templates that the team may use.

Facts: NVIDIA/k8s-device-plugin v0.17 internal/rm; kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go;
kubeflow/training-operator v1.9.4 pkg/controller.v1/mpi; kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.render.tenancy import placing
from trainyard.render.tenancy.amounts import amount
from trainyard.render.tenancy.fabric import OWN, of, own_containers
from trainyard.render.tenancy.rights import inner
from trainyard.render.tenancy.shapes import ANY, About, Condition, Fields, Items
from trainyard.render.tenancy.variables import GPUS

GPU = re.compile(r"nvidia[.]com/(gpu|gpu[.]shared|mig-[0-9a-z.]+)")
"""Resources for which NVIDIA's plugin gives GPUs; others give none."""


def asks(resources: Mapping[str, Any]) -> bool:
    """Whether resources have GPUs of NVIDIA: the device plugin then says by the variable which of them are seen."""
    limits = inner(resources, "limits")
    return any(GPU.fullmatch(str(name)) and (found := amount(limits[name])) and found.amount > 0 for name in limits)


def has_gpus_cel(x: str) -> str:
    """Return the condition in CEL that resources have GPUs; `x` is their limits, a map."""
    return f"{x}.exists(r, r.matches('^{GPU.pattern}$') && quantity(string({x}[r])).isGreaterThan(quantity('0')))"


def is_far(pod: Any, about: About) -> bool:
    """Whether pods are on a pool without GPUs of NVIDIA, or the cluster has none.

    Those that say no pool may get to any, by affinity or by their queue.
    """
    return placing.is_far(inner(pod, "nodeSelector"), about.allowance.lists)


IS_FAR = f"size(variables.{placing.POOLS}) == 0 || isFar({{x}})"


def sees_its_own(containers: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each container has GPUs or says that it sees none, where an image's own variable would show all."""
    return all(
        asks(inner(container, "resources")) or any(entry.get("name") == GPUS for entry in of(container, "env"))
        for container in containers
    )


SEES = (
    f"(has(c.resources) && has(c.resources.limits) && {has_gpus_cel('c.resources.limits')}) || "
    f"c.?env.orValue([]).exists(e, e.name == '{GPUS}')"
)


def is_blind(pod: Any, about: About) -> bool:
    """Whether containers without GPUs say that they see none, where there are any."""
    return is_far(pod, about) or sees_its_own(own_containers(pod, about))


def is_blind_beside(pod: Any, about: About) -> bool:
    """Whether containers are blind but for the first, which an operator makes blind where no container has GPUs."""
    first = next((container.get("name") for container in of(pod, "containers")), None)
    found = own_containers(pod, about)
    if not any(counts(str(name)) for container in found for name in inner(inner(container, "resources"), "limits")):
        found = [container for container in found if container.get("name") != first]
    return is_far(pod, about) or sees_its_own(found)


def counts(resource: str) -> bool:
    """Whether an operator takes a resource for GPUs of the launcher."""
    return resource.endswith("gpu") or "mig-" in resource


SAID = "a container without GPUs needs NVIDIA_VISIBLE_DEVICES=void; remove the patch"
BLIND = Condition(is_blind, f"{IS_FAR} || {OWN}.all(c, {SEES})", SAID, "device", ("containers",))
BLIND_BESIDE = Condition(
    is_blind_beside,
    f"{IS_FAR} || {OWN}.all(c, {SEES} || (c.name == {{x}}.containers[0].name && !{OWN}.exists(o, "
    "o.?resources.?limits.orValue({}).exists(r, r.endsWith('gpu') || r.contains('mig-')))))",
    SAID,
    "device",
    ("containers",),
)
"""Of an MPIJob's launcher, whose first container the operator makes blind."""

TEMPLATE = Condition(
    lambda value, about: (
        value in about.allowance.lists["claimtemplates"]
        or any(value == f"{about.name}{end}" for end in about.allowance.lists["channels"])
    ),
    "{x} in variables.claimtemplates || variables.channels.exists(end, {x} == object.metadata.name + end)",
    "template {name} of claims belongs neither to the run nor to the team; remove it",
)
"""The run's own makes a channel of NVLink, where the cluster has them."""

CLAIMS = Items(
    Fields(
        "a claim of devices",
        {"name": ANY, "resourceClaimTemplateName": TEMPLATE},
        required=("resourceClaimTemplateName",),
    )
)
"""No claim by its own name: several pods have such a one, and Kueue counts none of it (kueue v0.19.2 pkg/dra)."""
