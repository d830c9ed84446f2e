"""Volumes of a pod, and the mounts and devices of its containers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.upstream.apiserver.core.persistentvolumeclaim import check_claim_template
from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.projected import check_downward, check_projected
from trainyard.upstream.apiserver.core.pods.rules import DEVICE, MOUNT, VOLUME
from trainyard.upstream.apiserver.core.pods.sources import (
    REQUIRED,
    SHARED,
    check_empty_dir,
    check_files,
    check_required,
    check_secret_name,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, each, flag, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

_POLICIES = ("Always", "IfNotPresent", "Never")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_ISCSI_LIMIT = 64


def _cinder(source: Object, path: Path) -> Iterator[Problem]:
    yield from check_secret_name(source, path)


def _storage_os(source: Object, path: Path) -> Iterator[Problem]:
    yield from SHARED["storageos"](source, path)
    yield from check_secret_name(source, path)


def _csi(source: Object, path: Path) -> Iterator[Problem]:
    yield from SHARED["csi"](source, path)
    yield from check_secret_name(source, path, "nodePublishSecretRef")
    name = inner(source, "nodePublishSecretRef").get("name")
    if name and (detail := names.dns_subdomain(name)):
        yield VOLUME.invalid((*path, "nodePublishSecretRef", "name"), name, detail)


def _ephemeral(source: Object, path: Path) -> Iterator[Problem]:
    if (template := child(source, "volumeClaimTemplate")) is None:
        yield VOLUME.required((*path, "volumeClaimTemplate"))
    else:
        yield from check_claim_template(template, (*path, "volumeClaimTemplate"))


CHECKS: dict[str, Callable[[Object, Path], Iterator[Problem]]] = {
    **SHARED,
    "cinder": _cinder,
    "configMap": check_files,
    "csi": _csi,
    "downwardAPI": check_downward,
    "emptyDir": check_empty_dir,
    "ephemeral": _ephemeral,
    "secret": check_files,
    "storageos": _storage_os,
}
KINDS = tuple({**REQUIRED, **CHECKS, "projected": None, "image": None, "glusterfs": None})
_KIND_SET = frozenset(KINDS) - {"local"}


def check_volumes(spec: Object, path: Path, options: Options, pod_name: str | None) -> Iterator[Problem]:
    """Yield the problems with the pod's volumes; `pod_name` only where the object is a Pod."""
    seen: set[str] = set()
    created = {
        f"{pod_name}-{text(volume, 'name')}"
        for _, volume in each(spec, "volumes")
        if pod_name and child(volume, "ephemeral") is not None
    }
    for index, volume in each(spec, "volumes"):
        at = (*path, "volumes", index)
        name = text(volume, "name")
        if not volume.get("name"):
            yield VOLUME.required((*at, "name"))
        elif detail := names.dns_label(name):
            yield VOLUME.invalid((*at, "name"), name, detail)
        elif name in seen:
            yield VOLUME.duplicate((*at, "name"), name)
        seen.add(name)
        yield from _check_source(volume, name, at, options)
        claim = inner(volume, "persistentVolumeClaim").get("claimName")
        if isinstance(claim, str) and claim in created:
            where = (*at, "persistentVolumeClaim", "claimName")
            yield VOLUME.invalid(where, claim, "must not be the claim made for an ephemeral volume")
        made = f"{pod_name}-{name}" if pod_name and name and child(volume, "ephemeral") is not None else ""
        if made and (detail := names.dns_subdomain(made)):
            yield VOLUME.invalid((*at, "name"), name, f"its claim's name {made} {detail}")


def _check_source(volume: Object, name: str, path: Path, options: Options) -> Iterator[Problem]:
    present = [kind for kind in volume if kind in _KIND_SET and type(volume[kind]) is dict]
    if not present:
        yield VOLUME.required(path, "must specify a volume type")
    for kind in present[1:]:
        yield VOLUME.forbidden((*path, kind), "may not specify more than 1 volume type")
    for kind in present[:1]:
        source, at = volume[kind], (*path, kind)
        yield from check_required(kind, source, at)
        if kind == "projected":
            yield from check_projected(source, at, any_token_path=options.any_token_path)
        elif kind == "image":
            yield from _check_image(source, at, options)
        elif kind in CHECKS:
            yield from CHECKS[kind](source, at)
    iscsi = child(volume, "iscsi")
    if iscsi is None or iscsi.get("initiatorName") is None:
        return
    if names.size(f"{name}:{text(iscsi, 'targetPortal')}") > _ISCSI_LIMIT:
        yield VOLUME.invalid((*path, "name"), name, "with ':' and targetPortal it must be at most 64 characters")


