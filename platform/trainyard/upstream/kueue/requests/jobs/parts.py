"""What a kind yields: the pod sets of a Workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.kueue.requests.annotations import NO_INDEX, Index

Object = Mapping[str, Any]


class NotMade(Exception):  # noqa: N818  # it is an answer, in Kueue's words where it has some
    """Kueue makes no Workload of a job, and why."""


@dataclass(frozen=True, slots=True)
class Part:
    """One pod set to be."""

    name: str
    count: int
    template: Object
    index: Index = NO_INDEX
    min_count: int | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """One Workload to be."""

    parts: tuple[Part, ...]
    name: str | None = None
    """Its name, None where it follows from that of its owner."""
    owner: str | None = None
    """What it is called after, None for the job's own name."""
    group: bool = False
    """Whether it is that of pods which are made one by one."""


def template_metadata(template: Object) -> Object:
    """Return the metadata of a pod template."""
    found: Object = template.get("metadata") or {}
    return found


def notes_of(value: Object) -> Mapping[str, str]:
    """Return the annotations of an object or a template."""
    found: Mapping[str, str] = template_metadata(value).get("annotations") or {}
    return found


def labels_of(value: Object) -> Mapping[str, str]:
    """Return the labels of an object or a template."""
    found: Mapping[str, str] = template_metadata(value).get("labels") or {}
    return found
