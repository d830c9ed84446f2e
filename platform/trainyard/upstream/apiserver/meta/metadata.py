"""ObjectMeta: names by kind, labels, annotations, owners, finalizers, and what an update may not change.

Source: k8s.io/apimachinery v0.35.4 pkg/api/validation/objectmeta.go, k8s.io/apiserver v0.35.4
pkg/registry/rest/create.go, and the name rule of each kind's strategy in k8s.io/kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/apimachinery v0.35.4 pkg/api/validation/objectmeta.go"
NAME = Rule(
    "meta/name",
    f"{SOURCE} ValidateObjectMetaAccessor",
    title="An object has a valid name.",
    fix="set metadata.name to lower case letters, digits and hyphens",
)
NAMESPACE = Rule(
    "meta/namespace",
    f"{SOURCE} ValidateObjectMetaAccessor",
    title="Namespaced objects have a valid namespace, and cluster-wide objects have none.",
    fix="correct or remove metadata.namespace",
)
LABELS = Rule(
    "meta/labels",
    "k8s.io/apimachinery v0.35.4 pkg/apis/meta/v1/validation/validation.go ValidateLabels",
    title="Labels have valid keys and values.",
    fix="use keys such as example.com/name, and values of at most 63 letters, digits, '-', '_' or '.'",
)
ANNOTATIONS = Rule(
    "meta/annotations",
    f"{SOURCE} ValidateAnnotations",
    title="Annotations have valid keys and stay below 256 KiB together.",
    fix="use keys such as example.com/name, and move large data to a ConfigMap",
)
OWNERS = Rule(
    "meta/owner-references",
    f"{SOURCE} ValidateOwnerReferences",
    title="Owner references are complete, and only one has controller: true.",
    fix="add apiVersion, kind, name and uid, or remove the reference",
)
FINALIZERS = Rule(
    "meta/finalizers",
    f"{SOURCE} ValidateFinalizers",
    title="Finalizers have a domain and do not contradict each other.",
    fix="use a name such as example.com/finalizer",
)
SYSTEM = Rule(
    "meta/system-fields",
    "k8s.io/apiserver v0.35.4 pkg/endpoints/handlers/patch.go, create.go",
    title="Objects do not set metadata that only the server may set.",
    fix="remove the field, such as uid, resourceVersion or managedFields",
    may_warn=True,
)
IMMUTABLE = Rule(
    "update/metadata",
    f"{SOURCE} ValidateObjectMetaAccessorUpdate",
    title="An update keeps the name, the namespace and the other fixed metadata of an object.",
    fix="restore the field, or create another object",
)
_GIVEN = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
"""What only the server writes."""

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotation keys and values together."""

_PREFIX = 58
"""Bytes that are left of a prefix when a name is made from it; five more follow."""

STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})

_RBAC = "rbac.authorization.k8s.io"
NAME_RULES: dict[tuple[str, str], names.Format] = {
    ("", "Namespace"): names.dns_label,
    ("", "Service"): names.dns_label_1035,
    ("apps", "StatefulSet"): names.dns_label,
    (_RBAC, "Role"): names.path_segment,
    (_RBAC, "ClusterRole"): names.path_segment,
    (_RBAC, "RoleBinding"): names.path_segment,
    (_RBAC, "ClusterRoleBinding"): names.path_segment,
    ("", "Event"): names.path_segment,
    ("networking.k8s.io", "IPAddress"): names.path_segment,
    ("policy", "PodDisruptionBudget"): names.path_segment,
    ("certificates.k8s.io", "CertificateSigningRequest"): names.path_segment,
    ("certificates.k8s.io", "ClusterTrustBundle"): names.path_segment,
    ("apiregistration.k8s.io", "APIService"): names.path_segment,
}
"""Kinds whose names are not DNS subdomains."""

CORE_GROUPS = frozenset(
    {"", "apps", "batch", "autoscaling", "networking.k8s.io", "storage.k8s.io", "scheduling.k8s.io",
     "discovery.k8s.io", "resource.k8s.io", "certificates.k8s.io", "flowcontrol.apiserver.k8s.io", _RBAC,
     "events.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io"}
)  # fmt: skip
"""Groups whose validation looks at metadata once more: a finalizer without a domain must be a standard one."""