def _check_image(source: Object, path: Path, options: Options) -> Iterator[Problem]:
    needs_one = options.is_pod or (options.image_references and not options.any_image)
    if needs_one and not source.get("reference"):
        yield VOLUME.required((*path, "reference"))
    policy = source.get("pullPolicy")
    if policy and policy not in _POLICIES:
        yield VOLUME.unsupported((*path, "pullPolicy"), policy, _POLICIES)


def block_volumes(spec: Object) -> dict[str, bool]:
    """The pod's volumes by name, and whether each can be a block device."""
    return {
        text(volume, "name"): child(volume, "persistentVolumeClaim") is not None
        or child(volume, "ephemeral") is not None
        for _, volume in each(spec, "volumes")
    }


def check_mounts(container: Object, volumes: dict[str, bool], path: Path) -> Iterator[Problem]:
    """Yield the problems with a container's volume mounts."""
    devices = {text(device, "name"): text(device, "devicePath") for _, device in each(container, "volumeDevices")}
    points: set[str] = set()
    for index, mount in each(container, "volumeMounts"):
        at = (*path, "volumeMounts", index)
        name, point = text(mount, "name"), text(mount, "mountPath")
        if not mount.get("name"):
            yield MOUNT.required((*at, "name"))
        elif name not in volumes and type(mount["name"]) is str:
            yield MOUNT.missing((*at, "name"), name, "spec.volumes has no volume of that name")
        if not mount.get("mountPath"):
            yield MOUNT.required((*at, "mountPath"))
        if point in points:
            yield MOUNT.invalid((*at, "mountPath"), point, "must be unique")
        points.add(point)
        if name in devices:
            yield MOUNT.invalid((*at, "name"), name, "must not already exist in volumeDevices")
        if point in devices.values():
            yield MOUNT.invalid((*at, "mountPath"), point, "must not already exist in volumeDevices")
        yield from _check_sub_paths(mount, at)
        yield from _check_propagation(mount, container, at)


def _check_sub_paths(mount: Object, path: Path) -> Iterator[Problem]:
    for field in ("subPath", "subPathExpr"):
        if detail := paths.check_descending(mount.get(field)):
            yield MOUNT.invalid((*path, field), mount[field], detail)
    if mount.get("subPath") and mount.get("subPathExpr"):
        yield MOUNT.invalid((*path, "subPathExpr"), mount["subPathExpr"], "cannot be set together with subPath")


def _check_propagation(mount: Object, container: Object, path: Path) -> Iterator[Problem]:
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if propagation is not None:
        at = (*path, "mountPropagation")
        if propagation not in _PROPAGATIONS:
            yield MOUNT.unsupported(at, propagation, _PROPAGATIONS)
        elif propagation == "Bidirectional" and not flag(inner(container, "securityContext"), "privileged"):
            yield MOUNT.forbidden(at, "Bidirectional is available only to privileged containers")
    if recursive is None or recursive == "Disabled":
        return
    at = (*path, "recursiveReadOnly")
    if recursive not in ("Enabled", "IfPossible"):
        yield MOUNT.unsupported(at, recursive, ("Disabled", "Enabled", "IfPossible"))
        return
    if not flag(mount, "readOnly"):
        yield MOUNT.forbidden(at, "may only be specified when readOnly is true")
    if propagation is not None and propagation != "None":
        yield MOUNT.forbidden(at, "may only be specified when mountPropagation is None")


def check_devices(container: Object, volumes: dict[str, bool], path: Path) -> Iterator[Problem]:
    """Yield the problems with a container's block devices."""
    mounts = {text(mount, "name"): text(mount, "mountPath") for _, mount in each(container, "volumeMounts")}
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in each(container, "volumeDevices"):
        at = (*path, "volumeDevices", index)
        name, where = text(device, "name"), text(device, "devicePath")
        if not device.get("name"):
            yield DEVICE.required((*at, "name"))
        elif name not in volumes:
            yield DEVICE.missing((*at, "name"), name, "spec.volumes has no volume of that name")
        elif not volumes[name]:
            yield DEVICE.invalid((*at, "name"), name, "block mode needs a persistentVolumeClaim or ephemeral volume")
        if name and (name in seen_names or name in mounts):
            yield DEVICE.invalid((*at, "name"), name, "must be unique among devices and mounts")
        if not device.get("devicePath"):
            yield DEVICE.required((*at, "devicePath"))
        elif where in seen_paths or where in mounts.values():
            yield DEVICE.invalid((*at, "devicePath"), where, "must be unique among devices and mounts")
        elif detail := paths.no_backsteps(where):
            yield DEVICE.invalid((*at, "devicePath"), where, detail)
        seen_names.add(name)
        seen_paths.add(where)
