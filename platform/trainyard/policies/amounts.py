"""What one pod asks for, as Kueue and the scheduler count it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from trainyard.documents import Path
from trainyard.manifests import Manifest
from trainyard.policies.places import Place
from trainyard.quantities import Quantity


class Need(NamedTuple):
    """How much of a resource a pod asks for, and one of the places that say so."""

    amount: Decimal
    place: Place


def needs(manifest: Manifest, containers: Iterable[tuple[Path, Mapping[str, Any]]]) -> dict[str, Need]:
    """Return what a pod asks for: its containers and sidecars together, or an init container that asks for more.

    What has a limit alone is asked for as much (kubernetes v1.35 staging/src/k8s.io/component-helpers/resource/
    helpers.go PodRequests, pkg/apis/core/v1/defaults.go). What is no quantity is nothing.
    """
    running: dict[str, Need] = {}
    staying: dict[str, Need] = {}
    alone: dict[str, Need] = {}
    for path, container in containers:
        asked = {name: Need(amount, Place(manifest, at)) for name, (amount, at) in written(path, container).items()}
        if path[-2] == "containers":
            add(running, asked)
        elif container.get("restartPolicy") == "Always":
            add(staying, asked)
        else:
            for name, need in asked.items():
                beside = staying[name].amount if name in staying else Decimal()
                if name not in alone or need.amount + beside > alone[name].amount:
                    alone[name] = Need(need.amount + beside, need.place)
    add(running, staying)
    for name, need in alone.items():
        if name not in running or need.amount > running[name].amount:
            running[name] = need
    return running


def add(total: dict[str, Need], more: Mapping[str, Need]) -> None:
    """Add what one container asks for; the place of the first stays."""
    for name, need in more.items():
        known = total.get(name)
        total[name] = need if known is None else Need(known.amount + need.amount, known.place)


def written(path: Path, container: Mapping[str, Any]) -> dict[str, tuple[Decimal, Path]]:
    """Return the requests of a container, its limits where it has no request, and where people write them: limits."""
    found: dict[str, tuple[Decimal, Path]] = {}
    resources = container.get("resources")
    for field in ("limits", "requests"):
        amounts = resources.get(field) if isinstance(resources, Mapping) else None
        for name, value in amounts.items() if isinstance(amounts, Mapping) else ():
            try:
                place = found[name][1] if name in found else (*path, "resources", field, name)
                found[name] = Quantity.parse(value).amount, place
            except ValueError:
                continue
    return found


def is_guaranteed(spec: Mapping[str, Any]) -> bool:
    """Say whether every container has limits of CPU and memory that are its requests (pkg/apis/core/v1/helper/qos)."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return bool(containers) and "resources" not in spec and all(map(is_equal, containers))


def is_equal(container: Any) -> bool:
    """Say whether a container's requests of CPU and memory are its limits, or left out, which comes to the same."""
    resources = container.get("resources") if isinstance(container, dict) else None
    limits = resources.get("limits") if isinstance(resources, dict) else None
    requests = resources.get("requests") if isinstance(resources, dict) else None
    if not isinstance(limits, dict) or not {"cpu", "memory"} <= limits.keys():
        return False
    asked = requests if isinstance(requests, dict) else {}
    return all(str(asked.get(name, limits[name])) == str(limits[name]) for name in ("cpu", "memory"))
