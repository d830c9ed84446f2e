"""Core API types, from the OpenAPI v3 documents of a kube-apiserver: one file for each group and version.

A server serves them at `/openapi/v3/api/v1` and `/openapi/v3/apis/<group>/<version>`; saved, a file is named
`api_v1.json` or `apis_<group>_<version>.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from schemas_crds import digest
from trainyard.upstream.apiserver.catalog.crd import DRAFT, Definition, plain

REF = "#/components/schemas/"
GVK = "x-kubernetes-group-version-kind"
ZEROES: tuple[Any, ...] = ({}, "", 0, False)
"""Defaults that only say that Go has no absent values."""

CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrustBundle",
        "CustomResourceDefinition",
        "DeviceClass",
        "DeviceTaintRule",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "SelfSubjectAccessReview",
        "SelfSubjectReview",
        "SelfSubjectRulesReview",
        "ServiceCIDR",
        "StorageClass",
        "StorageVersionMigration",
        "SubjectAccessReview",
        "TokenReview",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)
"""What OpenAPI does not say without its paths; as the discovery of Kubernetes 1.34 to 1.37 has it."""

SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
SCALABLE = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
KEEP_STATUS = frozenset({"Node", "SelfSubjectReview", "TokenReview"})
"""Kinds whose status a create keeps, by their strategies in kubernetes pkg/registry."""

READ_ONLY = frozenset({"ComponentStatus"})
DEPRECATED = {("", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
"""As in kubernetes v1.35.4 pkg/registry/core/endpoint."""


NOT_REQUIRED = {
    "apiextensions.v1.CustomResourceDefinitionVersion": {"served", "storage"},
    "apps.v1.ControllerRevision": {"revision"},
    "batch.v1.PodFailurePolicy": {"rules"},
    "core.v1.ConfigMapNodeConfigSource": {"kubeletConfigKey", "name", "namespace"},
    "core.v1.Event": {"involvedObject"},
    "core.v1.HTTPHeader": {"value"},
    "core.v1.ISCSIPersistentVolumeSource": {"lun"},
    "core.v1.ISCSIVolumeSource": {"lun"},
    "core.v1.LimitRangeSpec": {"limits"},
    "core.v1.ScaleIOPersistentVolumeSource": {"secretRef"},
    "core.v1.ScaleIOVolumeSource": {"secretRef"},
    "core.v1.Sysctl": {"value"},
    "core.v1.WorkloadReference": {"name", "podGroup"},
    "discovery.v1.EndpointSlice": {"endpoints"},
    "rbac.v1.RoleRef": {"apiGroup"},
    "resource.v1.CounterSet": {"counters", "name"},
    "resource.v1.DeviceClass": {"spec"},
    "resource.v1.ResourceClaim": {"spec"},
    "resource.v1.ResourceClaimTemplate": {"spec"},
    "resource.v1.ResourceClaimTemplateSpec": {"spec"},
    "resource.v1.ResourcePool": {"generation"},
    "scheduling.v1.PriorityClass": {"value"},
    "storage.v1.CSIDriver": {"spec"},
    "storage.v1.CSINode": {"spec"},
    "storage.v1.CSINodeSpec": {"drivers"},
    "storage.v1.TokenRequest": {"audience"},
}
"""Fields that OpenAPI requires, for Go always writes them, and a kube-apiserver 1.35.4 accepts objects without."""

GATED = dict.fromkeys((("scheduling.k8s.io", "v1beta1"), ("scheduling.k8s.io", "v1alpha3")), "GenericWorkload")
"""Feature gates, off by default, without which a server does not serve a group's version.

Such documents come from a server that was started with the gate and with `--runtime-config=<group>/<version>=true`.
"""

GATED_KINDS = {("scheduling.k8s.io", "v1alpha3", "CompositePodGroup"): "CompositePodGroup"}
"""The same of kinds that need a gate of their own."""

OPEN = frozenset({"apiextensions.v1.CustomResourceSubresourceStatus", "meta.v1.FieldsV1", "runtime.RawExtension"})
"""Types without fields that may hold anything; any other such type is a choice that has nothing to say."""

ABSENT_KEYS = "x-trainyard-absent-keys"


def minor(release: str) -> str:
    """Return the minor of a release: 1.35 of v1.35.4."""
    found = re.match(r"v?(\d+\.\d+)", release)
    if found is None:
        raise SystemExit(f"{release!r} should be a Kubernetes release such as 1.35.4")
    return found[1]


def documents(folder: Path) -> list[Path]:
    """Return the OpenAPI documents in a folder."""
    found = sorted(folder.glob("api*_*.json"))
    if not found:
        raise SystemExit(f"{folder} should hold OpenAPI v3 documents such as api_v1.json")
    return found


def release(folder: Path) -> str:
    """Return the release of the server that the documents come from: the folder's name, or what they say themselves."""
    if re.fullmatch(r"v?\d+\.\d+\.\d+", folder.name):
        return folder.name.removeprefix("v")
    information = json.loads(documents(folder)[0].read_text(encoding="utf-8"))["info"]
    return str(information["version"]).removeprefix("v")


def locked(folder: Path, version: str) -> dict[str, Any]:
    """Return the lock's entry for a server's documents."""
    files = [{"path": address(file), "sha256": digest(file.read_bytes())} for file in documents(folder)]
    origin = {"repository": "kubernetes/kubernetes", "tag": f"v{version}", "licence": "Apache-2.0"}
    return {**origin, "read": "/openapi/v3 of a kube-apiserver, descriptions and paths left out", "files": files}


