"""Pods of a run, field by field: what is not here no run has.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go; kubernetes/pod-security-admission v0.35 policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.labels import POOL
from trainyard.tenancy import containers
from trainyard.tenancy.containers import ANYBODY, CONFIG, IMAGE, SECCOMP, SECRET, SELINUX, amount
from trainyard.tenancy.metadata import OF_TEMPLATE
from trainyard.tenancy.shapes import (
    ANY,
    NEVER,
    About,
    AtMost,
    Condition,
    Fields,
    Items,
    Listed,
    Same,
    Shape,
    only,
)

TERM = Fields(
    "a term of affinity",
    {
        **dict.fromkeys(("labelSelector", "matchLabelKeys", "mismatchLabelKeys", "topologyKey"), ANY),
        "namespaces": Items(Same("team")),
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
    "toleration is of {name}, which is no taint of the cluster's pools; remove it",
)
TOLERATION = Fields(
    "a toleration",
    {**dict.fromkeys(("effect", "operator", "tolerationSeconds", "value"), ANY), "key": KEY},
    required=("key",),
)

ITEMS = {"items": ANY, "optional": ANY, "defaultMode": ANY}
VOLUME = Fields(
    "a volume",
    {
        "name": ANY,
        "emptyDir": ANY,
        "downwardAPI": ANY,
        "configMap": Fields("a volume", {**ITEMS, "name": CONFIG}),
        "secret": Fields("a volume", {**ITEMS, "secretName": SECRET}),
        "persistentVolumeClaim": Fields("a volume", {"claimName": Listed("claims", "claim"), "readOnly": ANY}),
        "projected": Fields(
            "a volume",
            {
                "defaultMode": ANY,
                "sources": Items(
                    Fields(
                        "a source of files",
                        {
                            "downwardAPI": ANY,
                            "serviceAccountToken": ANY,
                            "configMap": Fields("a source of files", {**ITEMS, "name": CONFIG}),
                            "secret": Fields("a source of files", {**ITEMS, "name": SECRET}),
                        },
                        {"configMap": "config", "secret": "secret"},
                    )
                ),
            },
        ),
        "hostPath": Fields("a volume", {"path": Listed("hostpaths", "path of the node"), "type": ANY}),
        "ephemeral": Fields(
            "a volume",
            {
                "volumeClaimTemplate": Fields(
                    "a claim",
                    {
                        "metadata": Fields("a claim", {"creationTimestamp": ANY}),
                        "spec": Fields(
                            "a claim",
                            {
                                **dict.fromkeys(("accessModes", "resources", "volumeMode"), ANY),
                                "storageClassName": Listed("scratch", "storage class"),
                            },
                            required=("storageClassName",),
                        ),
                    },
                )
            },
        ),
        "image": Fields("a volume", {"reference": IMAGE, "pullPolicy": ANY}),
    },
    {"configMap": "config", "secret": "secret", "image": "image"},
)

SYSCTLS = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
)
"""Settings of a pod's own kernel spaces (kubernetes/pod-security-admission v0.35 policy/check_sysctls.go)."""

CONTEXT = Fields(
    "a pod's security context",
    {
        **dict.fromkeys(("fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot", "runAsUser"), ANY),
        **dict.fromkeys(("seLinuxChangePolicy", "supplementalGroups", "supplementalGroupsPolicy"), ANY),
        "appArmorProfile": SECCOMP,
        "seLinuxOptions": SELINUX,
        "seccompProfile": SECCOMP,
        "sysctls": Items(Fields("a setting", {"name": only(*SYSCTLS), "value": ANY})),
    },
)

NO_HOST = Condition(
    lambda value, about: value is False or bool(about.allowance.lists["host"]),
    "{x} == false || size(variables.host) > 0",
    "hostNetwork is {name}, but pods of the cluster's fabric have networks of their own; remove it",
)
DNS = Condition(
    lambda value, about: value in ("ClusterFirst", "Default") or bool(about.allowance.lists["host"]),
    "{x} in ['ClusterFirst', 'Default'] || size(variables.host) > 0",
    "dnsPolicy is {name}, but a run may have ClusterFirst or Default; change it",
)
GATE = Fields("a gate", {"name": only("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology")})
"""What Kueue writes into the templates of some kinds when it admits them."""


