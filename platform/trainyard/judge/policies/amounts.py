"""The requests of one pod, as Kueue and the scheduler count them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import Manifest, value_at
from trainyard.base.quantities import WIDE, Quantity
from trainyard.judge.policies.places import Place
from trainyard.upstream.pods.demand import Container, pod_requests
from trainyard.upstream.pods.pod import KINDS, Pod


@dataclass(frozen=True, slots=True)
class Need:
    """The amount of a resource that a pod requests, and one of the places that request it."""

    amount: Decimal
    place: Place

    def __add__(self, other: Need) -> Need:
        """Return the sum, at the place of the first."""
        return Need(WIDE.add(self.amount, other.amount), self.place)

    def __gt__(self, other: Need) -> bool:
        """Whether the amount is larger."""
        return self.amount > other.amount


def needs(manifest: Manifest, template: Path) -> dict[str, Need]:
    """Return the requests of one pod of a template; invalid quantities are skipped."""
    spec = manifest.get(*template, "spec")
    if not isinstance(spec, Mapping):
        return {}
    pod, at = Pod.of(spec), (*template, "spec")

    def of_resources(amounts: Mapping[str, Quantity], path: Path) -> dict[str, Need]:
        limits = value_at(manifest.value, (*path, "limits"))
        written = limits if isinstance(limits, Mapping) else {}
        fields = {name: "limits" if name in written else "requests" for name in amounts}
        return {name: Need(one.amount, Place(manifest, (*path, fields[name], name))) for name, one in amounts.items()}

    def of_container(container: Container) -> dict[str, Need]:
        return of_resources(container.requests, (*at, KINDS[not container.init], container.index, "resources"))

    own = of_resources(pod.requests, (*at, "resources"))
    overhead = {
        name: Need(more.amount, Place(manifest, (*at, "overhead", name))) for name, more in pod.overhead.items()
    }
    return pod_requests(pod.containers, of_container, own=own, overhead=overhead)


def is_guaranteed(spec: Mapping[str, Any]) -> bool:
    """Say whether the pods have QoS class Guaranteed, so that the kubelet can pin their CPUs and memory.

    Every container has limits of CPU and memory that are its requests (kubernetes v1.35 pkg/apis/core/v1/helper/qos),
    and the pod as a whole has none.
    """
    return Pod.of(spec).pinned


def amount_of(value: Any) -> Decimal | None:
    """Return the amount that a quantity says; None where it is none."""
    try:
        return Quantity.parse(value).amount if isinstance(value, (str, int, float)) else None
    except ValueError:
        return None