EVENT = ("", "Event")
"""Of its groups' kinds the one that is not looked at once more (ValidateEventCreate of core/v1)."""


CLUSTER_SCOPED = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("certificates.k8s.io", "ClusterTrustBundle"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IPAddress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "ServiceCIDR"),
        ("node.k8s.io", "RuntimeClass"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "DeviceTaintRule"),
        ("resource.k8s.io", "ResourceSlice"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
        ("storage.k8s.io", "VolumeAttributesClass"),
        (_RBAC, "ClusterRole"),
        (_RBAC, "ClusterRoleBinding"),
    }
)
"""Core kinds without a namespace: one that is given is dropped by the server."""

UNCOUNTED = frozenset(
    {"ConfigMap", "LimitRange", "Namespace", "PersistentVolumeClaim", "ResourceQuota", "Secret", "ServiceAccount"}
)
"""Kinds whose generation the server does not count itself."""


def check(
    value: dict[str, Any],
    *,
    kubernetes: str,
    namespaced: bool | None = None,
    old: dict[str, Any] | None = None,
    generated: bool = False,
) -> Iterator[Problem]:
    """Yield the problems with an object's metadata, by the rules of its kind; a `generated` name is not the user's.

    `namespaced` says the kind's scope where it is known; a namespace on a cluster-scoped kind is dropped by the
    server, so it is right. With `old`, also what an update may not change.
    """
    meta = value.get("metadata")
    if meta is None:
        meta = {}
    if not isinstance(meta, dict):
        return
    if generated:
        meta = {key: entry for key, entry in meta.items() if key != "name"}
    group, kind = _group_kind(value)
    yield from _check_name(meta, name_rule(group, kind, kubernetes), prefixed=old is None)
    if namespaced is not False and (group, kind) not in CLUSTER_SCOPED:
        namespace = meta.get("namespace")
        if namespace and (detail := names.dns_label(namespace)):
            yield NAMESPACE.invalid(("metadata", "namespace"), namespace, detail)
    path: Path = ("metadata",)
    yield from check_labels(meta.get("labels"), (*path, "labels"))
    yield from check_annotations(meta.get("annotations"), (*path, "annotations"))
    yield from _check_owners(meta.get("ownerReferences"), (*path, "ownerReferences"))
    core = group in CORE_GROUPS and (group, kind) != EVENT
    yield from _check_finalizers(meta.get("finalizers"), (*path, "finalizers"), core=core)
    yield from _check_system_fields(meta, path, kind=kind, old=old)
    if old is not None and isinstance(old.get("metadata"), dict):
        yield from _check_update(meta, old["metadata"], path)


def name_rule(group: str, kind: str, kubernetes: str) -> names.Format:
    """The rule for the names of a kind; a custom resource's is a DNS subdomain.

    Services may start with a digit from Kubernetes 1.36 on (gate RelaxedServiceNameValidation).
    """
    if kind == "Service" and not group and minor(kubernetes) >= 36:
        return names.dns_label
    return NAME_RULES.get((group, kind), names.dns_subdomain)


def check_labels(labels: Any, path: Path, rule: Rule = LABELS) -> Iterator[Problem]:
    """Yield keys and values that are no labels; also node selectors and label selectors' `matchLabels`."""
    if not isinstance(labels, dict):
        return
    for key, label in labels.items():
        if detail := names.label_key(key):
            yield rule.invalid((*path, key), key, detail)
        if detail := names.label_value(label):
            yield rule.invalid((*path, key), label, detail)


def check_annotations(annotations: Any, path: Path) -> Iterator[Problem]:
    """Yield keys that are no qualified names in lower case, and a total size above 256 KiB."""
    if not isinstance(annotations, dict):
        return
    total = 0
    for key, text in annotations.items():
        if isinstance(key, str):
            total += names.size(key) + (names.size(text) if isinstance(text, str) else 0)
            if detail := names.label_key(key.lower()):
                yield ANNOTATIONS.invalid((*path, key), key, detail)
    if total > ANNOTATIONS_LIMIT:
        yield ANNOTATIONS.too_long(path, ANNOTATIONS_LIMIT)


