"""Fields of pods that the server drops on create, because their feature gate is off by default.

Source: k8s.io/kubernetes v1.34.4, v1.35.4, v1.36.3 pkg/api/pod/util.go dropDisabledFields.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.core.shapes import Object, child, each, text


def drop_disabled(spec: Object, minor: int) -> None:
    """Remove from a pod's specification what this release does not look at."""
    spec.pop("workloadRef", None)
    containers = [
        (kind, container)
        for kind in ("containers", "initContainers", "ephemeralContainers")
        for _, container in each(spec, kind)
    ]
    for kind, container in containers:
        _drop_stop_signal(container)
        if minor < 35:
            _drop_restart_rules(container, init=kind == "initContainers")
            for _, variable in each(container, "env"):
                (child(variable, "valueFrom") or {}).pop("fileKeyRef", None)
    for _, volume in each(spec, "volumes"):
        for _, source in each(child(volume, "projected") or {}, "sources"):
            source.pop("clusterTrustBundle", None)
            source.pop("podCertificate", None)
    if minor < 35:
        spec.pop("hostnameOverride", None)
        _drop_image_volumes(spec, [container for _, container in containers])


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
