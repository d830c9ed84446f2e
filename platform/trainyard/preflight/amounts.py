"""Amounts of bytes in the parts of pods that jobs write in Kubernetes' own words: one without a unit starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.documents import Path, format_path
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.quantities import Quantity
from trainyard.rules import Rule
from trainyard.sizing.quota import in_bytes
from trainyard.specs.models.base import LEAST_BYTES, in_words

UNIT = Rule(
    id="run/unit",
    title="Amounts of bytes in a job's own containers and volumes have a unit.",
    why="500 is five hundred bytes and 500m half a byte, in which no container starts and no file fits",
    fix="write a unit such as 500Mi",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    layer="run",
)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield amounts of less than a megabyte in containers, init containers and volumes; none at all is meant."""
    job = run.run.job
    fields = {"containers": job.containers, "initContainers": job.init_containers, "volumes": job.volumes}
    for field, parts in fields.items():
        for index, part in enumerate(parts):
            for path, value in amounts(part, (field, index)):
                try:
                    amount = Quantity.parse(value)
                except ValueError:
                    continue  # which the API server's rules tell
                if 0 < amount.amount < LEAST_BYTES:
                    message = f"{format_path(path)} is {str(value)[:20]!r}, which is {in_words(amount)}; write a unit"
                    yield UNIT.at(run.run.source, path, message)


def amounts(part: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the amounts of bytes in a container or volume: of memory, disk and huge pages, and sizes of volumes."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                if key == "sizeLimit" or (path[-1] in {"limits", "requests"} and (in_bytes(key) or key == "storage")):
                    yield (*path, key), value
            else:
                yield from amounts(value, (*path, key))
