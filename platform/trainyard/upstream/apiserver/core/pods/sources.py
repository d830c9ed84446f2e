"""The sources of volumes, as pods and persistent volumes share them: which kinds exist, and each kind's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from trainyard.upstream.apiserver.core.amounts import check_quantity, nanos
from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.rules import VOLUME
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

Check = Callable[[Object, Path], Iterator[Problem]]

REQUIRED: dict[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "cinder": ("volumeID",),
    "csi": ("driver",),
    "flexVolume": ("driver",),
    "gcePersistentDisk": ("pdName",),
    "gitRepo": ("repository",),
    "glusterfs": ("endpoints", "path"),
    "hostPath": ("path",),
    "iscsi": ("targetPortal", "iqn"),
    "local": ("path",),
    "nfs": ("server", "path"),
    "persistentVolumeClaim": ("claimName",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "quobyte": ("registry", "volume"),
    "rbd": ("monitors", "image"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "secret": ("secretName",),
    "configMap": ("name",),
    "storageos": ("volumeName",),
    "vsphereVolume": ("volumePath",),
    "azureDisk": ("diskName", "diskURI"),
}
"""Fields that a kind of volume needs."""

HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.\-]+)(:[^,;*&$|\s]+)\Z", re.ASCII)
_EUI = re.compile(r"eui.[A-Za-z0-9]{16}\Z")
_NAA = re.compile(r"naa.[A-Za-z0-9]{32}\Z")
NOT_MODE = "must be between 0 and 0777 (octal)"


def check_required(kind: str, source: Object, path: Path) -> Iterator[Problem]:
    """Yield the fields that a volume of this kind lacks."""
    for field in REQUIRED.get(kind, ()):
        if not source.get(field):
            yield VOLUME.required((*path, field))


def check_mode(value: Object, path: Path, field: str = "defaultMode") -> Iterator[Problem]:
    """Yield a file mode beyond nine bits."""
    mode = number(value, field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield VOLUME.invalid((*path, field), mode, NOT_MODE)


def check_keys(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the files that a ConfigMap or Secret is projected to."""
    for index, item in each(source, "items"):
        at = (*path, "items", index)
        for field in ("key", "path"):
            if not item.get(field):
                yield VOLUME.required((*at, field))
        if detail := paths.local(item.get("path")):
            yield VOLUME.invalid((*at, "path"), item["path"], detail)
        yield from check_mode(item, at, "mode")


def check_empty_dir(source: Object, path: Path) -> Iterator[Problem]:
    """Yield a size limit that is malformed or negative."""
    limit = source.get("sizeLimit")
    if limit is None:
        return
    yield from check_quantity(limit, (*path, "sizeLimit"))
    if (nanos(limit) or 0) < 0:
        yield VOLUME.forbidden((*path, "sizeLimit"), "must not be negative")


def check_host_path(source: Object, path: Path) -> Iterator[Problem]:
    """Yield paths with backsteps and unknown types."""
    if detail := paths.no_backsteps(source.get("path")):
        yield VOLUME.invalid((*path, "path"), source["path"], detail)
    kind = source.get("type")
    if kind is not None and kind not in HOST_PATH_TYPES:
        yield VOLUME.unsupported((*path, "type"), kind, HOST_PATH_TYPES)


def _git(source: Object, path: Path) -> Iterator[Problem]:
    if detail := paths.check_descending(source.get("directory")):
        yield VOLUME.invalid((*path, "directory"), source["directory"], detail)


def _partition(source: Object, path: Path) -> Iterator[Problem]:
    partition = number(source, "partition")
    if partition is not None and not 0 <= partition <= 255:
        yield VOLUME.invalid((*path, "partition"), partition, "must be between 1 and 255, inclusive")