def of(pod: Any, field: str) -> list[Mapping[str, Any]]:
    """Return the maps in a list of a pod."""
    listed = pod.get(field) if isinstance(pod, Mapping) else None
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def context(value: Any) -> Mapping[str, Any]:
    """Return a security context, an empty one where there is none."""
    found = value.get("securityContext") if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def inner(value: Any, field: str) -> Mapping[str, Any]:
    """Return a map at a field, an empty one where there is none."""
    found = value.get(field) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def own(pod: Any, about: About) -> list[Mapping[str, Any]]:
    """Return a pod's containers that are not the fabric's."""
    return [
        each
        for field in ("initContainers", "containers")
        for each in of(pod, field)
        if each.get("image") not in about.allowance.lists["images"]
    ]


OWN = (
    "({x}.?initContainers.orValue([]) + {x}.?containers.orValue([]))"
    ".filter(c, !(has(c.image) && c.image in variables.images))"
)
STRICT = "variables.level[0] == 'restricted'"
IS_PRIVILEGED = "(size(variables.host) > 0 && c.?securityContext.?privileged.orValue(false) == true)"


def strict(about: About) -> bool:
    """Whether containers have to say what Pod Security `restricted` asks for."""
    return about.allowance.lists["level"][0] == "restricted"


def is_privileged(container: Mapping[str, Any], about: About) -> bool:
    """Whether a container is privileged by its fabric's leave."""
    return bool(about.allowance.lists["host"]) and context(container).get("privileged") is True


def is_user(pod: Any, about: About) -> bool:
    """Whether all containers are users other than root, and say so, where they have to."""
    whole = context(pod)
    return not strict(about) or (
        whole.get("runAsUser") != 0
        and all(
            context(each).get("runAsUser") != 0
            and (context(each).get("runAsNonRoot", whole.get("runAsNonRoot")) is True)
            for each in own(pod, about)
        )
    )


IS_USER = (
    f"!({STRICT}) || ({{x}}.?securityContext.?runAsUser.orValue(1) != 0 && {OWN}.all(c, "
    "c.?securityContext.?runAsUser.orValue(1) != 0 && "
    "c.?securityContext.?runAsNonRoot.or({x}.?securityContext.?runAsNonRoot).orValue(false) == true))"
)


def has_no_more(pod: Any, about: About) -> bool:
    """Whether all containers give up escalation and capabilities, where they have to."""
    return not strict(about) or all(
        is_privileged(each, about)
        or (
            context(each).get("allowPrivilegeEscalation") is False
            and "ALL" in (inner(context(each), "capabilities").get("drop") or ())
        )
        for each in own(pod, about)
    )


HAS_NO_MORE = (
    f"!({STRICT}) || {OWN}.all(c, {IS_PRIVILEGED} || "
    "(c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false && "
    "'ALL' in c.?securityContext.?capabilities.?drop.orValue([])))"
)


def is_confined(pod: Any, about: About) -> bool:
    """Whether all containers have a seccomp profile, where they have to."""
    whole = inner(context(pod), "seccompProfile")
    return not strict(about) or bool(whole) or all(inner(context(each), "seccompProfile") for each in own(pod, about))


IS_CONFINED = (
    f"!({STRICT}) || {{x}}.?securityContext.?seccompProfile.hasValue() || "
    f"{OWN}.all(c, c.?securityContext.?seccompProfile.hasValue())"
)


def has_gpus(container: Mapping[str, Any]) -> bool:
    """Whether a container asks for GPUs of NVIDIA: the device plugin then says by the variable which it sees."""
    limits = inner(inner(container, "resources"), "limits")
    return any(GPU.fullmatch(str(name)) and (found := amount(limits[name])) and found.amount > 0 for name in limits)


def is_blind(pod: Any, about: About) -> bool:
    """Whether containers without GPUs say that they see none, where an image's own variable would show all.

    That is on pools with GPUs, and for pods that say no pool, which may get there by affinity or by their queue.
    """
    pools = about.allowance.lists["gpupools"]
    if not pools or inner(pod, "nodeSelector").get(POOL, pools[0]) not in pools:
        return True
    return all(
        has_gpus(each) or any(entry.get("name") == "NVIDIA_VISIBLE_DEVICES" for entry in of(each, "env"))
        for each in own(pod, about)
    )


GPU = re.compile(r"nvidia[.]com/(gpu|gpu[.]shared|mig-[0-9a-z.]+)")
"""Resources for which NVIDIA's plugin gives GPUs (NVIDIA/k8s-device-plugin v0.17 internal/rm); others give none."""

