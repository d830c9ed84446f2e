"""The answer of a mutating webhook, which spells out every field of a Go type, even those that the manifest left out.

A mutating webhook that changes an object answers with the difference to its encoded form. What Go writes is added or
put right: fields that are never left out, with their zero value; zero values for null in lists and maps; quantities in
canonical spelling. What Go would leave out stays as it was written. Source: controller-runtime v0.24.1
pkg/webhook/admission/defaulter_custom.go; the Go types of the operators, whose required fields are the ones that are
never left out, but for those named here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import TYPE, Schema
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.webhooks.decoded import quantity

Write = Callable[[Any], None]

_STRUCTS = frozenset(
    {"metadata", "rayClusterConfig", "rolloutStrategy", "runPolicy", "scaleStrategy", "spec", "template"}
)
"""Structs that are fields by value, so that Go always writes them, required or not."""
_ALWAYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("containers", "ephemeralContainers", "initContainers"), ("resources",)),
    **dict.fromkeys(("dataSource", "dataSourceRef"), ("apiGroup",)),
    "projected": ("sources",),
    "resourceFieldRef": ("divisor",),
    **dict.fromkeys(("headGroupSpec", "workerGroupSpecs"), ("rayStartParams",)),
}
"""Further fields that are always written, by the field that holds them; core/v1 of Kubernetes 1.35, ray/v1."""
_LEFT_OUT: Mapping[str, frozenset[str]] = {
    "exitCodes": frozenset({"operator"}),
    "podCertificate": frozenset({"keyType", "signerName"}),
    "restartPolicyRules": frozenset({"action"}),
}
"""Required fields of core/v1 that are left out where they are empty."""
_QUOTA: Mapping[str, frozenset[str]] = {
    "admissionChecks": frozenset({"name"}),
    "admissionChecksStrategy": frozenset({"admissionChecks"}),
    "admissionScope": frozenset({"admissionMode"}),
    "concurrentAdmissionPolicy": frozenset({"migration"}),
    "flavors": frozenset({"resources"}),
    "migration": frozenset({"mode"}),
    "resourceGroups": frozenset({"coveredResources", "flavors"}),
    "resources": frozenset({"name"}),
}
_POINTERS = frozenset(
    {
        *("completionMode", "fsGroupChangePolicy", "gmsaCredentialSpec", "gmsaCredentialSpecName", "hostnameOverride"),
        *("localhostProfile", "mountPropagation", "namespace", "nodeAffinityPolicy", "nodeTaintsPolicy"),
        *("podReplacementPolicy", "preemptionPolicy", "preference", "procMount", "recursiveReadOnly"),
        *("resourceClaimName", "resourceClaimTemplateName", "restartPolicy", "runAsUserName", "runtimeClassName"),
        *("seLinuxChangePolicy", "stopPolicy", "stopSignal", "storageClassName", "supplementalGroupsPolicy"),
        *("volumeAttributesClassName", "volumeMode"),
    }
)
"""Texts behind pointers, which are kept though they are empty: core/v1 of Kubernetes 1.35, Kueue's v1beta1."""
_NULLS = frozenset({"apiGroup", "intervalSeconds", "maxReplicas", "minReplicas", "stepSizePercent", "subdomainPolicy"})
"""Fields behind pointers that are always written, as null where they are nothing: core/v1, ray/v1, lws v1."""
_NAMED = frozenset({"name"})
_PATCHES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("containers", "initContainers", "replicatedJobs", "runtimeRef"), _NAMED),
    "runtimePatches": frozenset({"manager"}),
    "spec": frozenset({"runtimeRef"}),
}


@dataclass(frozen=True, slots=True)
class _Family:
    """How the Go types of some kinds differ from what their schemas require."""

    left_out: Mapping[str, AbstractSet[str]] = field(default_factory=lambda: _LEFT_OUT)
    structs: AbstractSet[str] = _STRUCTS
    always: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _ALWAYS)


_COMMON = _Family()
_FAMILIES: Mapping[tuple[str, str, str], _Family] = {
    ("kueue.x-k8s.io", "v1beta2", "ClusterQueue"): _Family(_QUOTA),
    ("trainer.kubeflow.org", "v1alpha1", "TrainJob"): _Family(
        _PATCHES, frozenset(), {"resourceFieldRef": ("divisor",), "projected": ("sources",)}
    ),
}
"""Kinds whose types leave more out: pointers and `omitempty` nearly throughout."""
_PLAIN: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def rewrite(value: Any, kind: Kind) -> None:
    """Put into an object, in place, what a webhook's answer adds and puts right."""
    compile_rewrites(kind)(value)


def write(value: Any, node: Schema, holder: str) -> None:
    """Put into a part of an object, in place, what Go writes; `holder` is the field that it stands in."""
    _part(_Node(node), holder)(value)


