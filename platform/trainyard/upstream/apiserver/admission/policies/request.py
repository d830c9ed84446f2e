"""What a policy is asked about: an object, what is done with it, and what is known of its surroundings.

Fields that only a server fills in are unknown: an expression that needs one has no answer here, not a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trainyard.base.labels import NAMESPACE
from trainyard.upstream.apiserver.admission.policies import admitted
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.cel import Unknown

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
Object = dict[str, Any]

SERVER_FIELDS = ("creationTimestamp", "generation", "managedFields", "uid")
"""Metadata that a server has filled in by the time policies look at an object."""


class Partial(dict[Any, Any]):
    """A map of which some entries are there, but only a server knows what they are."""

    def __init__(self, known: Mapping[Any, Any], unknown: Mapping[str, str]) -> None:
        super().__init__(known)
        self.unknown = {key: why for key, why in unknown.items() if key not in known}

    def __missing__(self, key: Any) -> Any:
        self._refuse(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self.unknown

    def get(self, key: Any, default: Any = None) -> Any:
        """Return an entry; raises Unknown for one that only a server knows."""
        self._refuse(key)
        return super().get(key, default)

    def _refuse(self, key: object) -> None:
        if isinstance(key, str) and key in self.unknown:
            raise Unknown(self.unknown[key])


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as requests name it; `equivalents` are the other versions that the server has of it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    equivalents: tuple[Resource, ...] = ()
    convertible: bool = True
    """Whether, as an equivalent, its objects are those asked for with its apiVersion; else the server converts."""

    @property
    def api_version(self) -> str:
        """Group and version as manifests write them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_namespaces(self) -> bool:
        """Whether it is that of namespaces themselves."""
        return not self.group and self.plural == "namespaces"


CLUSTER_SCOPED = frozenset(
    {
        "APIService", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding",
        "CustomResourceDefinition", "DeviceClass", "FlowSchema", "IngressClass", "MutatingWebhookConfiguration",
        "Namespace", "Node", "PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "RuntimeClass",
        "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration", "VolumeAttachment",
    }
)  # fmt: skip
"""Kinds of Kubernetes itself that live in no namespace, for objects whose schema is not at hand."""


def guess(group: str, version: str, kind: str) -> Resource:
    """Name the resource of a kind whose schema is not at hand, as UnsafeGuessKindToResource of apimachinery does."""
    lower = kind.lower()
    if lower.endswith("s"):
        plural = f"{lower}es"
    elif lower.endswith("y"):
        plural = f"{lower[:-1]}ies"
    else:
        plural = f"{lower}s"
    return Resource(group, version, kind, "endpoints" if lower == "endpoints" else plural, kind not in CLUSTER_SCOPED)


def guess_of(api_version: str, kind: str) -> Resource:
    """Name the resource of an apiVersion and kind."""
    group, _, version = api_version.rpartition("/")
    return guess(group, version, kind)


def served_resource(kind: Kind, versions: Iterable[Kind] = ()) -> Resource:
    """Name the resource of a kind that is served; `versions` are all versions of it that are."""

    def resource(version: Kind, equivalents: tuple[Resource, ...] = ()) -> Resource:
        same = version is kind or version.schema.get("properties") == kind.schema.get("properties")
        names = (version.group, version.version, version.kind, version.plural)
        return Resource(*names, version.namespaced, equivalents, convertible=same)

    return resource(kind, tuple(resource(version) for version in versions if version is not kind and version.served))