def _group_kind(value: dict[str, Any]) -> tuple[str, str]:
    version, kind = value.get("apiVersion"), value.get("kind")
    group = version.rpartition("/")[0] if isinstance(version, str) else ""
    return group, kind if isinstance(kind, str) else ""


def _check_name(meta: dict[str, Any], rule: names.Format, *, prefixed: bool) -> Iterator[Problem]:
    """Check the name, and on creation the prefix that the server makes one from."""
    name, generate = meta.get("name"), meta.get("generateName")
    prefix = names.path_segment_prefix if rule is names.path_segment else names.prefix_of(rule)
    if prefixed and generate and (detail := prefix(generate)):
        yield NAME.invalid(("metadata", "generateName"), generate, detail)
    if not name:
        if not generate:
            yield NAME.required(("metadata", "name"), "set it, or generateName")
        elif isinstance(generate, str) and not prefix(generate) and (detail := rule(f"{generate[:_PREFIX]}x2x2x")):
            yield NAME.invalid(("metadata", "generateName"), generate, f"the name made from it {detail}")
    elif (detail := rule(name)) or (detail := names.path_segment(name)):
        yield NAME.invalid(("metadata", "name"), name, detail)


def _check_owners(owners: Any, path: Path) -> Iterator[Problem]:
    controllers = 0
    for index, owner in enumerate(owners if isinstance(owners, list) else ()):
        if not isinstance(owner, dict):
            continue
        at = (*path, index)
        version = owner.get("apiVersion")
        if not version or (isinstance(version, str) and not _version_part(version)):
            yield OWNERS.invalid((*at, "apiVersion"), version or "", "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield OWNERS.invalid((*at, field), owner.get(field) or "", "must not be empty")
        if version == "v1" and owner.get("kind") == "Event":
            yield OWNERS.invalid(at, "Event", "may not be an owner")
        controllers += owner.get("controller") is True
    if controllers > 1:
        yield OWNERS.invalid(path, controllers, "only one reference may have controller set to true")


def _version_part(version: str) -> str:
    # More than one slash leaves Go's parser with an empty group and version.
    return version.rpartition("/")[2] if version.count("/") <= 1 else ""


def _check_finalizers(finalizers: Any, path: Path, *, core: bool) -> Iterator[Problem]:
    if not isinstance(finalizers, list):
        return
    for index, finalizer in enumerate(finalizers):
        if detail := names.label_key(finalizer):
            yield FINALIZERS.invalid((*path, index), finalizer, detail)
        elif core and isinstance(finalizer, str) and "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            yield FINALIZERS.invalid((*path, index), finalizer, "must be a standard finalizer or have a domain prefix")
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        yield FINALIZERS.invalid(path, finalizers, "orphan and foregroundDeletion cannot both be set")


def _check_system_fields(
    meta: dict[str, Any], path: Path, *, kind: str, old: dict[str, Any] | None
) -> Iterator[Problem]:
    if meta.get("managedFields") is not None:
        yield SYSTEM.forbidden((*path, "managedFields"), "must be left out; server-side apply refuses it")
    generation = meta.get("generation")
    if type(generation) is int and generation < 0 and kind in UNCOUNTED:
        yield SYSTEM.invalid((*path, "generation"), generation, "must be greater than or equal to 0")
    if old is None and meta.get("uid"):
        yield SYSTEM.forbidden((*path, "uid"), "must be left out; server-side apply finds no such object to change")


def _check_update(meta: dict[str, Any], old: dict[str, Any], path: Path) -> Iterator[Problem]:
    for field in ("name", "namespace", *_GIVEN):
        before, now = old.get(field), meta.get(field)
        if now and before != now and (before or field in _GIVEN):
            yield IMMUTABLE.invalid((*path, field), now, "field is immutable")
    if (version := meta.get("resourceVersion")) and version != old.get("resourceVersion"):
        yield IMMUTABLE.invalid((*path, "resourceVersion"), version, "the object has another; leave it out")
    if old.get("deletionTimestamp"):
        known, given = old.get("finalizers") or [], meta.get("finalizers")
        if isinstance(given, list) and any(name not in known for name in given):
            yield IMMUTABLE.forbidden((*path, "finalizers"), "no finalizer can be added while the object is deleted")
