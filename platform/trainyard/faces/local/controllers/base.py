"""What controllers make of an object: pods as the API server would store them, and the objects beside them."""

from __future__ import annotations

import copy
import hashlib
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trainyard.base.errors import TrainyardError
from trainyard.base.manifests import group_of, identity_of

Object = dict[str, Any]

NAMESPACE = "default"
"""Where an object is that names no namespace, as for kubectl."""

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Of random names (kubernetes v1.35 apimachinery pkg/util/rand)."""

IDS = uuid.UUID("6a1c2f8e-8f0b-4d0e-9b70-0f6f1c0f5a11")


class RunError(TrainyardError):
    """An object that no controller would make pods of, or whose pods cannot run here."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a job: whose it is, and the object itself."""

    role: str
    """What the job calls it: a replicated job, a replica type or a task, in lower case."""
    index: int
    """Its place among the pods of its role."""
    value: Object
    job: str = ""
    """Name of the Job that it belongs to, where a controller makes Jobs; else of the object itself."""

    @property
    def name(self) -> str:
        """Its name; where the server would draw letters, they follow from the rest of the name."""
        found: str = self.value["metadata"]["name"]
        return found

    @property
    def spec(self) -> Object:
        """Its specification."""
        found: Object = self.value["spec"]
        return found

    @property
    def hostname(self) -> str:
        """What it calls itself: its hostname, or its name as far as a host name may reach (63 characters)."""
        return str(self.spec.get("hostname") or self.name[:63].rstrip("-."))


@dataclass(frozen=True, slots=True)
class Made:
    """What a controller makes of one object."""

    pods: tuple[Pod, ...]
    objects: tuple[Object, ...] = ()
    """Services, ConfigMaps and Secrets; of Secrets the keys alone."""


@dataclass(frozen=True, slots=True)
class Objects:
    """All objects that there are, by what tells them apart."""

    values: tuple[Object, ...]
    known: Mapping[tuple[str, str, str], Object] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Iterable[Mapping[str, Any]]) -> Objects:
        """Return the objects with an index; of two of one name the last counts."""
        found = tuple(copy.deepcopy(dict(value)) for value in values)
        known = {}
        for value in found:
            identity = identity_of(value)
            known[identity.kind, identity.namespace, identity.name] = value
        return cls(found, known)

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return an object; one that says no namespace is in every one."""
        return self.known.get((kind, namespace, name)) or self.known.get((kind, "", name))


class Controller(ABC):
    """What one operator's controller makes of its kind."""

    kind: str
    group: str
    versions: ClassVar[frozenset[str]] = frozenset()
    """Versions that it knows, where another controller has others; empty: all."""

    @abstractmethod
    def make(self, job: Object, objects: Objects) -> Made:
        """Return the pods and objects that the controller makes of the object."""

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is of its kind."""
        api_version = str(value.get("apiVersion") or "")
        version = api_version.rpartition("/")[2]
        same = group_of(api_version) == self.group and value.get("kind") == self.kind
        return same and (not self.versions or version in self.versions)


def name_of(value: Mapping[str, Any]) -> str:
    """Return an object's name."""
    return str(value["metadata"]["name"])


def namespace_of(value: Mapping[str, Any]) -> str:
    """Return an object's namespace."""
    return str(value["metadata"].get("namespace") or NAMESPACE)


def uid(*parts: str) -> str:
    """Return the identifier of an object, always the same."""
    return str(uuid.uuid5(IDS, "/".join(parts)))


def letters(*parts: str, count: int = 5) -> str:
    """Return the random suffix that the server would draw for a name, always the same."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:count])


def generated(prefix: str, *parts: str) -> str:
    """Return a name with five drawn letters; the server cuts what is before them at 58 characters."""
    return prefix[:58] + letters(prefix, *parts)


def pod(
    template: Mapping[str, Any],
    name: str,
    namespace: str,
    *,
    stem: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """Return a pod of a template: its own metadata and what is added to it; `stem` is its name but what is drawn."""
    body = copy.deepcopy(dict(template))
    metadata = body.get("metadata") or {}
    spec = body.get("spec") or {}
    if not spec.get("containers"):
        raise RunError(f"pod {name!r} has no containers; write one into its template")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            **({"generateName": stem} if stem else {}),
            "namespace": namespace,
            "uid": uid("Pod", namespace, name),
            "labels": {**(metadata.get("labels") or {}), **(labels or {})},
            "annotations": {**(metadata.get("annotations") or {}), **(annotations or {})},
        },
        "spec": spec,
    }


def variable(name: str, value: object) -> Object:
    """Return an environment variable."""
    return {"name": name, "value": str(value)}


def from_field(name: str, path: str) -> Object:
    """Return an environment variable from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def add(container: Object, *variables: Object) -> None:
    """Append variables; of two of one name the kubelet takes the last."""
    container["env"] = [*(container.get("env") or ()), *variables]


def add_to_all(containers: Iterable[Object], *variables: Object) -> None:
    """Append the same variables to each of some containers."""
    for container in containers:
        add(container, *variables)


def has(container: Mapping[str, Any], name: str) -> bool:
    """Whether a container says a variable itself."""
    return any(one_variable.get("name") == name for one_variable in container.get("env") or ())


def upsert(items: list[Object], *new: Object, key: str = "name") -> list[Object]:
    """Return a list in which items of a known key are replaced in their place, and others appended."""
    found = list(items)
    for item in new:
        at = next((index for index, old in enumerate(found) if old.get(key) == item.get(key)), None)
        if at is None:
            found.append(item)
        else:
            found[at] = item
    return found


def mount(spec: Object, container: Object, volume: Object, path: str, **more: Any) -> None:
    """Add a volume to a pod and mount it in one of its containers."""
    if all(one_volume.get("name") != volume["name"] for one_volume in spec.get("volumes") or ()):
        spec["volumes"] = [*(spec.get("volumes") or ()), volume]
    entry = {"mountPath": path, "name": volume["name"], **more}
    container["volumeMounts"] = [*(container.get("volumeMounts") or ()), entry]


def service(
    name: str, namespace: str, selector: Mapping[str, str], ports: Iterable[Object] = (), *, unready: bool = False
) -> Object:
    """Return a headless Service; with `unready` it knows pods that are not ready too."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "selector": dict(selector),
            **({"ports": list(ports)} if ports else {}),
            **({"publishNotReadyAddresses": True} if unready else {}),
        },
    }


def config_map(name: str, namespace: str, data: Mapping[str, str]) -> Object:
    """Return a ConfigMap."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def secret(name: str, namespace: str, *keys: str, of: str = "Opaque") -> Object:
    """Return a Secret that an operator draws, with its keys and no values: whoever runs the pods draws those."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": of, "data": dict.fromkeys(keys, "")}


def count(value: Any, default: int) -> int:
    """Return a number of pods, the default where none is said."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default
