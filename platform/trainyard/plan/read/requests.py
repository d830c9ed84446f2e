"""What the pods of a run ask for, told from their templates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from trainyard.carriers import PodSet
from trainyard.labels import POOL
from trainyard.manifests import value_at
from trainyard.quantities import Quantity


def asks(sets: Iterable[PodSet], specs: Iterable[Any]) -> dict[str, dict[str, float]]:
    """Return what pods ask for, by pool: the sum of their containers, or one that runs before them if that is more."""
    found: dict[str, dict[str, float]] = {}
    for each, spec in zip(sets, specs, strict=True):
        pool = value_at(spec, ("nodeSelector", POOL))
        total = found.setdefault(pool if isinstance(pool, str) else "", defaultdict(float))
        for name, amount in of_pod(spec).items():
            total[name] += each.count * amount
    return found


def of_pod(spec: Any) -> dict[str, float]:
    """Return what one pod asks for (kubernetes v1.35 component-helpers resource.PodRequests, without overhead)."""
    main, first = defaultdict[str, float](float), defaultdict[str, float](float)
    for container in listed(value_at(spec, ("containers",))):
        for name, amount in requests(container).items():
            main[name] += amount
    for container in listed(value_at(spec, ("initContainers",))):
        stays = isinstance(container, Mapping) and container.get("restartPolicy") == "Always"
        for name, amount in requests(container).items():
            if stays:
                main[name] += amount
            else:
                first[name] = max(first[name], amount)
    return {name: max(main[name], first[name]) for name in {*main, *first}}


def requests(container: Any) -> dict[str, float]:
    """Return what a container asks for; a limit stands for a request that is not written."""
    found: dict[str, float] = {}
    for part in ("limits", "requests"):
        amounts = value_at(container, ("resources", part))
        for name, text in (amounts if isinstance(amounts, Mapping) else {}).items():
            if isinstance(text, (str, int, float)) and not isinstance(text, bool):
                with suppress(ValueError):
                    found[str(name)] = float(Quantity.parse(text).amount)
    return found


def cores(wanted: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield CPUs and memory of all pods together, of those that have no devices."""
    count = sum(each.get("cpu", 0) for each in wanted.values())
    memory = sum(each.get("memory", 0) for each in wanted.values())
    if count:
        yield f"{count:g} {'CPU' if count == 1 else 'CPUs'}"
    if memory:
        yield f"{memory / 2**30:.4g}Gi"


def listed(value: Any) -> list[Any]:
    """Return a list, empty where a value is none."""
    return value if isinstance(value, list) else []
