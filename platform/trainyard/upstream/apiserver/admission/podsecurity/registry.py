"""Every check of Pod Security, with its level and the releases since which it runs as it does.

Source: k8s.io/pod-security-admission v0.35.4 policy/registry.go, and the file that each check names. The checks of one
version are the same in v0.34.4 and v0.36.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from trainyard.upstream.apiserver.admission.podsecurity import host, privileges, profiles, users, volumes
from trainyard.upstream.apiserver.admission.podsecurity.levels import BASELINE, RESTRICTED
from trainyard.upstream.apiserver.admission.podsecurity.pods import Pod, Violation
from trainyard.upstream.apiserver.problems import Rule

Run = Callable[[Pod], Violation | None]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its upstream name and file, and by minor release what runs from it on."""

    id: str
    level: str
    file: str
    versions: tuple[tuple[int, Run], ...]
    overrides: str | None = None
    """The baseline check that a restricted one stands in for."""

    @property
    def rule(self) -> str:
        """The id of its findings."""
        return "pod-security/" + re.sub(r"_|(?<=[a-z])(?=[A-Z])", "-", self.id).lower()

    @property
    def source(self) -> str:
        """The upstream file and release."""
        return f"k8s.io/pod-security-admission v0.35.4 policy/check_{self.file}.go"

    def of(self, minor: int) -> Run | None:
        """Return the function that runs in a release; None before the check was there."""
        return next((run for since, run in reversed(self.versions) if since <= minor), None)


def unless_windows(run: Run) -> Run:
    """Return a check that lets pods for Windows pass, which has no such thing."""
    return lambda pod: None if pod.is_windows else run(pod)


def unless_mapped(run: Run) -> Run:
    """Return a check that lets pods pass whose users are mapped to others on the node."""
    return lambda pod: None if pod.has_user_namespace else run(pod)


def _baseline(id_: str, *versions: tuple[int, Run], file: str = "") -> Check:
    return Check(id_, BASELINE, file or id_, versions)


def _restricted(id_: str, *versions: tuple[int, Run], overrides: str | None = None) -> Check:
    return Check(id_, RESTRICTED, id_, versions, overrides)


CHECKS = (
    _baseline("appArmorProfile", (0, profiles.app_armor)),
    _baseline("capabilities_baseline", (0, privileges.default_capabilities)),
    _baseline("hostNamespaces", (0, host.namespaces)),
    _baseline("hostPathVolumes", (0, host.paths)),
    _baseline("hostPorts", (0, host.ports)),
    _baseline("hostProbesAndHostLifecycle", (34, host.probes), file="hostProbesAndhostLifecycle"),
    _baseline("privileged", (0, privileges.check_privileged)),
    _baseline(
        "procMount",
        (0, privileges.proc_mount),
        (35, unless_mapped(privileges.proc_mount)),
        file="procMount_baseline",
    ),
    _baseline("seLinuxOptions", (0, profiles.se_linux(engine=False)), (31, profiles.se_linux(engine=True))),
    _baseline("seccompProfile_baseline", (0, profiles.seccomp_annotations), (19, profiles.seccomp)),
    _baseline("sysctls", *((minor, volumes.sysctls(minor)) for minor in (0, 27, 29, 32))),
    _baseline("windowsHostProcess", (0, host.windows_process)),
    _restricted("allowPrivilegeEscalation", (8, privileges.escalation), (25, unless_windows(privileges.escalation))),
    _restricted(
        "capabilities_restricted",
        (22, privileges.dropped_capabilities),
        (25, unless_windows(privileges.dropped_capabilities)),
        overrides="capabilities_baseline",
    ),
    _restricted("procMount_restricted", (35, privileges.proc_mount), overrides="procMount"),
    _restricted("restrictedVolumes", (0, volumes.check_volume_types), overrides="hostPathVolumes"),
    _restricted("runAsNonRoot", (0, users.non_root), (35, unless_mapped(users.non_root))),
    _restricted("runAsUser", (23, users.not_zero), (35, unless_mapped(users.not_zero))),
    _restricted(
        "seccompProfile_restricted",
        (19, profiles.seccomp_set),
        (25, unless_windows(profiles.seccomp_set)),
        overrides="seccompProfile_baseline",
    ),
)
"""In the order in which the server names what they find: baseline before restricted, by name."""


