"""PersistentVolumes: one source, capacity, where they can be used, and that their source stays.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePersistentVolume.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from trainyard.upstream.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.upstream.apiserver.core.equality import check_immutable, differs
from trainyard.upstream.apiserver.core.persistentvolumeclaim import VOLUME_MODES, check_access_modes
from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.pods.sources import SHARED, check_required, check_secret_name
from trainyard.upstream.apiserver.core.selectors import check_node_selector
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, each, fill, fill_absent, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

VOLUME = Rule(
    "core/persistent-volume",
    f"{CORE} ValidatePersistentVolumeSpec",
    title="A PersistentVolume has one source, a capacity and access modes.",
    fix="set one source, capacity.storage and accessModes; a local volume also needs nodeAffinity",
)
IMMUTABLE = Rule(
    "update/persistent-volume",
    f"{CORE} ValidatePersistentVolumeUpdate",
    title="An update keeps the source and the settings of a PersistentVolume.",
    fix="restore the field, or create another PersistentVolume",
)

RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
_LONGEST_ISCSI = 64
_RENAMED_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a PersistentVolume."""
    if (spec := child(value, "spec")) is not None:
        fill(spec, "persistentVolumeReclaimPolicy", "Retain")
        fill_absent(spec, "volumeMode", "Filesystem")
        if (source := child(spec, "hostPath")) is not None:
            fill_absent(source, "type", "")


def _csi(source: Object, path: Path) -> Iterator[Problem]:
    yield from SHARED["csi"](source, path)
    if not source.get("volumeHandle"):
        yield VOLUME.required((*path, "volumeHandle"))
    for field in _SECRETS:
        if (reference := child(source, field)) is None:
            continue
        for part, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
            value = reference.get(part)
            if not value:
                yield VOLUME.required((*path, field, part))
            elif detail := rule(value):
                yield VOLUME.invalid((*path, field, part), value, detail)


def _with_secret(kind: str) -> Callable[[Object, Path], Iterator[Problem]]:
    def check_source(source: Object, path: Path) -> Iterator[Problem]:
        if kind in SHARED:
            yield from SHARED[kind](source, path)
        yield from check_secret_name(source, path, namespaced=kind != "iscsi")

    return check_source


def _azure_file(source: Object, path: Path) -> Iterator[Problem]:
    if source.get("secretNamespace") == "":
        yield VOLUME.required((*path, "secretNamespace"))


def _glusterfs(source: Object, path: Path) -> Iterator[Problem]:
    namespace = source.get("endpointsNamespace")
    if namespace is not None and (detail := names.dns_label(namespace)):
        yield VOLUME.invalid((*path, "endpointsNamespace"), namespace, detail)


def _local(source: Object, path: Path) -> Iterator[Problem]:
    if detail := paths.no_backsteps(source.get("path")):
        yield VOLUME.invalid((*path, "path"), source["path"], detail)


