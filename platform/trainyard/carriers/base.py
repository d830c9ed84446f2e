"""What a row of the table says: where templates stand, how many pods are made of each, and what those are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.findings import Path

Object = Mapping[str, Any]

ANY = "*"
"""In a pattern: every item of a list, or value of a map."""


@dataclass(frozen=True, slots=True)
class PodSet:
    """Equal pods of one object, as Kueue counts them: a name, how many, and where their template stands."""

    name: str
    count: int
    template: Path
    """Path of the PodTemplateSpec in the object."""


Count = Callable[[Object], int]
Name = Callable[[Object, str | int | None], str]


def one(_: Object) -> int:
    """Return 1: there is one such pod, whatever the object says."""
    return 1


def replicas(holder: Object) -> int:
    """Return `replicas`, 1 where nothing is said."""
    return max(0, number(holder, "replicas", 1))


def of_job(spec: Object) -> int:
    """Return how many pods of a Job run at once: the lesser of parallelism and completions (kueue v0.19.2).

    pkg/controller/jobs/job/job_controller.go.
    """
    stated = [value for name in ("parallelism", "completions") if type(value := spec.get(name)) is int]
    return max(0, min(stated)) if stated else 1


def of_replicated_job(job: Object) -> int:
    """Return the pods of all replicas of a JobSet's replicated job."""
    return replicas(job) * of_job(inner(job, "template", "spec"))


def of_group(group: Object) -> int:
    """Return the pods of a Ray worker group: replicas times hosts (kueue v0.19.2 pkg/controller/jobs/raycluster)."""
    return replicas(group) * max(1, number(group, "numOfHosts", 1))


def of_followers(template: Object) -> int:
    """Return the workers of one group of a LeaderWorkerSet: its size, less the leader where that has its own pods."""
    return max(0, number(template, "size", 1) - int(isinstance(template.get("leaderTemplate"), Mapping)))


def named(name: str) -> Name:
    """Return a namer that always says the same."""
    return lambda _holder, _key: name


def by_field(name: str) -> Name:
    """Return a namer that reads a field of the holder."""
    return lambda holder, _key: text(holder, name)


def by_key(_holder: Object, key: str | int | None) -> str:
    """Return the key of the holder in its map, lower case."""
    return str(key).lower()


def of_lws(template: Object, _key: str | int | None) -> str:
    """Return what the followers of a LeaderWorkerSet are called (kueue v0.19.2 pkg/controller/jobs/leaderworkerset)."""
    return "worker" if isinstance(template.get("leaderTemplate"), Mapping) else "main"


@dataclass(frozen=True, slots=True)
class Template:
    """Where one sort of a kind's pods stands: a pattern of what holds the template, and the way from there."""

    holder: Path
    within: Path = ("template",)
    name: Name = field(default_factory=lambda: named("main"))
    count: Count = one

    @property
    def pattern(self) -> Path:
        """Pattern of the template itself, from the object's root."""
        return (*self.holder, *self.within)


@dataclass(frozen=True, slots=True)
class Carrier:
    """One kind that pods are made of."""

    group: str
    """API group; empty for core."""
    kind: str
    templates: tuple[Template, ...] = ()
    operator: str | None = None
    """The project that reconciles it, as schemas and releases name it; None: Kubernetes itself."""
    framework: str | None = None
    """Name in Kueue's `integrations.frameworks` (kueue v0.19.2 pkg/controller/jobs)."""
    suspend: Path | None = None
    """The field that holds it suspended."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists of its own, by name, with the fields that tell their items apart (its definition's list-map-keys)."""
    trains: bool = False
    """Whether it carries training, which has an end or a gang; services and single pods do not."""
    idle: bool = False
    """Whether no pod is made of it until another object asks for it."""

    def pod_sets(self, value: Object) -> list[PodSet]:
        """Return the pod sets of an object, in the order in which it names them; a malformed one has none."""
        found: list[PodSet] = []
        for template in self.templates:
            for path, holder, key in matches(value, template.holder):
                if isinstance(at(holder, template.within), Mapping):
                    where = (*path, *template.within)
                    found.append(PodSet(template.name(holder, key), template.count(holder), where))
        return found


def matches(value: Any, pattern: Path, here: Path = ()) -> Iterator[tuple[Path, Object, str | int | None]]:
    """Yield path, value and last key of every map at a pattern."""
    if not pattern:
        if isinstance(value, Mapping):
            yield here, value, here[-1] if here else None
    elif pattern[0] == ANY:
        items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            yield from matches(item, pattern[1:], (*here, key))
    elif isinstance(value, Mapping):
        yield from matches(value.get(pattern[0]), pattern[1:], (*here, pattern[0]))


def at(value: Any, path: Path) -> Any:
    """Return the value at a path of keys, None where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def inner(value: Any, *path: str) -> Object:
    """Return the map at a path of keys, an empty one where there is none."""
    found = at(value, path)
    return found if isinstance(found, Mapping) else {}


def number(value: Object, name: str, default: int) -> int:
    """Return a whole number that a field says, else the default."""
    found = value.get(name)
    return found if type(found) is int else default


def text(value: Object, name: str) -> str:
    """Return the text that a field says, else an empty one."""
    found = value.get(name)
    return found if isinstance(found, str) else ""