def encode_value(value: Any, node: Schema) -> Any:
    """Return a value as Go encodes it alone, after a conversion: what is empty and not required is gone."""
    if isinstance(value, list):
        items = node.get("items") or {}
        return [encode_value(element, items) for element in value]
    if not isinstance(value, dict):
        return value
    fields, rest, required = node.get("properties") or {}, node.get("additionalProperties"), node.get("required") or ()
    found = {}
    for name, part in value.items():
        below = fields.get(name) or (rest if isinstance(rest, dict) else {})
        if name in required or name not in fields or not is_left_out(part, name, below):
            found[name] = encode_value(part, below)
    return found


def is_left_out(value: Any, name: str, node: Schema) -> bool:
    """Whether Go leaves an optional field out: null, empty text, lists and maps, but nothing behind a pointer."""
    kind = node.get("type")
    if value is None or (value == [] and kind == "array"):
        return True
    if value == "":
        return kind == "string" and name not in _POINTERS
    return value == {} and kind == "object" and "properties" not in node


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node of a schema that is alive as long as its kind: it is told by its identity."""

    schema: Schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and self.schema is other.schema

    def __hash__(self) -> int:
        return id(self.schema)


@lru_cache(maxsize=64)
def _part(node: _Node, holder: str) -> Write:
    return _Writer(_COMMON).node(node.schema, holder)


@lru_cache(maxsize=64)
def compile_rewrites(kind: Kind) -> Write:
    """Compile what is written into objects of a kind."""
    family = _FAMILIES.get((kind.group, kind.version, kind.kind), _COMMON)
    return _Writer(family).node(kind.schema, "")


@dataclass(frozen=True, slots=True)
class _Writer:
    family: _Family

    def node(self, node: Schema, holder: str) -> Write:
        """Compile one node; `holder` is the field that holds it, or the list that it is an element of."""
        if TYPE in node:
            return _nothing
        if node.get("type") == "array" and isinstance(items := node.get("items"), dict):
            return self.array(items, holder, keys=node.get("x-kubernetes-list-map-keys") or ())
        if isinstance(fields := node.get("properties"), dict):
            return self.struct(node, fields, holder)
        values = node.get("additionalProperties")
        return self.map(values, holder) if isinstance(values, dict) else _nothing

    def struct(self, node: Schema, fields: Schema, holder: str) -> Write:
        """Compile a struct; its fields are compiled when an object first has them."""
        written = (set(node.get("required", ())) - self.family.left_out.get(holder, frozenset())) | (
            self.family.structs & fields.keys() if holder or "spec" not in fields else self.family.structs & {"spec"}
        )
        written |= set(self.family.always.get(holder, ())) & fields.keys()
        zeros = {name: self.zero(fields[name], name) for name in fields if name in written}
        below: dict[str, Write] = {}
        amounts = {name for name in fields if is_amount(fields[name])}

        def write(value: Any) -> None:
            if type(value) is not dict:
                return
            for name, zero in zeros.items():
                if value.get(name) is None:
                    value[name] = {} if zero == {} else zero
            for name, part in value.items():
                if type(part) is dict or type(part) is list:
                    if name not in below:
                        below[name] = self.node(fields.get(name) or {}, name)
                    below[name](part)
                elif name in amounts and part is not None:
                    value[name] = quantity(part)

        return write

    def map(self, values: Schema, holder: str) -> Write:
        """Compile a map: null is the zero value."""
        zero, inside, amount = self.zero(values, ""), self.node(values, holder), is_amount(values)

        def write(value: Any) -> None:
            if type(value) is not dict:
                return
            for name, part in value.items():
                if part is None:
                    part = value[name] = {} if zero == {} else zero  # noqa: PLW2901  # what is written next
                elif amount:
                    value[name] = quantity(part)
                inside(part)

        return write

    def array(self, items: Schema, holder: str, *, keys: Sequence[str]) -> Write:
        """Compile a list: null is an element, the zero value.

        Server-side apply has looked for the keys of a list before, and refuses an element that is null or has none.
        """
        zero, inside = self.zero(items, ""), self.node(items, holder)

        def write(value: Any) -> None:
            if type(value) is not list:
                return
            for index, part in enumerate(value):
                if keys and not (type(part) is dict and any(key in part for key in keys)):
                    continue
                if part is None:
                    part = value[index] = {} if zero == {} else zero  # noqa: PLW2901  # what is written next
                inside(part)

        return write

    def zero(self, node: Schema, name: str) -> Any:
        """Return Go's zero value for a node: lists, maps and pointers are null."""
        if node.get("x-kubernetes-int-or-string"):
            return "0" if "pattern" in node else 0
        if node.get("type") == "object" and ("properties" in node or name in self.family.structs):
            return {}
        return None if name in _NULLS else _PLAIN.get(str(node.get("type")))


def is_amount(node: object) -> bool:
    """Whether a node is a quantity, which a CRD spells as int-or-string with a pattern."""
    return isinstance(node, dict) and bool(node.get("x-kubernetes-int-or-string")) and "pattern" in node


def _nothing(_: Any) -> None:
    """Leave a value as it is."""
