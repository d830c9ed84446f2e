"""Defaults of a core object, by its kind: what the server adds to it, and what it leaves out, before it judges it."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.apiserver.core.defaulting import crd, others, workloads
from trainyard.apiserver.core.shapes import Object
from trainyard.apiserver.meta.metadata import minor

Setter = Callable[[Object, int], None]

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"
SETTERS: dict[tuple[str, str], Setter] = {
    ("", "Endpoints"): others.endpoints,
    ("", "LimitRange"): others.limit_range,
    ("", "Namespace"): others.namespace,
    ("", "PersistentVolume"): others.volume,
    ("", "PersistentVolumeClaim"): others.claim,
    ("", "Pod"): workloads.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "Secret"): others.secret,
    ("", "Service"): others.service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): crd.definition,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): others.autoscaler,
    ("batch", "CronJob"): workloads.cron_job,
    ("batch", "Job"): workloads.job,
    ("discovery.k8s.io", "EndpointSlice"): others.endpoint_slice,
    ("networking.k8s.io", "IngressClass"): others.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): others.network_policy,
    ("resource.k8s.io", "DeviceClass"): others.device_class,
    ("resource.k8s.io", "ResourceClaim"): others.resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): others.claim_template,
    ("resource.k8s.io", "ResourceSlice"): others.resource_slice,
    ("scheduling.k8s.io", "PriorityClass"): others.priority_class,
    (_ADMISSION, "MutatingAdmissionPolicy"): others.policy,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): others.policy_binding,
    (_ADMISSION, "MutatingWebhookConfiguration"): others.webhooks,
    (_ADMISSION, "ValidatingAdmissionPolicy"): others.policy,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): others.policy_binding,
    (_ADMISSION, "ValidatingWebhookConfiguration"): others.webhooks,
    (_RBAC, "ClusterRoleBinding"): others.binding,
    (_RBAC, "RoleBinding"): others.binding,
    (_STORAGE, "CSIDriver"): others.csi_driver,
    (_STORAGE, "StorageClass"): others.storage_class,
}


def apply(value: Object, kubernetes: str) -> Object:
    """Change an object in place into what the server judges, and return it; the caller hands a copy of its own.

    Applied after the defaults of the OpenAPI schema, on any shape: what has a wrong type is left alone.
    """
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and isinstance(kind, str):
        setter = SETTERS.get((version.rpartition("/")[0], kind))
        if setter is not None:
            setter(value, minor(kubernetes))
    return value
