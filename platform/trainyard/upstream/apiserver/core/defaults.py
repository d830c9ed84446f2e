"""Defaults of core objects, by kind: the fields that the server adds, and those it drops, before it judges an object.

Each function stands beside the rules of its kind, and is imported when an object of the kind is judged.
Source: k8s.io/kubernetes v1.35.4 pkg/apis/*/*/defaults.go; of CustomResourceDefinitions, k8s.io/apiextensions-apiserver
v0.35.4 pkg/apis/apiextensions/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.shapes import Object

Setter = Callable[[Object, int], None]

_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"
DEFAULTS: dict[tuple[str, str], str] = {
    ("", "Endpoints"): "endpoints:default",
    ("", "LimitRange"): "limitrange:default",
    ("", "Namespace"): "namespace:default",
    ("", "PersistentVolume"): "persistentvolume:default",
    ("", "PersistentVolumeClaim"): "persistentvolumeclaim:default",
    ("", "Pod"): "pod:default",
    ("", "PodTemplate"): "podtemplate:default",
    ("", "ReplicationController"): "replicationcontroller:default",
    ("", "Secret"): "secret:default",
    ("", "Service"): "service:default",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "apiextensions.definition:default",
    ("apps", "DaemonSet"): "apps:default_daemon_set",
    ("apps", "Deployment"): "apps:default_deployment",
    ("apps", "ReplicaSet"): "apps:default_replica_set",
    ("apps", "StatefulSet"): "statefulset:default",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaling:default",
    ("batch", "CronJob"): "cronjob:default",
    ("batch", "Job"): "job:default",
    ("discovery.k8s.io", "EndpointSlice"): "discovery:default",
    ("networking.k8s.io", "IngressClass"): "ingressclass:default",
    ("networking.k8s.io", "NetworkPolicy"): "networkpolicy:default",
    ("resource.k8s.io", "DeviceClass"): "resource.claims:default_class",
    ("resource.k8s.io", "ResourceClaim"): "resource.claims:default_claim",
    ("resource.k8s.io", "ResourceClaimTemplate"): "resource.claims:default_template",
    ("resource.k8s.io", "ResourceSlice"): "resource.slices:default",
    ("scheduling.k8s.io", "PriorityClass"): "scheduling:default",
    (_ADMISSION, "MutatingAdmissionPolicy"): "admissionregistration.policies:default_policy",
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): "admissionregistration.policies:default_binding",
    (_ADMISSION, "MutatingWebhookConfiguration"): "admissionregistration.webhookconfigurations:default",
    (_ADMISSION, "ValidatingAdmissionPolicy"): "admissionregistration.policies:default_policy",
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): "admissionregistration.policies:default_binding",
    (_ADMISSION, "ValidatingWebhookConfiguration"): "admissionregistration.webhookconfigurations:default",
    (_RBAC, "ClusterRoleBinding"): "rbac:default_binding",
    (_RBAC, "RoleBinding"): "rbac:default_binding",
    (_STORAGE, "CSIDriver"): "storage:default_csi_driver",
    (_STORAGE, "StorageClass"): "storage:default_storage_class",
}
"""By group and kind: the module below this package that has the rules of the kind as well, and its function."""


@cache
def _setter_of(group: str, kind: str) -> Setter | None:
    entry = DEFAULTS.get((group, kind))
    if entry is None:
        return None
    module, _, name = entry.partition(":")
    found: Setter = getattr(import_module(f"{__package__}.{module}"), name)
    return found


def apply(value: Object, kubernetes: str) -> Object:
    """Change an object in place into what the server judges, and return it; the caller hands a copy of its own.

    Applied after the defaults of the OpenAPI schema, on any shape: what has a wrong type is left alone.
    """
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and isinstance(kind, str):
        setter = _setter_of(version.rpartition("/")[0], kind)
        if setter is not None:
            setter(value, minor(kubernetes))
    return value