CHECKS: dict[str, Callable[[Object, Path], Iterator[Problem]]] = {
    **{kind: rule for kind, rule in SHARED.items() if kind != "gitRepo"},
    "azureFile": _azure_file,
    "cinder": _with_secret("cinder"),
    "csi": _csi,
    "glusterfs": _glusterfs,
    "iscsi": _with_secret("iscsi"),
    "local": _local,
    "storageos": _with_secret("storageos"),
}
_NAMES = """
    hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder fc flexVolume
    azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi
"""
KINDS = tuple(_NAMES.split())
"""The sources of volumes, in the order in which the server counts them."""


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a PersistentVolume, and changes that an update may not make."""
    spec, path = inner(value, "spec"), ("spec",)
    yield from check_access_modes(spec, path, VOLUME, "")
    yield from _check_capacity(spec)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in RECLAIM_POLICIES:
        yield VOLUME.unsupported((*path, "persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES)
    if (affinity := child(spec, "nodeAffinity")) is not None:
        at = (*path, "nodeAffinity", "required")
        if (required := child(affinity, "required")) is None:
            yield VOLUME.required(at, "must specify required node constraints")
        else:
            yield from check_node_selector(required, at)
    yield from _check_source(spec, text(inner(value, "metadata"), "name"))
    yield from _check_names(spec)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield VOLUME.unsupported((*path, "volumeMode"), mode, VOLUME_MODES)
    if old is not None:
        yield from _check_update(spec, inner(old, "spec"))


def _check_capacity(spec: Object) -> Iterator[Problem]:
    capacity, path = child(spec, "capacity") or EMPTY, ("spec", "capacity")
    if not capacity:
        yield VOLUME.required(path)
    elif set(capacity) != {"storage"}:
        yield VOLUME.unsupported(path, sorted(map(str, capacity)), ("storage",))
    for name, value in capacity.items():
        size = millis(value)
        if size is None:
            yield QUANTITY.invalid((*path, name), value, NOT_QUANTITY)
        elif size <= 0:
            yield VOLUME.invalid((*path, name), value, "must be greater than zero")
        elif as_int64(value) < 0:
            yield VOLUME.invalid((*path, name), value, "does not fit into 64 bits")


def _check_source(spec: Object, name: str) -> Iterator[Problem]:
    present = [kind for kind in KINDS if type(spec.get(kind)) is dict]
    if not present:
        yield VOLUME.required(("spec",), "must specify a volume type")
    for kind in present[1:]:
        if kind == "flexVolume":  # the one that does not look back
            continue
        yield VOLUME.forbidden(("spec", kind), "may not specify more than 1 volume type")
    for kind in present:
        yield from check_required(kind, spec[kind], ("spec", kind))
        if kind in CHECKS:
            yield from CHECKS[kind](spec[kind], ("spec", kind))
    if "local" in present and child(spec, "nodeAffinity") is None:
        yield VOLUME.required(("spec", "nodeAffinity"), "a local volume requires node affinity")
    iscsi = inner(spec, "iscsi")
    portal = text(iscsi, "targetPortal")
    if iscsi.get("initiatorName") is not None and names.size(f"{name}:{portal}") > _LONGEST_ISCSI:
        yield VOLUME.invalid(
            ("spec", "iscsi", "targetPortal"), portal, "with the name it must be at most 64 characters"
        )
    root = text(inner(spec, "hostPath"), "path")
    if root and posixpath.normpath(root) in {"/", "//"} and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield VOLUME.forbidden(("spec", "persistentVolumeReclaimPolicy"), "may not be Recycle for a hostPath of /")


def _check_names(spec: Object) -> Iterator[Problem]:
    name, attributes = spec.get("storageClassName"), spec.get("volumeAttributesClassName")
    if name and (detail := names.dns_subdomain(name)):
        yield VOLUME.invalid(("spec", "storageClassName"), name, detail)
    if attributes is None:
        return
    at = ("spec", "volumeAttributesClassName")
    if not attributes:
        yield VOLUME.required(at, "an empty string is not allowed")
    elif detail := names.dns_subdomain(attributes):
        yield VOLUME.invalid(at, attributes, detail)
    if child(spec, "csi") is None:
        yield VOLUME.required(("spec", "csi"), "needed with volumeAttributesClassName")


def _check_update(spec: Object, before: Object) -> Iterator[Problem]:
    for kind in [kind for kind in KINDS if kind in spec or kind in before]:
        now, was = spec.get(kind), before.get(kind)
        if kind == "csi" and isinstance(now, dict) and inner(before, "csi").get("controllerExpandSecretRef") is None:
            now = {key: part for key, part in now.items() if key != "controllerExpandSecretRef"}
        if differs(now, was, kind):
            yield IMMUTABLE.forbidden(("spec", kind), "the source is immutable after creation")
    yield from check_immutable(spec.get("volumeMode"), before.get("volumeMode"), ("spec", "volumeMode"), IMMUTABLE)
    now, was = _current(spec.get("nodeAffinity")), _current(before.get("nodeAffinity"))
    if child(before, "nodeAffinity") is not None and differs(now, was, "nodeAffinity"):
        yield IMMUTABLE.invalid(("spec", "nodeAffinity"), "", "is immutable but for labels that left beta")
    if before.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        yield IMMUTABLE.forbidden(("spec", "volumeAttributesClassName"), "may not be removed once set")


def _current(affinity: object) -> object:
    """Return an affinity with the labels that left beta under their present names."""
    if not isinstance(affinity, dict):
        return affinity
    terms = [
        [
            (
                _RENAMED_LABELS.get(text(entry, "key"), text(entry, "key")),
                text(entry, "operator"),
                texts(entry, "values"),
                field,
            )
            for field in ("matchExpressions", "matchFields")
            for _, entry in each(term, field)
        ]
        for _, term in each(inner(affinity, "required"), "nodeSelectorTerms")
    ]
    return repr(terms)