TEXTS: Mapping[str, tuple[str, str]] = {
    "appArmorProfile": (
        "Pods use the AppArmor profile of the runtime or of the node.",
        "use RuntimeDefault or Localhost, or remove the profile",
    ),
    "capabilities_baseline": (
        "Containers add only capabilities that container runtimes give by default.",
        "remove the capability from securityContext.capabilities.add",
    ),
    "hostNamespaces": ("Pods use no namespace of the host.", "remove hostNetwork, hostPID and hostIPC"),
    "hostPathVolumes": ("Pods mount no folder of the host.", "use another volume type, such as emptyDir"),
    "hostPorts": ("Containers open no port of the host.", "remove hostPort, and use a Service"),
    "hostProbesAndHostLifecycle": (
        "Probes and lifecycle hooks name no host.",
        "remove host from the probe or hook; it then reaches the pod itself",
    ),
    "privileged": ("Containers are not privileged.", "remove securityContext.privileged"),
    "procMount": ("Containers see /proc as the runtime masks it.", "remove securityContext.procMount"),
    "seLinuxOptions": (
        "Pods use one of the SELinux types for containers, and no SELinux user or role.",
        "use type container_t or another allowed type, and remove user and role",
    ),
    "seccompProfile_baseline": (
        "Pods do not switch seccomp off.",
        "use type RuntimeDefault or Localhost, or remove the profile",
    ),
    "sysctls": ("Pods set only safe sysctls.", "remove the sysctl, or set it on the nodes"),
    "windowsHostProcess": ("Windows pods are no host processes.", "remove windowsOptions.hostProcess"),
    "allowPrivilegeEscalation": (
        "Containers cannot gain privileges.",
        "set securityContext.allowPrivilegeEscalation: false in each container",
    ),
    "capabilities_restricted": (
        "Containers drop all capabilities, and add NET_BIND_SERVICE at most.",
        'set securityContext.capabilities: {drop: ["ALL"]} in each container',
    ),
    "procMount_restricted": (
        "Containers see /proc as the runtime masks it, on level restricted.",
        "remove securityContext.procMount",
    ),
    "restrictedVolumes": (
        "Pods use only volume types that reach nothing of the host.",
        "use configMap, secret, emptyDir, projected, downwardAPI, csi, ephemeral or persistentVolumeClaim",
    ),
    "runAsNonRoot": ("Containers do not run as root.", "set securityContext.runAsNonRoot: true in the pod"),
    "runAsUser": ("Containers do not run as user 0.", "set securityContext.runAsUser to a number above 0"),
    "seccompProfile_restricted": (
        "Pods have a seccomp profile.",
        "set securityContext.seccompProfile: {type: RuntimeDefault} in the pod",
    ),
}
"""By the id of a check, the title and the fix of its rule."""

RULES = {
    check.rule: Rule(
        check.rule,
        check.source,
        title=TEXTS[check.id][0],
        fix=f"{TEXTS[check.id][1]}; otherwise lower the level of the namespace",
        may_warn=True,
    )
    for check in CHECKS
}
"""Whether pods are ever made is not always sure: then a finding only warns."""


@cache
def checks_of(level: str, minor: int) -> tuple[tuple[Check, Run], ...]:
    """Return the checks of a level in a release; a restricted one may stand in for one of baseline."""
    found = [(check, run) for check in CHECKS if (run := check.of(minor)) is not None]
    if level == BASELINE:
        return tuple(pair for pair in found if pair[0].level == BASELINE)
    overridden = {check.overrides for check, _ in found}
    return tuple(pair for pair in found if pair[0].id not in overridden)


def evaluate(level: str, minor: int, pod: Pod) -> Iterator[tuple[Check, Violation]]:
    """Yield the checks of a level that a pod violates, each with its violation."""
    for check, run in checks_of(level, minor):
        violation = run(pod)
        if violation is not None:
            yield check, violation
