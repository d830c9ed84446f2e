"""What a row of the table says: where templates stand, how many pods are made of each, and what those are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import Path
from trainyard.base.manifests import ANY, matches, value_at, whole_number
from trainyard.upstream.workloads.arriving import Arriving
from trainyard.upstream.workloads.claims import Loses
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import Integration
from trainyard.upstream.workloads.unread import Reasons
from trainyard.upstream.workloads.variables import Variables

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PodSet:
    """Equal pods of one object, as Kueue counts them: a name, how many, and where their template stands."""

    name: str
    count: int
    template: Path
    """Path of the PodTemplateSpec in the object; its metadata and its spec are below it."""
    counted: bool = True
    """Whether Kueue counts them: of replicas by role it knows some roles, and others run beside its quota."""


Count = Callable[[Object], int]
Name = Callable[[Object], str]


def one(_: Object) -> int:
    """Return 1: there is one such pod, whatever the object says."""
    return 1


def replicas(holder: Object) -> int:
    """Return `replicas`, 1 where nothing is said."""
    return max(0, number(holder, "replicas", 1))


def pods_of_job(spec: Object) -> int:
    """Return how many pods of a Job run at once: parallelism, but not more than completions (kueue v0.19.2).

    pkg/controller/jobs/job/job_controller.go podsCount.
    """
    parallelism = number(spec, "parallelism", 1)
    return max(0, min(parallelism, number(spec, "completions", parallelism)))


def by_field(name: str) -> Name:
    """Return a namer that reads a field of the holder, in lower case as Kueue names its pod sets."""
    return lambda holder: text(holder, name).lower()


@dataclass(frozen=True, slots=True)
class Template:
    """Where one sort of a kind's pods stands: a pattern of what holds the template, and the way from there."""

    holder: Path
    within: Path = ("template",)
    name: str | Name = "main"
    """What Kueue calls the pods; the name of a role is its key, in lower case."""
    count: Count = one
    roles: tuple[str, ...] | None = None
    """Where holders are values of a map, by role: those that Kueue counts, in its order; elsewhere None."""

    @property
    def pattern(self) -> Path:
        """Pattern of the template itself, from the object's root."""
        return (*self.holder, *self.within)

    @property
    def collection(self) -> Path:
        """Path of the list or map whose items hold the template; of the holder itself where there is one alone."""
        return self.holder[: self.holder.index(ANY)] if ANY in self.holder else self.holder

    def pod_sets(self, value: Object) -> Iterator[PodSet]:
        """Yield the pod sets of an object: roles in Kueue's order, those that it does not count at the end."""
        for path, holder in self._holders(value):
            where = (*path, *self.within)
            if isinstance(holder, Mapping) and isinstance(value_at(holder, self.within), Mapping):
                role = str(path[-1]) if self.roles is not None else ""
                name = role.lower() or (self.name if isinstance(self.name, str) else self.name(holder))
                yield PodSet(name, self.count(holder), where, not role or role in (self.roles or ()))

    def _holders(self, value: Object) -> list[tuple[Path, Any]]:
        found = list(matches(value, self.holder))
        if self.roles is not None:
            order = {role: place for place, role in enumerate(self.roles)}
            found.sort(key=lambda match: order.get(str(match[0][-1]), len(order)))
        return found


@dataclass(frozen=True, slots=True)
class Exclusive:
    """How jobs of a kind ask for domains of a topology of their own, by affinities that its webhook adds to pods."""

    annotation: str
    """What names the label of domains, at the object."""
    label: str
    """What pods of one group have in common."""
    group: Path | None = None
    """From what holds a pod template, the way to a template of groups that may have the annotation too."""
    size: Path | None = None
    """From there, how many pods a group has; None where all pods of a Workload are one."""


SPEC: Path = ("spec",)
PLAIN = (Template(SPEC, count=replicas),)
"""The one template in `spec`, as often as `replicas` says."""


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
    """Name in Kueue's `integrations.frameworks` (kueue v0.19.2 pkg/controller/jobs).

    Of a kind that a controller of one's own brings to Kueue: `Kind.version.group`, as in `externalFrameworks`.
    """
    queueing: Integration | None = None
    """What Kueue's own integration takes; None where Kueue has none, or its webhook has other rules for the kind."""
    suspend: Path | None = None
    """The field that holds it suspended."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists of its own, by name, with the fields that tell items apart (its definition's list-map-keys, if any)."""
    trains: bool = False
    """Whether it carries training, which has an end or a gang; services and single pods do not."""
    ending: Ending | None = None
    """How it says that it has ended; None where it has no end, or says none."""
    makes: bool = False
    """Whether it makes objects that train, on a schedule or on demand, or is their template."""
    idle: bool = False
    """Whether no pod is made of it until another object asks for it."""
    namespaced: bool = True
    """Whether it lives in a namespace, whose rules then hold for its pods."""
    variables: Variables | None = None
    """Environment variables that its operator sets; None where nobody here knows them."""
    arriving: Arriving | None = None
    """Containers that its operator adds to pods; None where it adds none."""
    exclusive: Exclusive | None = None
    """How its jobs ask for domains of their own; None where they cannot."""
    volumes: tuple[str, ...] = ()
    """How names of volumes end that its controller adds, and that a container may mount therefore."""
    loses: Loses | None = None
    """Whether deleting an object deletes claims that were made of its templates; None where none are made."""
    unread: Reasons = field(default_factory=dict)
    """Readers of pods that have nothing to say of it, each with the reason."""
    embeds: Path | None = None
    """Pattern of whole objects of other kinds that it holds and creates."""
    counts: frozenset[tuple[str, str]] = frozenset()
    """Groups and kinds of these whose pods its operator finds by itself, so that Kueue counts them."""

    def template(self, name: str) -> Template | None:
        """Return the template that is always called so, None where the kind has none."""
        return next((template for template in self.templates if template.name == name), None)

    def pod_sets(self, value: Object) -> list[PodSet]:
        """Return the pod sets of an object, in the order of its row; a malformed one has none."""
        return [pod_set for template in self.templates for pod_set in template.pod_sets(value)]


def inner(value: Any, *path: str) -> Object:
    """Return the map at a path of keys, an empty one where there is none."""
    found = value_at(value, path)
    return found if isinstance(found, Mapping) else {}


def number(value: Object, name: str, default: int) -> int:
    """Return a whole number that a field says, else the default."""
    found = whole_number(value, name)
    return default if found is None else found


def text(value: Object, name: str) -> str:
    """Return the text that a field says, else an empty one."""
    found = value.get(name)
    return found if isinstance(found, str) else ""
