"""Volumes that a pod may mount, and settings of the kernel that it may change.

Source: k8s.io/pod-security-admission v0.35.4 policy/check_restrictedVolumes.go, check_sysctls.go.
"""

from __future__ import annotations

from collections.abc import Callable

from trainyard.upstream.apiserver.admission.podsecurity.pods import Pod, Violation, name_some, plural, quote_words
from trainyard.upstream.apiserver.core.shapes import Object, each, inner, text

_ALLOWED = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
    "secret",
)
_REFUSED = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd"),
    *("flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk"),
    *("photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"),
)
_SINCE = {
    0: (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}
"""By the minor release of Kubernetes since which they are safe: names of sysctls."""


def check_volume_types(pod: Pod) -> Violation | None:
    """Refuse volumes other than those that Kubernetes itself fills, claims and CSI; one of no kind is an emptyDir."""
    found = [
        (index, text(volume, "name"), kind)
        for index, volume in each(pod.spec, "volumes")
        if (kind := _kind(volume)) is not None
    ]
    if not found:
        return None
    kinds = sorted({kind for _, _, kind in found})
    names = name_some("volume", [name for _, name, _ in found])
    verb = "uses" if len(found) == 1 else "use"
    detail = f"{names} {verb} {plural('restricted volume type', len(kinds))} {quote_words(kinds)}"
    return Violation("restricted volume types", detail, pod.at("volumes", found[0][0], found[0][2]))


def _kind(volume: Object) -> str | None:
    if any(volume.get(kind) is not None for kind in _ALLOWED):
        return None
    return next((kind for kind in _REFUSED if volume.get(kind) is not None), None)


def sysctls(minor: int) -> Callable[[Pod], Violation | None]:
    """Return the check that refuses sysctls which were not known to be safe in some release."""
    safe = frozenset(name for since, names in _SINCE.items() if since <= minor for name in names)

    def check(pod: Pod) -> Violation | None:
        named_ = [(index, text(entry, "name")) for index, entry in each(inner(pod.spec, "securityContext"), "sysctls")]
        unsafe = [(index, name) for index, name in named_ if name not in safe]
        if not unsafe:
            return None
        place = pod.at("securityContext", "sysctls", unsafe[0][0], "name")
        return Violation("forbidden sysctls", ", ".join(name for _, name in unsafe), place)

    return check