@dataclass(frozen=True, slots=True)
class Request:
    """One write: the object as it will be, defaults included, and as it was."""

    resource: Resource
    object: Object | None
    old: Object | None = None
    operation: Operation = "CREATE"
    subresource: str = ""
    user: Mapping[str, Any] | None = None
    """Who asks, as `request.userInfo` has it; None: only the server knows."""

    @property
    def subject(self) -> Object:
        """The object, or the old one where it is deleted."""
        return self.object or self.old or {}

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The object's metadata."""
        found = self.subject.get("metadata")
        return found if isinstance(found, Mapping) else {}

    @property
    def name(self) -> str:
        """The object's name; empty for one that the server is to name."""
        return str(self.metadata.get("name") or "")

    @property
    def namespace(self) -> str:
        """The namespace of the request: for a Namespace its own name, empty for other cluster-scoped objects."""
        if self.resource.is_namespaces:
            return self.name
        return str(self.metadata.get("namespace") or "default") if self.resource.namespaced else ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the cluster beside the object: namespaces by name, and parameters of policies.

    With `complete`, what is not listed does not exist; else it may, and cannot be known.
    """

    namespaces: Mapping[str, Object] = field(default_factory=dict)
    objects: tuple[Object, ...] = ()
    complete: bool = False
    namespaced: Callable[[str, str], bool] = field(
        default=lambda api_version, kind: guess_of(api_version, kind).namespaced
    )
    """Whether objects of an apiVersion and kind live in a namespace."""

    def of_kind(self, api_version: str, kind: str) -> Iterator[Object]:
        """Yield the known objects of a kind."""
        return (item for item in self.objects if item.get("apiVersion") == api_version and item.get("kind") == kind)

    def namespace(self, name: str) -> Object | None:
        """Return a namespace with what the server adds to it, None where it is not known."""
        known = self.namespaces.get(name)
        if known is None:
            return None
        given = known.get("metadata") or {}
        labels = {**(given.get("labels") or {}), NAMESPACE: name}
        why = f"the {{}} of namespace {name!r}"
        fields = {key: why.format(key) for key in (*SERVER_FIELDS, "resourceVersion")}
        return {
            "metadata": Partial({**given, "name": name, "labels": labels}, fields),
            "spec": {"finalizers": ["kubernetes"], **(known.get("spec") or {})},
            "status": {"phase": "Active"},
        }


def as_admitted(value: Object | None, request: Request) -> Object | None:
    """Return an object as policies see it: with what the server adds, and unknown where only it can tell."""
    if value is None:
        return None
    asked = request.resource
    value = admitted.complete(value, asked.group, asked.kind)
    if chosen := admitted.assigned_fields(value, asked.group, asked.kind):
        value = {**value, "spec": Partial(value["spec"], chosen)}
    given = value.get("metadata")
    metadata = dict(given) if isinstance(given, Mapping) else {}
    unknown = {key: f"the {key} that the server sets" for key in SERVER_FIELDS}
    if not metadata.get("name"):
        metadata.pop("name", None)
        unknown["name"] = "the name that the server generates"
    if request.resource.namespaced and not request.resource.is_namespaces:
        metadata["namespace"] = request.namespace
    return {**value, "metadata": Partial(metadata, unknown)}


def request_object(request: Request, matched: Resource) -> Object:
    """Return the variable `request`: who asks and with which options only the server knows."""
    asked = request.resource
    known: Object = {
        "uid": "",
        "kind": kind_of(matched),
        "resource": resource_of(matched),
        "requestKind": kind_of(asked),
        "requestResource": resource_of(asked),
        "operation": request.operation,
        "dryRun": False,
    }
    if request.subresource:
        known |= {"subResource": request.subresource, "requestSubResource": request.subresource}
    if request.namespace:
        known["namespace"] = request.namespace
    if request.name:
        known["name"] = request.name
    unknown = {"userInfo": "the requesting user", "options": "the options of the request"}
    if request.user is not None:
        known["userInfo"] = dict(request.user)
    if not request.name:
        unknown["name"] = "the name that the server generates"
    return Partial(known, unknown)


def kind_of(resource: Resource) -> dict[str, str]:
    """Return a kind as `request.kind` has it."""
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def resource_of(resource: Resource) -> dict[str, str]:
    """Return a resource as `request.resource` has it."""
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}
