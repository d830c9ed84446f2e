"""Amounts that a job writes in Kubernetes' own words: without a unit, or beyond what is counted, no pod starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.specs.models.base import LEAST_BYTES, MOST_OF_A_QUANTITY, in_words
from trainyard.upstream.pods.resources import in_bytes

UNIT = Rule(
    id="run/unit",
    title="Amounts of memory and disk in a job's own containers and volumes have a unit.",
    why="500 means 500 bytes and 500m half a byte; no container starts with so little",
    fix="write a unit such as 500Mi",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    layer="run",
)


BEYOND = Rule(
    id="run/amount",
    title="Amounts in a job's own containers, volumes and patches are 8Ei at most.",
    why="Kubernetes counts in 64 bits: a larger amount overflows, and no node has that much",
    fix="write what a node of the pool has, or less",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go ScaledValue",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield amounts that nothing can be, in containers, volumes and patches; no amount at all is meant."""
    job = run.run.job
    fields = {"containers": job.containers, "initContainers": job.init_containers, "volumes": job.volumes}
    for field, parts in fields.items():
        for index, part in enumerate(parts):
            for path, value in amounts(part, (field, index)):
                amount = read(value)
                if amount is None:
                    continue
                if is_bytes(path) and 0 < amount.amount < LEAST_BYTES:
                    message = f"{format_path(path)} is {str(value)[:20]!r}, which means {in_words(amount)}; add a unit"
                    yield UNIT.at(run.run.source, path, message)
                yield from beyond(run, path, value, amount)
    for index, patch in enumerate(job.patches):
        for path, value in amounts(patch.merge, ("patches", index, "merge")):
            if (amount := read(value)) is not None:
                yield from beyond(run, path, value, amount)


def beyond(run: Resolved, path: Path, value: Any, amount: Quantity) -> Iterator[Finding]:
    """Yield an amount that Kubernetes cannot count."""
    if abs(amount.amount) > MOST_OF_A_QUANTITY:
        message = f"{format_path(path)} is {str(value)[:20]!r}, but Kubernetes counts to 8Ei at most; use less"
        yield BEYOND.at(run.run.source, path, message)


def read(value: Any) -> Quantity | None:
    """Return a quantity, None of what is none, which the API server's rules tell."""
    try:
        return Quantity.parse(value)
    except ValueError:
        return None


def amounts(part: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the amounts in a container, volume or patch: of resources, and sizes of volumes."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                if key == "sizeLimit" or path[-1] in RESOURCES:
                    yield (*path, key), value
            else:
                yield from amounts(value, (*path, key))
    elif isinstance(part, (list, tuple)):
        for index, element in enumerate(part):
            yield from amounts(element, (*path, index))


RESOURCES = frozenset({"limits", "requests"})
"""Fields that hold amounts by resource, wherever a pod has them."""


def is_bytes(path: Path) -> bool:
    """Whether an amount is of memory, disk or huge pages, or the size of a volume."""
    name = str(path[-1])
    return name in {"sizeLimit", "storage"} or in_bytes(name)
