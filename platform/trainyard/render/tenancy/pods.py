"""Pods of a run, field by field: what is not here no run has.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go; kubernetes/pod-security-admission v0.35 policy.
"""

from __future__ import annotations

from typing import Any

from trainyard.render.tenancy import attached, containers, disks, rights
from trainyard.render.tenancy.containers import CONTAINER, STARTING
from trainyard.render.tenancy.devices import BLIND, BLIND_BESIDE, CLAIMS
from trainyard.render.tenancy.fabric import VOLUMES, of
from trainyard.render.tenancy.metadata import OF_TEMPLATE
from trainyard.render.tenancy.shapes import (
    ANY,
    NEVER,
    About,
    AtMost,
    Both,
    Condition,
    Elsewhere,
    Fields,
    Items,
    Listed,
    Same,
    Shape,
    only,
)
from trainyard.render.tenancy.variables import SECRET
from trainyard.render.tenancy.volumes import VOLUME

TERM = Fields(
    "a term of affinity",
    {
        **dict.fromkeys(("labelSelector", "matchLabelKeys", "mismatchLabelKeys", "topologyKey"), ANY),
        "namespaces": Items(Same("namespace")),
        "namespaceSelector": NEVER,
    },
)
PODS = Fields(
    "affinity",
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Items(TERM),
        "preferredDuringSchedulingIgnoredDuringExecution": Items(
            Fields("affinity", {"weight": ANY, "podAffinityTerm": TERM})
        ),
    },
)
AFFINITY = Fields("affinity", {"nodeAffinity": ANY, "podAffinity": PODS, "podAntiAffinity": PODS})

KEY = Condition(
    lambda value, about: (
        value in about.allowance.lists["taints"]
        or value in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    ),
    "{x} in variables.taints || {x} in ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']",
    "toleration {name} matches no taint of the cluster's pools; remove it",
)
TOLERATION = Fields(
    "a toleration",
    {**dict.fromkeys(("effect", "operator", "tolerationSeconds", "value"), ANY), "key": KEY},
    required=("key",),
)

NO_HOST = Condition(
    lambda value, about: value is False or bool(about.allowance.lists["host"]),
    "{x} == false || size(variables.host) > 0",
    "hostNetwork is {name}, but the cluster's fabric does not need it; remove it",
)
DNS = Condition(
    lambda value, about: value in ("ClusterFirst", "Default") or bool(about.allowance.lists["host"]),
    "{x} in ['ClusterFirst', 'Default'] || size(variables.host) > 0",
    "dnsPolicy is {name}, but a run may only have ClusterFirst or Default; change it",
)
GATE = Fields("a gate", {"name": only("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology")})
"""What Kueue writes into the templates of some kinds when it admits them."""


def has_account(pod: Any, about: About) -> bool:
    """Whether files with a token are of an account that the team lists: `automountServiceAccountToken` is not asked."""
    tokens = (
        source
        for volume in of(pod, "volumes")
        for source in of(volume.get("projected"), "sources")
        if source.get("serviceAccountToken") is not None
    )
    return not any(True for _ in tokens) or pod.get("serviceAccountName") in about.allowance.lists["accounts"]


TOKENS = Condition(
    has_account,
    "{x}.?serviceAccountName.orValue('') in variables.accounts || !{x}.?volumes.orValue([]).exists(v, "
    "v.?projected.?sources.orValue([]).exists(s, has(s.serviceAccountToken) && s.serviceAccountToken != null))",
    "pods mount a token of a service account that the team does not list; use an account of the team",
    "account",
    ("volumes",),
)

CONDITIONS = (
    TOKENS,
    Condition(
        lambda value, about: (
            value.get("automountServiceAccountToken") is False
            or value.get("serviceAccountName") in about.allowance.lists["accounts"]
        ),
        "{x}.?automountServiceAccountToken.orValue(true) == false || "
        "{x}.?serviceAccountName.orValue('') in variables.accounts",
        "pods get a token of a service account that the team does not list; set automountServiceAccountToken: false",
        "account",
        ("automountServiceAccountToken",),
    ),
    *rights.CONDITIONS,
    *disks.CONDITIONS,
    VOLUMES,
)

