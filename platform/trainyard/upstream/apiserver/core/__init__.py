"""Rules and defaults of Kubernetes' own kinds, restated from the API server's code.

A module is named after its kind, or after its API group where the group's kinds are small or many: `job`, `scheduling`,
`apiextensions.definition`. It is imported when an object of the kind is judged, so that one kind does not cost the
others. What several kinds embed stands beside: `pods/`, `selectors`, `addresses`, `amounts`, `schedules` and others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from trainyard.upstream.apiserver.problems import Problem


class Check(Protocol):
    """The rules of one kind: `value` is defaulted; with `old`, also what an update may not change."""

    def __call__(
        self, value: dict[str, Any], *, kubernetes: str, old: dict[str, Any] | None = None
    ) -> Iterator[Problem]:
        """Yield the problems of an object."""
        ...


_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"
CHECKS: dict[tuple[str, str], str] = {
    ("", "ConfigMap"): "configmap:check",
    ("", "Endpoints"): "endpoints:check",
    ("", "Event"): "event:check",
    ("", "LimitRange"): "limitrange:check",
    ("", "Namespace"): "namespace:check",
    ("", "Node"): "node:check_node",
    ("", "PersistentVolume"): "persistentvolume:check",
    ("", "PersistentVolumeClaim"): "persistentvolumeclaim:check",
    ("", "Pod"): "pod:check",
    ("", "PodTemplate"): "podtemplate:check",
    ("", "ReplicationController"): "replicationcontroller:check",
    ("", "ResourceQuota"): "resourcequota:check",
    ("", "Secret"): "secret:check",
    ("", "Service"): "service:check",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "apiextensions.definition:check",
    ("apiregistration.k8s.io", "APIService"): "apiregistration:check",
    ("apps", "ControllerRevision"): "controllerrevision:check",
    ("apps", "DaemonSet"): "apps:check_daemon_set",
    ("apps", "Deployment"): "apps:check_deployment",
    ("apps", "ReplicaSet"): "apps:check_replica_set",
    ("apps", "StatefulSet"): "statefulset:check",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaling:check",
    ("batch", "CronJob"): "cronjob:check",
    ("batch", "Job"): "job:check",
    ("certificates.k8s.io", "CertificateSigningRequest"): "certificates:check",
    ("certificates.k8s.io", "ClusterTrustBundle"): "clustertrustbundle:check_bundle",
    ("certificates.k8s.io", "PodCertificateRequest"): "podcertificaterequest:check_request",
    ("coordination.k8s.io", "Lease"): "coordination:check",
    ("discovery.k8s.io", "EndpointSlice"): "discovery:check",
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): "flowcontrol:check_schema",
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): "flowcontrol:check_level",
    ("events.k8s.io", "Event"): "event:check",
    ("networking.k8s.io", "IPAddress"): "networking:check_holder",
    ("networking.k8s.io", "Ingress"): "ingress:check",
    ("networking.k8s.io", "IngressClass"): "ingressclass:check",
    ("networking.k8s.io", "NetworkPolicy"): "networkpolicy:check",
    ("networking.k8s.io", "ServiceCIDR"): "networking:check_range",
    ("node.k8s.io", "RuntimeClass"): "node:check_runtime_class",
    ("policy", "PodDisruptionBudget"): "poddisruptionbudget:check",
    ("resource.k8s.io", "DeviceClass"): "resource.claims:check_class",
    ("resource.k8s.io", "DeviceTaintRule"): "resource.taints:check",
    ("resource.k8s.io", "ResourceClaim"): "resource.claims:check_claim",
    ("resource.k8s.io", "ResourceClaimTemplate"): "resource.claims:check_template",
    ("resource.k8s.io", "ResourceSlice"): "resource.slices:check",
    ("scheduling.k8s.io", "PodGroup"): "podgroup:check",
    ("scheduling.k8s.io", "PriorityClass"): "scheduling:check",
    ("scheduling.k8s.io", "Workload"): "workload:check",
    ("storagemigration.k8s.io", "StorageVersionMigration"): "storagemigration:check",
    (_ADMISSION, "MutatingAdmissionPolicy"): "admissionregistration.policies:check_mutating_policy",
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): "admissionregistration.policies:check_binding",
    (_ADMISSION, "MutatingWebhookConfiguration"): "admissionregistration.webhookconfigurations:check",
    (_ADMISSION, "ValidatingAdmissionPolicy"): "admissionregistration.policies:check_policy",
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): "admissionregistration.policies:check_binding",
    (_ADMISSION, "ValidatingWebhookConfiguration"): "admissionregistration.webhookconfigurations:check",
    (_RBAC, "ClusterRole"): "rbac:check_role",
    (_RBAC, "ClusterRoleBinding"): "rbac:check_binding",
    (_RBAC, "Role"): "rbac:check_role",
    (_RBAC, "RoleBinding"): "rbac:check_binding",
    (_STORAGE, "CSIDriver"): "storage:check_csi_driver",
    (_STORAGE, "CSINode"): "csinode:check",
    (_STORAGE, "CSIStorageCapacity"): "storage:check_csi_capacity",
    (_STORAGE, "StorageClass"): "storage:check_storage_class",
    (_STORAGE, "VolumeAttachment"): "volumeattachment:check",
    (_STORAGE, "VolumeAttributesClass"): "storage:check_attributes_class",
}
"""By group and kind: the module below this package, and its function. ServiceAccounts have no rules of their own."""


@cache
def _check_of(group: str, kind: str) -> Check | None:
    entry = CHECKS.get((group, kind))
    if entry is None:
        return None
    module, _, name = entry.partition(":")
    found: Check = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def check(value: dict[str, Any], *, kubernetes: str, old: dict[str, Any] | None = None) -> Iterator[Problem]:
    """Yield the problems that the API server's own rules find in an object of a core kind; nothing for other kinds.

    `value` and `old` are defaulted by the OpenAPI schema and by `core.defaults.apply`; `kubernetes` is a version such
    as `1.35`. Never raises, whatever the shape: a subtree of a wrong type is passed over.
    """
    version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return
    found = _check_of(version.rpartition("/")[0], kind)
    if found is not None:
        yield from found(value, kubernetes=kubernetes, old=old)