def check_files(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a volume filled from a ConfigMap or Secret."""
    yield from check_mode(source, path)
    yield from check_keys(source, path)


def _nfs(source: Object, path: Path) -> Iterator[Problem]:
    export = text(source, "path")
    if export and not export.startswith("/"):
        yield VOLUME.invalid((*path, "path"), export, "must be an absolute path")


def check_iscsi(source: Object, path: Path) -> Iterator[Problem]:
    """Yield malformed target and initiator names, logical units out of range, and missing secrets."""
    for field in ("iqn", "initiatorName"):
        name = text(source, field)
        known = name.startswith(("iqn", "eui", "naa"))
        right = (
            (_IQN.search(name) if name.startswith("iqn") else _EUI.match(name) or _NAA.match(name)) if known else None
        )
        if (name or (field == "initiatorName" and source.get(field) is not None)) and not right:
            yield VOLUME.invalid((*path, field), name, "must be an iqn., eui. or naa. name")
    unit = number(source, "lun")
    if unit is not None and not 0 <= unit <= 255:
        yield VOLUME.invalid((*path, "lun"), unit, "must be between 0 and 255, inclusive")
    chap = flag(source, "chapAuthDiscovery") or flag(source, "chapAuthSession")
    if chap and source.get("secretRef") is None:
        yield VOLUME.required((*path, "secretRef"))


def _fc(source: Object, path: Path) -> Iterator[Problem]:
    targets, wide = count(source, "targetWWNs"), count(source, "wwids")
    if bool(targets) == bool(wide):
        yield VOLUME.required((*path, "targetWWNs"), "must specify either targetWWNs or wwids, but not both")
    if targets:
        unit = number(source, "lun")
        if unit is None:
            yield VOLUME.required((*path, "lun"), "needed with targetWWNs")
        elif not 0 <= unit <= 255:
            yield VOLUME.invalid((*path, "lun"), unit, "must be between 0 and 255, inclusive")


def _quobyte(source: Object, path: Path) -> Iterator[Problem]:
    registry = text(source, "registry")
    if registry and names.size(text(source, "tenant")) >= 65:
        yield VOLUME.required((*path, "tenant"), "must be a UUID of at most 64 characters")
    elif registry and not all(_is_host_port(pair) for pair in registry.split(",")):
        yield VOLUME.invalid((*path, "registry"), registry, "must be host:port, or several with commas")


def _is_host_port(pair: str) -> bool:
    host, colon, port = pair.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if bracketed:
        host = host[1:-1]
    return bool(colon) and (bracketed or ":" not in host) and not {"[", "]"} & {*host, *port}


def _flocker(source: Object, path: Path) -> Iterator[Problem]:
    name, uuid = text(source, "datasetName"), text(source, "datasetUUID")
    if bool(name) == bool(uuid):
        yield VOLUME.required(path, "one of datasetName and datasetUUID is required")
    if "/" in name:
        yield VOLUME.invalid((*path, "datasetName"), name, "must not contain '/'")


def check_secret_name(
    source: Object, path: Path, field: str = "secretRef", *, namespaced: bool = False
) -> Iterator[Problem]:
    """Yield a secret reference without a name, or without a namespace where it needs one."""
    if (reference := child(source, field)) is not None:
        for part in ("name", "namespace") if namespaced else ("name",):
            if not reference.get(part):
                yield VOLUME.required((*path, field, part))


def _flex(source: Object, path: Path) -> Iterator[Problem]:
    for key in inner(source, "options"):
        domain = str(key).split("/", 1)[0]
        if f".{domain.lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield VOLUME.invalid((*path, "options", key), key, "kubernetes.io and k8s.io are reserved")


def _azure_disk(source: Object, path: Path) -> Iterator[Problem]:
    uri, kind, caching = text(source, "diskURI"), source.get("kind"), source.get("cachingMode")
    if caching is not None and caching not in ("None", "ReadOnly", "ReadWrite"):
        yield VOLUME.unsupported((*path, "cachingMode"), caching, ("None", "ReadOnly", "ReadWrite"))
    kinds = ("Dedicated", "Managed", "Shared")
    if kind is None:
        kind = "Shared"
    if kind not in kinds:
        yield VOLUME.unsupported((*path, "kind"), kind, kinds)
    if not uri.startswith("/subscriptions/" if kind == "Managed" else "https://"):
        yield VOLUME.invalid((*path, "diskURI"), uri, f"is not the URI of a disk of kind {kind}")


def _storage_os(source: Object, path: Path) -> Iterator[Problem]:
    for field in ("volumeName", "volumeNamespace"):
        name = source.get(field)
        if name and (detail := names.dns_label(name)):
            yield VOLUME.invalid((*path, field), name, detail)


def driver_name(value: Any) -> str | None:
    """The rule for names of CSI drivers."""
    if type(value) is not str:
        return None
    return (
        "must be a DNS name of at most 63 characters" if len(value) > 63 or names.dns_subdomain(value.lower()) else None
    )


def check_csi(source: Object, path: Path) -> Iterator[Problem]:
    """Yield a driver's name that is none."""
    driver = source.get("driver")
    if driver and (detail := driver_name(driver)):
        yield VOLUME.invalid((*path, "driver"), driver, detail)


SHARED: dict[str, Check] = {
    "awsElasticBlockStore": _partition,
    "azureDisk": _azure_disk,
    "csi": check_csi,
    "fc": _fc,
    "flexVolume": _flex,
    "flocker": _flocker,
    "gcePersistentDisk": _partition,
    "gitRepo": _git,
    "hostPath": check_host_path,
    "iscsi": check_iscsi,
    "nfs": _nfs,
    "quobyte": _quobyte,
    "storageos": _storage_os,
}
"""Rules that hold for a kind of volume in pods and in persistent volumes alike."""
