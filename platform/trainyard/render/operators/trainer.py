"""Kubeflow Trainer: its chart's defaults serve, and runtimes that its values switch on are objects of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Conflict, Operator, Site, merge
from trainyard.render.operators.stated_values import if_false
from trainyard.render.parts.objects import Resource
from trainyard.specs.releases.facts import lookup
from trainyard.upstream.workloads.base import Object
from trainyard.upstream.workloads.brought import brought, switches
from trainyard.upstream.workloads.runtimes import CLUSTER_WIDE, TRAINER

CHART = "kubeflow/trainer v2.3.0 charts/kubeflow-trainer"
RUNTIMES, ALL = "runtimes", "defaultEnabled"
IGNORED = ("runtimes.commonLabels", "runtimes.installer")
CACHE = "dataCache.runtimes.torchDistributedWithCache.enabled"


class Trainer(Operator):
    """The operator from its chart, whose own way to runtimes is a Job that downloads kubectl and applies them."""

    name = "trainer"

    def join(self, derived: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values without those of runtimes: what they switch on is made here."""
        return {key: value for key, value in merge(derived, own).items() if key != RUNTIMES}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the runtimes that the chart's values switch on."""
        for name, value in wanted_runtimes(site).items():
            yield Resource(
                f"{TRAINER}/v1alpha1",
                CLUSTER_WIDE,
                name,
                site.at,
                labels=dict(value["metadata"]["labels"]),
                fields={"spec": value["spec"]},
            )

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield definitions that are left out, and the one runtime that is made by the chart alone."""
        why = "somebody must then install the definitions first; remove it, or install them by hand"
        yield from if_false(site, {"crds.enabled": why}, f"{CHART}/values.yaml", breaks=False)
        for path in IGNORED:
            if lookup(site.choice.values, path) is not None:
                message = f"{path} has no effect, as runtimes are objects of ours; remove it"
                yield Conflict(path, message, f"{CHART}/templates/runtimes", breaks=False)
        if lookup(site.choice.values, CACHE) is True:
            message = f"{CACHE} is true, but its Job downloads kubectl; put the runtime into platform/extra"
            yield Conflict(CACHE, message, f"{CHART}/templates/runtimes/installer-job.yaml", breaks=False)


def wanted_runtimes(site: Site) -> dict[str, Object]:
    """Return by name the runtimes that the values of a cluster's Trainer switch on."""
    said = site.choice.values.get(RUNTIMES)
    values: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    on = [name for name, switch in switches().items() if values.get(ALL) is True or lookup(values, switch) is True]
    known = brought(site.known_version, images(site, values)) if on else {}
    return {name: known[name] for name in on}


def images(site: Site, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the images by what runs in them: as the chart's values say, else those of the release."""
    found = {name: str(component["image"]) for name, component in site.components.items()}
    for name in found:
        said = lookup(values, f"{name}Distributed.image")
        if isinstance(said, Mapping) and said:
            registry, _, repository = found[name].rpartition(":")[0].partition("/")
            parts = said.get("registry") or registry, said.get("repository") or repository
            found[name] = f"{'/'.join(parts)}:{said.get('tag') or f'v{site.version}'}"
    return found


def cluster_runtimes(site: Site) -> list[Object]:
    """Return the runtimes that a cluster's Trainer brings, where Trainyard installs it."""
    return [*wanted_runtimes(site).values()] if site.choice.managed else []


OPERATOR = Trainer()
