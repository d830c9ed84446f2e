"""Defaults of the kinds that do not run pods.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/{core,networking,storage,autoscaling,rbac,resource,admissionregistration,
discovery,scheduling}/*/defaults.go.
"""

from __future__ import annotations

from typing import Any

from trainyard.apiserver.core.pods.defaults import fill, fill_absent
from trainyard.apiserver.core.shapes import Object, child, count, each, inner, number, text

_SCALE_POLICIES = {
    "scaleUp": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
    "scaleDown": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def service(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a Service."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "type", "ClusterIP")
    fill(spec, "sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    timeout = number(inner(spec, "sessionAffinityConfig", "clientIP"), "timeoutSeconds")
    if spec["sessionAffinity"] == "ClientIP" and timeout is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for _, port in each(spec, "ports"):
        fill(port, "protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    outside = spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and count(spec, "externalIPs") > 0
    )
    if outside:
        fill(spec, "externalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer", "ClusterIP"):
        fill_absent(spec, "internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        fill_absent(spec, "allocateLoadBalancerNodePorts", True)
    if text(spec, "clusterIP") and not count(spec, "clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def secret(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default a Secret, and move `stringData` into `data`, as the server does when it decodes."""
    fill(value, "type", "Opaque")


def claim(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default a PersistentVolumeClaim, and drop data sources that the release does not look at.

    Source: k8s.io/kubernetes v1.35.4 pkg/api/persistentvolumeclaim/util.go.
    """
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "volumeMode", "Filesystem")
    if inner(spec, "dataSourceRef").get("namespace"):
        del spec["dataSourceRef"]
    reference, source = child(spec, "dataSourceRef"), child(spec, "dataSource")
    if reference is None and source is not None:
        if (text(source, "apiGroup"), source.get("kind")) not in (
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ):
            del spec["dataSource"]
        else:
            spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None:
        spec["dataSource"] = dict(reference)


def volume(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default a PersistentVolume."""
    if (spec := child(value, "spec")) is not None:
        fill(spec, "persistentVolumeReclaimPolicy", "Retain")
        fill_absent(spec, "volumeMode", "Filesystem")
        if (source := child(spec, "hostPath")) is not None:
            fill_absent(source, "type", "")


def namespace(value: Object, minor: int) -> None:  # noqa: ARG001
    """Label a Namespace with its own name."""
    meta = child(value, "metadata")
    if meta is None or not meta.get("name"):
        return
    fill_absent(meta, "labels", {})
    if type(meta["labels"]) is dict:
        meta["labels"]["kubernetes.io/metadata.name"] = meta["name"]


def limit_range(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the limits and requests of containers from each other."""
    for _, limit in each(inner(value, "spec"), "limits"):
        if limit.get("type") != "Container":
            continue
        fill_absent(limit, "default", {})
        fill_absent(limit, "defaultRequest", {})
        default, request = limit["default"], limit["defaultRequest"]
        if type(default) is not dict or type(request) is not dict:
            continue
        for source, target in (("max", default), ("default", request), ("min", request)):
            for name, amount in inner(limit, source).items():
                target.setdefault(name, amount)


def network_policy(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the directions of a NetworkPolicy and the protocols of its ports."""
    if (spec := child(value, "spec")) is None:
        return
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if count(spec, "egress") else ["Ingress"]
    for direction in ("ingress", "egress"):
        for _, rule in each(spec, direction):
            for _, port in each(rule, "ports"):
                fill_absent(port, "protocol", "TCP")


def ingress_class(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the scope of an IngressClass' parameters."""
    if (parameters := child(inner(value, "spec"), "parameters")) is not None:
        fill_absent(parameters, "scope", "Cluster")


def storage_class(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default a StorageClass."""
    fill_absent(value, "reclaimPolicy", "Delete")
    fill_absent(value, "volumeBindingMode", "Immediate")


def csi_driver(value: Object, minor: int) -> None:
    """Default a CSIDriver."""
    if (spec := child(value, "spec")) is None:
        return
    for field, default in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        fill_absent(spec, field, default)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
    if minor < 35:
        spec.pop("serviceAccountTokenInSecrets", None)
        spec.pop("nodeAllocatableUpdatePeriodSeconds", None)


def autoscaler(value: Object, minor: int) -> None:
    """Default a HorizontalPodAutoscaler; tolerances count from Kubernetes 1.35 on, and v1 has no list of metrics."""
    if (spec := child(value, "spec")) is None:
        return
    fill_absent(spec, "minReplicas", 1)
    if value.get("apiVersion") == "autoscaling/v1":
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if (behavior := child(spec, "behavior")) is None:
        return
    for direction, policies in _SCALE_POLICIES.items():
        fill_absent(behavior, direction, {})
        if (rules := child(behavior, direction)) is None:
            continue
        fill_absent(rules, "selectPolicy", "Max")
        if rules.get("policies") is None:
            rules["policies"] = [dict(policy) for policy in policies]
        if direction == "scaleUp":
            fill_absent(rules, "stabilizationWindowSeconds", 0)
        if minor < 35:
            rules.pop("tolerance", None)


def binding(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the API groups of a RoleBinding or ClusterRoleBinding."""
    if (role := child(value, "roleRef")) is not None:
        fill(role, "apiGroup", "rbac.authorization.k8s.io")
    for _, subject in each(value, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            fill(subject, "apiGroup", "rbac.authorization.k8s.io")


def priority_class(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default what a PriorityClass preempts."""
    fill_absent(value, "preemptionPolicy", "PreemptLowerPriority")


def endpoint_slice(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the ports of an EndpointSlice."""
    for _, port in each(value, "ports"):
        fill_absent(port, "name", "")
        fill_absent(port, "protocol", "TCP")


def endpoints(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the protocols of Endpoints."""
    for _, subset in each(value, "subsets"):
        for _, port in each(subset, "ports"):
            fill(port, "protocol", "TCP")


def webhooks(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default a webhook configuration."""
    mutating = value.get("kind") == "MutatingWebhookConfiguration"
    for _, webhook in each(value, "webhooks"):
        fill_absent(webhook, "failurePolicy", "Fail")
        fill_absent(webhook, "timeoutSeconds", 10)
        _matching(webhook)
        if mutating:
            fill_absent(webhook, "reinvocationPolicy", "Never")
        for _, rule in each(webhook, "rules"):
            fill_absent(rule, "scope", "*")
        if (reference := child(inner(webhook, "clientConfig"), "service")) is not None:
            fill_absent(reference, "port", 443)


def _matching(owner: Object) -> None:
    fill_absent(owner, "matchPolicy", "Equivalent")
    fill_absent(owner, "namespaceSelector", {})
    fill_absent(owner, "objectSelector", {})


def policy(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default an admission policy."""
    if (spec := child(value, "spec")) is not None:
        fill_absent(spec, "failurePolicy", "Fail")
        _match_resources(spec, "matchConstraints")


def policy_binding(value: Object, minor: int) -> None:  # noqa: ARG001
    """Default the binding of an admission policy."""
    if (spec := child(value, "spec")) is not None:
        _match_resources(spec, "matchResources")


def _match_resources(spec: Object, field: str) -> None:
    if (resources := child(spec, field)) is None:
        return
    _matching(resources)
    for kind in ("resourceRules", "excludeResourceRules"):
        for _, rule in each(resources, kind):
            fill_absent(rule, "scope", "*")


def claim_template(value: Object, minor: int) -> None:
    """Default a ResourceClaimTemplate."""
    if (spec := child(inner(value, "spec"), "spec")) is not None:
        _device_requests(spec, minor)


def resource_claim(value: Object, minor: int) -> None:
    """Default a ResourceClaim."""
    if (spec := child(value, "spec")) is not None:
        _device_requests(spec, minor)


def _device_requests(spec: Object, minor: int) -> None:
    for _, request in each(inner(spec, "devices"), "requests"):
        exact = child(request, "exactly")
        for asked in [exact, *(sub for _, sub in each(request, "firstAvailable"))]:
            if asked is not None:
                _device_request(asked, minor)
    if minor < 36:
        for _, constraint in each(inner(spec, "devices"), "constraints"):
            constraint.pop("distinctAttribute", None)


def _device_request(asked: Object, minor: int) -> None:
    fill(asked, "allocationMode", "ExactCount")
    if asked["allocationMode"] == "ExactCount":
        fill(asked, "count", 1)
    if minor == 35:  # 1.34 keeps them although their gate is off, and from 1.36 on it is on
        asked.pop("tolerations", None)
    if minor < 36:
        asked.pop("capacity", None)


_GATED_OF_DEVICES = (
    "allNodes", "allowMultipleAllocations", "bindingConditions", "bindingFailureConditions", "bindsToNode",
    "consumesCounters", "nodeName", "nodeSelector", "taints",
)  # fmt: skip


def resource_slice(value: Object, minor: int) -> None:
    """Drop from a ResourceSlice what the release does not look at."""
    if minor >= 36 or (spec := child(value, "spec")) is None:
        return
    for field in ("perDeviceNodeSelection", "sharedCounters"):
        spec.pop(field, None)
    for _, device in each(spec, "devices"):
        for field in _GATED_OF_DEVICES:
            device.pop(field, None)
        for capacity in inner(device, "capacity").values():
            if isinstance(capacity, dict):
                capacity.pop("requestPolicy", None)


def device_class(value: Object, minor: int) -> None:
    """Drop from a DeviceClass what the release does not look at."""
    spec: Any = child(value, "spec")
    if spec is not None and minor < 36:
        spec.pop("extendedResourceName", None)
