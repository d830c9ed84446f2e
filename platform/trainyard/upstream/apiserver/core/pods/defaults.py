"""Defaults of pods and pod templates.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.core.pods.gates import drop_disabled
from trainyard.upstream.apiserver.core.pods.sources import REQUIRED
from trainyard.upstream.apiserver.core.shapes import Object, child, each, fill, fill_absent, flag, number
from trainyard.upstream.pods.pod import amounts_of, containers_of, parse_if_valid, pod_level

_PROBE = (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3))
_DISK_SOURCES = frozenset(
    {*REQUIRED, "cephfs", "downwardAPI", "emptyDir", "ephemeral", "fc", "flocker", "image", "projected"}
)


def set_template(template: Object) -> None:
    """Fill in the defaults of a pod template's specification."""
    if type(template.get("spec")) is not dict:
        if template.get("spec") is not None:
            return
        template["spec"] = {}
    set_spec(template["spec"])


def set_pod(pod: Object, minor: int) -> None:
    """Fill in the defaults of a Pod, which also copies limits to requests."""
    if (spec := child(pod, "spec")) is None:
        return
    set_spec(spec)
    host = flag(spec, "hostNetwork")
    for kind in ("containers", "initContainers"):
        for _, container in each(spec, kind):
            for _, port in each(container, "ports") if host else ():
                if not port.get("hostPort"):
                    port["hostPort"] = number(port, "containerPort") or 0
            if resources := child(container, "resources"):
                _copy_limits(resources)
    if resources := child(spec, "resources"):
        _set_pod_resources(spec, resources, minor)
    fill_absent(spec, "enableServiceLinks", True)


def _copy_limits(resources: Object) -> None:
    limits = child(resources, "limits")
    if limits is None:
        return
    fill_absent(resources, "requests", {})
    if type(resources["requests"]) is dict:
        for name, value in limits.items():
            resources["requests"].setdefault(name, value)


def _set_pod_resources(spec: Object, resources: Object, minor: int) -> None:
    containers = tuple(containers_of(spec, parse_if_valid))
    written = (amounts_of(resources, kind, parse_if_valid) for kind in ("requests", "limits"))
    for kind, amounts in zip(
        ("requests", "limits"), pod_level(containers, *written, release=f"1.{minor}"), strict=True
    ):
        if amounts:
            fill_absent(resources, kind, {})
        for name, amount in amounts.items() if type(resources.get(kind)) is dict else ():
            resources[kind].setdefault(name, amount.canonical())


def set_spec(spec: Object) -> None:
    """Fill in the defaults of a pod's specification, wherever it is embedded."""
    fill(spec, "restartPolicy", "Always")
    fill(spec, "dnsPolicy", "ClusterFirst")
    fill(spec, "schedulerName", "default-scheduler")
    fill_absent(spec, "terminationGracePeriodSeconds", 30)
    fill_absent(spec, "securityContext", {})
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for _, container in each(spec, kind):
            _set_container(container)
    for _, volume in each(spec, "volumes"):
        _set_volume(volume)


def _set_container(container: Object) -> None:
    fill(container, "terminationMessagePath", "/dev/termination-log")
    fill(container, "terminationMessagePolicy", "File")
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image"))
    for _, port in each(container, "ports"):
        fill(port, "protocol", "TCP")
    for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := child(container, kind)) is not None:
            for field, default in _PROBE:
                fill(probe, field, default)
            _set_handler(probe)
    if (lifecycle := child(container, "lifecycle")) is not None:
        for kind in ("postStart", "preStop"):
            if (hook := child(lifecycle, kind)) is not None:
                _set_handler(hook)
    for _, variable in each(container, "env"):
        if (source := child(variable, "valueFrom")) is not None:
            _set_field(source)


def _set_handler(handler: Object) -> None:
    if (action := child(handler, "httpGet")) is not None:
        fill(action, "path", "/")
        fill(action, "scheme", "HTTP")
    if (action := child(handler, "grpc")) is not None:
        fill_absent(action, "service", "")


def _set_field(owner: Object) -> None:
    if (field := child(owner, "fieldRef")) is not None:
        fill(field, "apiVersion", "v1")


def _set_volume(volume: Object) -> None:
    if not any(type(volume.get(kind)) is dict for kind in volume if kind in _DISK_SOURCES):
        if any(kind in _DISK_SOURCES and volume[kind] is not None for kind in volume):
            return
        volume["emptyDir"] = {}
    for kind in ("secret", "configMap", "downwardAPI", "projected"):
        if (source := child(volume, kind)) is not None:
            fill_absent(source, "defaultMode", 0o644)
    for _, file in each(child(volume, "downwardAPI") or {}, "items"):
        _set_field(file)
    for _, source in each(child(volume, "projected") or {}, "sources"):
        if (token := child(source, "serviceAccountToken")) is not None:
            fill_absent(token, "expirationSeconds", 3600)
        for _, file in each(child(source, "downwardAPI") or {}, "items"):
            _set_field(file)
    if (source := child(volume, "hostPath")) is not None:
        fill_absent(source, "type", "")
    if (source := child(volume, "image")) is not None and not source.get("pullPolicy"):
        source["pullPolicy"] = pull_policy(source.get("reference"))
    template = child(child(volume, "ephemeral") or {}, "volumeClaimTemplate") or {}
    if (spec := child(template, "spec")) is not None:
        fill_absent(spec, "volumeMode", "Filesystem")


def pull_policy(image: object) -> str:
    """When an image is pulled if nobody says: always if its tag is `latest` or left out.

    Source: k8s.io/kubernetes v1.35.4 pkg/util/parsers/parsers.go ParseImageName.
    """
    if not isinstance(image, str) or not image or "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def default_template(owner: Object, minor: int) -> None:
    """Default the pod template of an object, and drop what the release does not look at."""
    if (embedded := child(owner, "template")) is not None:
        set_template(embedded)
        if (spec := child(embedded, "spec")) is not None:
            drop_disabled(spec, minor)