def address(file: Path) -> str:
    """Return the address on the server that a document was saved from."""
    group, version = place(file.stem)
    return f"/openapi/v3/apis/{group}/{version}" if group else f"/openapi/v3/api/{version}"


def load(folder: Path) -> Iterator[Definition]:
    """Yield every kind of the OpenAPI documents in a folder."""
    for file in documents(folder):
        group, version = place(file.stem)
        components = json.loads(file.read_text(encoding="utf-8"))["components"]["schemas"]
        yield from kinds(components, group, version)


def place(stem: str) -> tuple[str, str]:
    """Return group and version of a file name."""
    prefix, _, rest = stem.partition("_")
    if prefix == "api":
        return "", rest
    group, _, version = rest.rpartition("_")
    return group, version


def kinds(components: Mapping[str, Any], group: str, version: str) -> Iterator[Definition]:
    """Yield the kinds of one group and version: what has an ObjectMeta and can be created."""
    for name in sorted(components):
        schema = components[name]
        for gvk in schema.get(GVK, []):
            kind = gvk["kind"]
            if (gvk["group"], gvk["version"]) != (group, version) or kind in READ_ONLY or not is_object(schema):
                continue
            yield Definition(
                group=group,
                version=version,
                kind=kind,
                plural=plural(kind),
                scope="Cluster" if kind in CLUSTER_SCOPED else "Namespaced",
                schema=closed(components, name, {"group": group, "kind": kind, "version": version}),
                deprecated=DEPRECATED.get((group, kind)),
                status="status" in schema["properties"] and kind not in KEEP_STATUS,
                scale=SCALE if kind in SCALABLE else None,
                served=(group, version) not in GATED,
                gate=GATED_KINDS.get((group, version, kind), GATED.get((group, version), "")),
            )


def is_object(schema: Mapping[str, Any]) -> bool:
    """Whether a type has metadata of its own, as lists, options and events of a watch have not."""
    metadata = schema.get("properties", {}).get("metadata")
    return metadata is not None and target(metadata).endswith(".ObjectMeta")


def plural(kind: str) -> str:
    """Return the resource name of a kind (apimachinery v0.35.4, pkg/api/meta/restmapper.go)."""
    lower = kind.lower()
    if lower == "endpoints":
        return lower
    if lower.endswith("s"):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def closed(components: Mapping[str, Any], name: str, gvk: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of one kind with every definition it needs, each closed."""
    needed: dict[str, Any] = {}
    waiting = list(references(components[name]))
    while waiting:
        if (reference := waiting.pop()) not in needed:
            needed[reference] = components[reference]
            waiting += references(components[reference])
    definitions = {
        short(component): node(components, schema, name=short(component)) for component, schema in needed.items()
    }
    top = node(components, components[name], name=short(name))
    top["type"] = "object"
    return {"$schema": DRAFT, "definitions": definitions, **top, GVK: [gvk], "x-trainyard-type": short(name)}


def references(schema: object) -> Iterator[str]:
    """Yield the names of the types that a schema refers to."""
    if isinstance(schema, Mapping):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix(REF)
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def short(name: str) -> str:
    """Shorten a type's name: core.v1.PodSpec, meta.v1.Time, resource.Quantity."""
    parts = name.split(".")
    versioned = len(parts) > 2 and re.fullmatch(r"v\d+((alpha|beta)\d+)?", parts[-2])
    return ".".join(parts[-3:] if versioned else parts[-2:])


def target(schema: Mapping[str, Any]) -> str:
    """Return the type that a field refers to, alone or in an allOf, or nothing."""
    first = next(iter(schema.get("allOf", [])), schema)
    return str(first.get("$ref", "")).removeprefix(REF)


def node(
    components: Mapping[str, Any], schema: Mapping[str, Any], *, name: str = "", nullable: bool = True
) -> dict[str, Any]:
    """Convert a type, which has a name, or a field: null is nothing to Go, so all that is optional accepts it."""
    if reference := target(schema):
        return {"$ref": f"#/definitions/{short(reference)}", **default(schema)}
    out = {key: value for key, value in plain(schema).items() if key not in ("default", GVK)} | default(schema)
    if isinstance(union := out.pop("oneOf", None), list):
        out["type"] = [choice["type"] for choice in union]
    required = [field for field in schema.get("required", []) if field not in NOT_REQUIRED.get(name, ())]
    out.pop("required", None)
    if required:
        out["required"] = required
    if isinstance(properties := schema.get("properties"), Mapping):
        out["properties"] = {
            key: node(components, property_, nullable=key not in required) for key, property_ in properties.items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            out[key] = node(components, schema[key], nullable=key != "items")
    if keys := absent_keys(components, schema):
        out[ABSENT_KEYS] = keys
    if "properties" in out or (name and name not in OPEN and out.get("type") == "object"):
        out.setdefault("additionalProperties", False)
    if "type" in out and (nullable or name):
        types = out["type"]
        out["type"] = [*(types if isinstance(types, list) else [types]), "null"]
        if "enum" in out:
            out["enum"] = [*out["enum"], None]
    return out


def absent_keys(components: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a list's keys where an element lacks them, zero values included."""
    keys = schema.get("x-kubernetes-list-map-keys") or []
    items = components.get(target(schema.get("items", {})), {})
    fields = items.get("properties", {})
    return {key: fields[key]["default"] for key in keys if "default" in fields.get(key, {})}


def default(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default of a field where it is one, beside Go's zero values."""
    return {"default": schema["default"]} if schema.get("default", "") not in ZEROES else {}
