"""Fields of pods that the server drops on create, because their feature gate is off by default.

Source: k8s.io/kubernetes v1.34.4, v1.35.4, v1.36.3, v1.37.2 pkg/api/pod/util.go dropDisabledFields.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.core.shapes import Object, child, each, text

_OFF = ("workloadRef", "schedulingGroup", "evictionResponders")
"""Of a pod: gates GenericWorkload, EvictionRequestAPI."""
_USERS = ("user", "defaultUser")
"""Of files in volumes: gate AtomicWriteVolumeUserFields."""
_FILES = ("secret", "configMap", "downwardAPI", "projected")
_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")


def drop_disabled(spec: Object, minor: int) -> None:
    """Remove from a pod's specification what this release does not look at."""
    for field in _OFF:
        spec.pop(field, None)
    containers = [
        (kind, container)
        for kind in ("containers", "initContainers", "ephemeralContainers")
        for _, container in each(spec, kind)
    ]
    for kind, container in containers:
        _drop_stop_signal(container)
        _drop_handler_fields(container)
        for _, mount in each(container, "volumeMounts"):
            mount.pop("bindMountOptions", None)
        if minor < 35:
            _drop_restart_rules(container, init=kind == "initContainers")
            for _, variable in each(container, "env"):
                (child(variable, "valueFrom") or {}).pop("fileKeyRef", None)
    for _, volume in each(spec, "volumes"):
        _drop_volume_fields(volume)
        if minor < 37:
            for _, source in each(child(volume, "projected") or {}, "sources"):
                source.pop("clusterTrustBundle", None)
                source.pop("podCertificate", None)
    if minor < 35:
        spec.pop("hostnameOverride", None)
        _drop_image_volumes(spec, [container for _, container in containers])


def _drop_handler_fields(container: Object) -> None:
    """Drop the protocol of HTTP and the mode of gRPC: gates H2CContainerProbe, GRPCContainerProbeTLS."""
    lifecycle = child(container, "lifecycle") or {}
    for handler in (*(child(container, probe) for probe in _PROBES), *(child(lifecycle, hook) for hook in _HOOKS)):
        (child(handler or {}, "httpGet") or {}).pop("protocol", None)
        (child(handler or {}, "grpc") or {}).pop("mode", None)


def _drop_volume_fields(volume: Object) -> None:
    """Drop modes of empty folders, and owners of files: gates EmptyDirVolumeMode, AtomicWriteVolumeUserFields."""
    (child(volume, "emptyDir") or {}).pop("mode", None)
    for kind in _FILES:
        files = child(volume, kind) or {}
        inside = [found for _, source in each(files, "sources") for name in _SOURCES if (found := child(source, name))]
        for holder in (files, *inside):
            for entry in (holder, *(item for _, item in each(holder, "items"))):
                for field in _USERS:
                    entry.pop(field, None)


def _drop_stop_signal(container: Object) -> None:
    lifecycle = child(container, "lifecycle")
    if lifecycle is None or lifecycle.pop("stopSignal", None) is None:
        return
    if all(hook is None for hook in lifecycle.values()):
        del container["lifecycle"]


def _drop_restart_rules(container: Object, *, init: bool) -> None:
    container.pop("restartPolicyRules", None)
    if not init or container.get("restartPolicy") != "Always":
        container.pop("restartPolicy", None)


def _drop_image_volumes(spec: Object, containers: list[Object]) -> None:
    dropped = {text(volume, "name") for _, volume in each(spec, "volumes") if child(volume, "image") is not None}
    if not dropped:
        return
    spec["volumes"] = [volume for volume in spec["volumes"] if not _is_image(volume)]
    for container in containers:
        if isinstance(container.get("volumeMounts"), list):
            container["volumeMounts"] = [
                mount
                for mount in container["volumeMounts"]
                if not (isinstance(mount, dict) and text(mount, "name") in dropped)
            ]


def _is_image(volume: object) -> bool:
    return isinstance(volume, dict) and child(volume, "image") is not None
