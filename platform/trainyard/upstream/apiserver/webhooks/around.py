"""What a webhook sees: the object, the one before, and whatever else of the same cluster is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trainyard.base.labels import NAMESPACE
from trainyard.base.versions import is_since
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.core.selectors import matches
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, inner, text
from trainyard.upstream.apiserver.gates import Gates
from trainyard.upstream.apiserver.problems import UNKNOWN, Path, Problem, Rule
from trainyard.upstream.kueue.scope import EVERYTHING, Scope

CONSULTED = frozenset(
    {
        "ClusterTrainingRuntime",
        "LocalQueue",
        "Namespace",
        "PersistentVolumeClaim",
        "Queue",
        "ServiceCIDR",
        "StorageClass",
        "TrainingRuntime",
    }
)
"""Kinds whose objects are looked up, or gone through, when others are judged."""


@dataclass(frozen=True)
class Around:
    """The other objects of the same cluster, as far as they are known; what is not among them may still exist."""

    objects: tuple[Object, ...] = ()
    complete: bool = False
    """Whether nothing else exists, so that a name that is not found is wrong."""
    gates: Gates = field(default_factory=Gates)
    """Feature gates whose state somebody said."""
    scope: Scope = EVERYTHING
    """Which jobs Kueue looks at, as far as somebody said."""

    def is_managed(self, namespace: str) -> bool | None:
        """Whether Kueue looks at jobs of a namespace; None where its labels are not known, or nobody can tell."""
        selector = self.scope.namespaces
        if selector is None:
            return True
        found = self.find("", "Namespace", namespace)
        if found is None:
            return None
        return matches(selector, {**labels_of(found), NAMESPACE: namespace})

    @cached_property
    def _index(self) -> dict[tuple[str, str], list[Object]]:
        found: dict[tuple[str, str], list[Object]] = {}
        for item in self.objects:
            if (kind := text(item, "kind")) in CONSULTED:
                found.setdefault((text(item, "apiVersion").rpartition("/")[0], kind), []).append(item)
        return found

    def of(self, group: str, kind: str, *, namespace: str | None = None) -> Iterator[Object]:
        """Yield the objects of a kind, of one namespace where it is given."""
        for document in self._index.get((group, kind), ()):
            if namespace is None or namespace_of(document) == namespace:
                yield document

    def find(self, group: str, kind: str, name: str, *, namespace: str | None = None) -> Object | None:
        """Return the object of that name, or None where it is not known."""
        for document in self.of(group, kind, namespace=namespace):
            if name_of(document) == name:
                return document
        return None


def gather_objects(objects: Iterable[Object], *, complete: bool = False) -> Around:
    """Gather objects, in any order, such as all manifests of one cluster's folder."""
    return Around(tuple(objects), complete)


@dataclass(frozen=True)
class Review:
    """One admission request: `value` is what is written, `old` what is stored, None on create."""

    value: Object
    old: Object | None = None
    around: Around = field(default_factory=Around)
    given: Object | None = None
    """The manifest before defaults, which tells an explicit `false` from none."""
    kind: Kind | None = None
    """What serves the object, where a rule reads its schema."""
    releases: Mapping[str, str] = field(default_factory=dict)
    """Releases of what is installed, as they are declared."""

    def since(self, project: str, *firsts: str) -> bool:
        """Whether a project is installed in a release that has a change; one whose release is not told is the newest.

        `firsts` are the first releases with it, one for each line of patches that got it, the oldest first.
        """
        said = self.releases.get(project)
        return not said or is_since(said, *firsts)

    def enabled(self, gate: str, project: str, *firsts: str) -> bool:
        """Whether a feature gate is on: somebody said so, or it is on since the first of these releases.

        Without such releases it is off by default.
        """
        return self.around.gates.enabled(gate, default=bool(firsts) and self.since(project, *firsts))

    @property
    def name(self) -> str:
        """Name of the object; empty while only a prefix is given."""
        return name_of(self.value)

    @property
    def namespace(self) -> str:
        """Namespace of the object, `default` where it says none."""
        return namespace_of(self.value)

    @property
    def spec(self) -> Object:
        """Its specification, or an empty one."""
        return child(self.value, "spec") or EMPTY

    @property
    def old_spec(self) -> Object:
        """The specification before, or an empty one."""
        return child(self.old, "spec") or EMPTY if self.old is not None else EMPTY

    def absent(self, rule: Rule, path: Path, kind: str, name: str) -> Problem:
        """Report a name that no known object has: a webhook that looks it up refuses, unless the cluster holds it."""
        if self.around.complete:
            return rule.missing(path, name, f"the {kind} must exist before")
        message = f"cannot be checked: {kind} {name!r} is not among the inputs; add its file"
        return Problem(path, UNKNOWN, message, rule.source)


def metadata_of(value: Object) -> Object:
    """The metadata of an object, or an empty map."""
    return child(value, "metadata") or EMPTY


def name_of(value: Object) -> str:
    """The name of an object, or an empty text."""
    return text(metadata_of(value), "name")


def namespace_of(value: Object) -> str:
    """The namespace of an object, `default` where it says none."""
    return text(metadata_of(value), "namespace") or "default"


def labels_of(value: Object) -> Object:
    """The labels of an object, or an empty map."""
    return inner(value, "metadata", "labels")


def annotations_of(value: Object) -> Object:
    """The annotations of an object, or an empty map."""
    return inner(value, "metadata", "annotations")