COMMON: dict[str, Shape] = {
    "affinity": AFFINITY,
    "imagePullSecrets": Items(Fields("a pull secret", {"name": SECRET}, required=("name",))),
    "nodeSelector": ANY,
    "schedulingGates": Items(GATE),
    "securityContext": rights.OF_POD,
    "serviceAccountName": Listed("accounts", "service account"),
    "terminationGracePeriodSeconds": AtMost("grace"),
    "tolerations": Items(TOLERATION),
    "volumes": Items(VOLUME),
}
ABOUT = {
    "affinity": "affinity",
    "automountServiceAccountToken": "account",
    "imagePullSecrets": "secret",
    "priority": "priority",
    "priorityClassName": "priority",
    "preemptionPolicy": "priority",
    "schedulingGates": "place",
    "securityContext": "security",
    "serviceAccount": "account",
    "serviceAccountName": "account",
    "terminationGracePeriodSeconds": "grace",
    "tolerations": "place",
    "volumes": "volume",
    "nodeName": "place",
    "schedulerName": "place",
    "hostNetwork": "host",
    "hostPID": "host",
    "hostIPC": "host",
    "dnsPolicy": "host",
    "dnsConfig": "host",
    "runtimeClassName": "device",
    "resourceClaims": "device",
    "resources": "resources",
    "overhead": "resources",
    "ephemeralContainers": "image",
}

FIELDS: dict[str, Shape] = {
    **COMMON,
    **dict.fromkeys(("activeDeadlineSeconds", "automountServiceAccountToken", "enableServiceLinks"), ANY),
    **dict.fromkeys(("hostAliases", "hostUsers", "hostname", "hostnameOverride", "os", "readinessGates"), ANY),
    **dict.fromkeys(("restartPolicy", "setHostnameAsFQDN", "shareProcessNamespace"), ANY),
    **dict.fromkeys(("subdomain", "topologySpreadConstraints"), ANY),
    "containers": Elsewhere(Items(CONTAINER)),
    "initContainers": Elsewhere(Items(STARTING)),
    "dnsPolicy": DNS,
    "dnsConfig": Fields("DNS settings", {"options": ANY, "searches": ANY}),
    "hostIPC": only(False),
    "hostNetwork": NO_HOST,
    "hostPID": only(False),
    "nodeName": NEVER,
    "overhead": NEVER,
    "preemptionPolicy": NEVER,
    "priority": NEVER,
    "priorityClassName": NEVER,
    "resources": NEVER,
    "resourceClaims": CLAIMS,
    "runtimeClassName": Listed("runtimeclasses", "runtime class"),
    "schedulerName": Listed("schedulers", "scheduler"),
    "serviceAccount": Listed("accounts", "service account"),
}


def template(*more: Condition) -> Fields:
    """Return the shape of a template whose pods meet some conditions more."""
    spec = Fields("pods", FIELDS, ABOUT, required=("containers",), conditions=(*CONDITIONS, *more))
    return Fields(
        "pods",
        {"metadata": OF_TEMPLATE, "spec": spec},
        {"metadata": "label"},
        required=("spec",),
        conditions=attached.CONDITIONS,
    )


TEMPLATE = template(BLIND)
POD = Elsewhere(TEMPLATE)
LAUNCHED = template(BLIND_BESIDE)
"""Of an MPIJob's launcher, whose first container the operator makes blind itself."""

PATCH = Fields(
    "pods",
    {
        "metadata": OF_TEMPLATE,
        "spec": Fields(
            "pods",
            {
                **COMMON,
                "securityContext": Both(rights.OF_POD, rights.KEEPS),
                "containers": Items(containers.PATCHED),
                "initContainers": Items(containers.PATCHED),
            },
            ABOUT,
            conditions=(TOKENS, VOLUMES),
        ),
    },
    {"metadata": "label"},
)
"""What a TrainJob may say of the pods of the runtime that it names."""
