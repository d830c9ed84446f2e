"""What operators are told to add to pods, by the objects that install them: nothing else says so offline.

Operators are installed by objects, or by Argo CD from a chart with values or from manifests with patches. Where the
objects at hand do not say it, or say several things, as those of several clusters do, it is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.upstream.apiserver.admission.podsecurity.installs import (
    Containers,
    common_answer,
    containers,
    read,
    sources,
)
from trainyard.upstream.apiserver.admission.podsecurity.waiting import deployments, template_of
from trainyard.upstream.apiserver.core.shapes import Object, inner, text

KUBERAY_CHART, KUBERAY_CONFIG = "kuberay-operator", "config.ray.io/"
SIDECARS = {"head": "headSidecarContainers", "worker": "workerSidecarContainers"}
"""What KubeRay adds to pods, by the role of them (v1.6.2 ray-operator/apis/config/v1alpha1/configuration_types.go)."""


@dataclass(frozen=True)
class Settings:
    """What operators add to pods, as far as it is known."""

    waits: Containers | None = None
    """What Workers of a PyTorchJob that has a Master begin with; None where nothing says it."""
    sidecars: Mapping[str, Containers] = field(default_factory=dict)
    """What stands beside Ray, in pods of a head and in those of workers."""


def settings(values: Iterable[Any]) -> Settings:
    """Return the settings of operators that the objects of one cluster state."""
    objects = [value for value in values if isinstance(value, dict)]
    waits = common_answer(template_of(deployment, objects) for deployment in deployments(objects))
    configured = list(ray_configurations(objects))
    sidecars = {
        role: found
        for role, name in SIDECARS.items()
        if (found := common_answer(containers(configuration.get(name) or []) for configuration in configured))
    }
    return Settings(waits, sidecars)


def ray_configurations(objects: Sequence[Object]) -> Iterator[Object]:
    """Yield KubeRay's configurations, from its chart's values or from a ConfigMap."""
    for value in objects:
        for source in sources(value):
            if text(source, "chart") == KUBERAY_CHART:
                helm = inner(source, "helm")
                told = inner(helm, "valuesObject") or next(iter(read(text(helm, "values"))), {})
                configuration = inner(told, "configuration")
                yield configuration if configuration.get("enabled") is True else {}
        if value.get("kind") == "ConfigMap":
            texts = (entry for entry in inner(value, "data").values() if isinstance(entry, str))
            for written in (found for entry in texts if KUBERAY_CONFIG in entry for found in read(entry)):
                if text(written, "apiVersion").startswith(KUBERAY_CONFIG):
                    yield written
