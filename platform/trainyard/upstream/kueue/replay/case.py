"""A case as values: objects of a cluster, what holds quota from the start, and how Kueue is configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from trainyard.upstream.kueue.model.gates import RELEASE, Gates

Object = Mapping[str, Any]

SECOND = 10**9
BEFORE = 3600 * SECOND
"""How long before the start the first object was made; each next one is a second younger."""

START = "2026-01-01T00:00:00Z"

CYCLE, SETTLE, REST, NOMINATE = "cycle", "settle", "rest", "nominate"

CLUSTER_WIDE = frozenset(
    {
        *("Node", "Namespace", "ResourceFlavor", "Topology", "Cohort", "ClusterQueue", "AdmissionCheck"),
        *("WorkloadPriorityClass", "PriorityClass", "RuntimeClass", "DeviceClass", "ResourceSlice"),
        *("PersistentVolume", "ClusterTrainingRuntime"),
    }
)
"""Kinds without a namespace."""


@dataclass(frozen=True, slots=True)
class Given:
    """An object of a case, with what the API server would have filled in; `created` is in nanoseconds since 1970."""

    kind: str
    namespace: str
    name: str
    uid: str
    created: int
    source: Object
    place: int = 0
    """Which of the case's objects it is, from 0."""

    @property
    def spec(self) -> Object:
        """Its spec."""
        found: Object = self.source.get("spec") or {}
        return found

    @property
    def status(self) -> Object:
        """Its status."""
        found: Object = self.source.get("status") or {}
        return found

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        found: Mapping[str, str] = (self.source.get("metadata") or {}).get("labels") or {}
        return found

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        found: Mapping[str, str] = (self.source.get("metadata") or {}).get("annotations") or {}
        return found


@dataclass(frozen=True, slots=True)
class Case:
    """A question: the mode is one cycle, cycles until nothing changes, or what each Workload would get alone."""

    name: str
    mode: str
    now: int
    config: Object
    admitted: Sequence[Object]
    kinds: Mapping[str, Sequence[Given]]
    """The objects by kind, in their order."""
    count: int
    """How many they are."""
    gates: Gates = field(default_factory=Gates)

    def of(self, kind: str) -> Sequence[Given]:
        """Return the objects of a kind in their order."""
        return self.kinds.get(kind, ())

    def objects(self) -> Iterator[Given]:
        """Yield all objects, kind by kind."""
        for every in self.kinds.values():
            yield from every

    def with_more(self, objects: Sequence[Object], admitted: Sequence[Object] = ()) -> Case:
        """Return the case with objects that came after its own, and what holds quota of them."""
        kinds = dict(self.kinds)
        for kind, more in by_kind(objects, self.count, self.now).items():
            kinds[kind] = [*kinds.get(kind, ()), *more]
        held = [*self.admitted, *admitted]
        return replace(self, kinds=kinds, count=self.count + len(objects), admitted=held)


def read(value: Object) -> Case:
    """Read a case; raises ValueError where it is none."""
    mode = value.get("mode") or SETTLE
    if mode not in (CYCLE, SETTLE, REST, NOMINATE):
        raise ValueError(f'mode "{mode}": want cycle, settle, rest or nominate')
    now = nanoseconds(value.get("now") or START)
    config: Object = value.get("config") or {}
    objects = list(value.get("objects") or ())
    gates = Gates(config.get("featureGates"), str(value.get("release") or RELEASE))
    kinds = by_kind(objects, 0, now)
    return Case(
        str(value.get("name") or ""), mode, now, config, value.get("admitted") or (), kinds, len(objects), gates
    )


def by_kind(objects: Sequence[Object], before: int, now: int) -> dict[str, list[Given]]:
    """Return objects by kind, of which so many others are older."""
    found: dict[str, list[Given]] = {}
    for index, item in enumerate(objects):
        given = _given(item, before + index, now)
        found.setdefault(given.kind, []).append(given)
    return found


def _given(source: Object, index: int, now: int) -> Given:
    metadata: Object = source.get("metadata") or {}
    kind, name = str(source.get("kind")), str(metadata.get("name") or "")
    namespace = "" if kind in CLUSTER_WIDE else str(metadata.get("namespace") or "default")
    created = metadata.get("creationTimestamp")
    at = nanoseconds(created) if created else now - BEFORE + index * SECOND
    uid = str(metadata.get("uid") or (f"{namespace}/{name}" if namespace else name))
    return Given(kind, namespace, name, uid, at, source, index)


def nanoseconds(text: str | datetime) -> int:
    """Read a time as nanoseconds since 1970."""
    if isinstance(text, datetime):
        moment = text if text.tzinfo else text.replace(tzinfo=UTC)
    else:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(moment.timestamp()) * SECOND + moment.microsecond * 1000
