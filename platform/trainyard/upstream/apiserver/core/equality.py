"""Whether two values of core objects mean the same to the server, which compares what it has decoded.

Source: k8s.io/apimachinery v0.35.4 pkg/api/equality/semantic.go; which fields are pointers (whose zero value is not
the same as none) is read off k8s.io/api v0.35.4 types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.amounts import nanos
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_POINTER_NAMES = """
    activeDeadlineSeconds adminAccess affinity aggregationRule allNodes allocateLoadBalancerNodePorts
    allowPrivilegeEscalation allowVolumeExpansion appProtocol attachRequired automountServiceAccountToken
    averageUtilization backoffLimit backoffLimitPerIndex behavior capabilities clientIP completions configMap
    configMapKeyRef configMapRef containerResource csi defaultMode dnsConfig downwardAPI emptyDir enableServiceLinks
    endPort ephemeral exec expirationSeconds failedJobsHistoryLimit fsGroup grpc hostPath hostProcess hostUsers
    hostnameOverride http httpGet immutable ingressClassName initiatorName ipBlock labelSelector
    leaseDurationSeconds leaseTransitions lifecycle livenessProbe loadBalancerClass localhostProfile managedBy
    manualSelector maxFailedIndexes maxSurge maxUnavailable minAvailable minDomains minReplicas mode
    namespaceSelector nodeAffinity objectSelector onExitCodes optional ordinals os parallelism podAffinity
    podAntiAffinity podFailurePolicy podInfoOnMount postStart preStop privileged progressDeadlineSeconds projected
    readOnlyRootFilesystem readinessProbe replicas requiresRepublish resourceClaimName resourceClaimTemplateName
    resourceFieldRef revisionHistoryLimit rollingUpdate runAsGroup runAsNonRoot runAsUser runtimeClassName
    seLinuxMount seLinuxOptions seccompProfile secret secretKeyRef secretRef securityContext selector
    serviceAccountToken sessionAffinityConfig setHostnameAsFQDN shareProcessNamespace sleep
    stabilizationWindowSeconds startingDeadlineSeconds startupProbe storageCapacity storageClassName succeededCount
    succeededIndexes successPolicy successfulJobsHistoryLimit suspend tcpSocket terminationGracePeriodSeconds
    timeZone tolerationSeconds trafficDistribution ttlSecondsAfterFinished url valueFrom volumeAttributesClassName
    volumeClaimTemplate volumeMode windowsOptions
"""
_POINTERS = frozenset(_POINTER_NAMES.split())
_MAPS = frozenset(
    (
        "annotations",
        "binaryData",
        "data",
        "labels",
        "matchLabels",
        "nodeSelector",
        "options",
        "parameters",
        "volumeAttributes",
    )
)
_AMOUNTS = frozenset(
    ("capacity", "default", "defaultRequest", "hard", "limits", "max", "min", "overhead", "podFixed", "requests")
)
_AMOUNT = frozenset({"divisor", "sizeLimit"})


def canon(value: Any, name: str = "") -> Any:
    """A value without what decodes to nothing, and with quantities as numbers; None if nothing is left."""
    if type(value) is dict:
        if name in _MAPS:
            return value or None
        if name in _AMOUNTS:
            return {key: nanos(amount) for key, amount in value.items()} or None
        kept = {key: part for key, entry in value.items() if (part := canon(entry, key)) is not None}
        return kept if kept or name in _POINTERS else None
    if type(value) is list:
        return [{} if (part := canon(entry)) is None else part for entry in value] or None
    if name in _AMOUNT and value is not None:
        return nanos(value)
    return value if value or name in _POINTERS else None


def differs(now: Any, before: Any, name: str = "") -> bool:
    """Whether two values of the field `name` are different values to the server."""
    return bool(now != before and canon(now, name) != canon(before, name))


def check_immutable(now: Any, before: Any, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield a field that an update may not change and does; the deepest change of an object is named."""
    if not differs(now, before, str(path[-1])):
        return
    where = path + _first_change(now, before)
    yield rule.invalid(where, now if where == path else _at(now, where[len(path) :]), "field is immutable")


def _first_change(now: Any, before: Any) -> Path:
    if type(now) is dict and type(before) is dict:
        for key in [*now, *(key for key in before if key not in now)]:
            if differs(now.get(key), before.get(key), str(key)):
                return (key, *_first_change(now.get(key), before.get(key))) if key in now else ()
    if type(now) is list and type(before) is list and len(now) == len(before):
        for index, (entry, old) in enumerate(zip(now, before, strict=True)):
            if differs(entry, old):
                return (index, *_first_change(entry, old))
    return ()


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value