IS_BLIND = (
    f"size(variables.gpupools) == 0 || "
    f"!({{x}}.?nodeSelector[?'{POOL}'].orValue(variables.gpupools[0]) in variables.gpupools) || {OWN}.all(c, "
    f"c.?resources.?limits.orValue({{}}).exists(r, r.matches('^{GPU.pattern}$') && "
    "quantity(string(c.resources.limits[r])).isGreaterThan(quantity('0'))) || "
    "c.?env.orValue([]).exists(e, e.name == 'NVIDIA_VISIBLE_DEVICES'))"
)


def has_account(pod: Any, about: About) -> bool:
    """Whether files with a token are of an account that the team lists: `automountServiceAccountToken` is not asked."""
    tokens = (
        each
        for volume in of(pod, "volumes")
        for each in of(volume.get("projected"), "sources")
        if each.get("serviceAccountToken") is not None
    )
    return not any(True for _ in tokens) or pod.get("serviceAccountName") in about.allowance.lists["accounts"]


TOKENS = Condition(
    has_account,
    "{x}.?serviceAccountName.orValue('') in variables.accounts || !{x}.?volumes.orValue([]).exists(v, "
    "v.?projected.?sources.orValue([]).exists(s, has(s.serviceAccountToken) && s.serviceAccountToken != null))",
    "pods have files with a token of an account that the team does not list; name one that it does",
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
        "pods get a token of an account that the team does not list; leave automountServiceAccountToken false",
        "account",
        ("automountServiceAccountToken",),
    ),
    Condition(
        is_user,
        IS_USER,
        "containers should run as a user other than root, with runAsNonRoot; leave both as they are",
        "security",
        ("securityContext",),
    ),
    Condition(
        has_no_more,
        HAS_NO_MORE,
        "containers should forbid allowPrivilegeEscalation and drop capabilities ALL; leave both as they are",
        "security",
        ("containers",),
    ),
    Condition(
        is_confined,
        IS_CONFINED,
        "pods should have a seccompProfile; leave RuntimeDefault as it is",
        "security",
        ("securityContext",),
    ),
)

COMMON: dict[str, Shape] = {
    "affinity": AFFINITY,
    "imagePullSecrets": Items(Fields("a pull secret", {"name": SECRET})),
    "nodeSelector": ANY,
    "schedulingGates": Items(GATE),
    "securityContext": CONTEXT,
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
    "resources": "resources",
    "overhead": "resources",
    "ephemeralContainers": "image",
}

FIELDS: dict[str, Shape] = {
    **COMMON,
    **dict.fromkeys(("activeDeadlineSeconds", "automountServiceAccountToken", "enableServiceLinks"), ANY),
    **dict.fromkeys(("hostAliases", "hostUsers", "hostname", "hostnameOverride", "os", "readinessGates"), ANY),
    **dict.fromkeys(("resourceClaims", "restartPolicy", "setHostnameAsFQDN", "shareProcessNamespace"), ANY),
    **dict.fromkeys(("subdomain", "topologySpreadConstraints"), ANY),
    "containers": Items(ANYBODY),
    "initContainers": Items(ANYBODY),
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
    "runtimeClassName": Listed("runtimeclasses", "runtime class"),
    "schedulerName": Listed("schedulers", "scheduler"),
    "serviceAccount": Listed("accounts", "service account"),
}
BLIND = Condition(
    is_blind,
    IS_BLIND,
    "a container without GPUs should say NVIDIA_VISIBLE_DEVICES void; leave it as it is",
    "device",
    ("containers",),
)


def template(*more: Condition) -> Fields:
    """Return the shape of a template whose pods meet some conditions more."""
    spec = Fields("pods", FIELDS, ABOUT, required=("containers",), conditions=(*CONDITIONS, *more))
    return Fields("pods", {"metadata": OF_TEMPLATE, "spec": spec}, {"metadata": "label"}, required=("spec",))


TEMPLATE = template(BLIND)
LAUNCHED = template()
"""Of an MPIJob's launcher, whose containers the operator makes blind itself (mpi-operator v0.8.0)."""

PATCH = Fields(
    "pods",
    {
        "metadata": OF_TEMPLATE,
        "spec": Fields(
            "pods",
            {
                **COMMON,
                "containers": Items(containers.PATCHED),
                "initContainers": Items(containers.PATCHED),
            },
            ABOUT,
            conditions=(TOKENS,),
        ),
    },
    {"metadata": "label"},
)
"""What a TrainJob may say of the pods of the runtime that it names."""
