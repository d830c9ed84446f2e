"""Rights of containers: what Pod Security asks for at the team's level, and what a fabric is let beyond it.

Facts: kubernetes/pod-security-admission v0.35 policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.render.tenancy.fabric import OWN, own_containers
from trainyard.render.tenancy.shapes import ANY, About, Condition, Fields, Items, Listed, Shape, only

SECCOMP = Fields("a profile", {"type": only("RuntimeDefault", "Localhost"), "localhostProfile": ANY})
SELINUX = Fields(
    "SELinux options",
    {"type": only("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"), "level": ANY},
)

CAPABILITIES = Fields(
    "capabilities",
    {"add": Items(Listed("capabilities", "capability")), "drop": Items(ANY)},
)
PRIVILEGED = Condition(
    lambda value, about: value is False or bool(about.allowance.lists["host"]),
    "{x} == false || size(variables.host) > 0",
    "privileged is {name}, but the cluster's fabric does not need it; remove it",
)
RIGHTS: dict[str, Shape] = {
    **dict.fromkeys(("readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser"), ANY),
    "allowPrivilegeEscalation": ANY,
    "appArmorProfile": SECCOMP,
    "capabilities": CAPABILITIES,
    "privileged": PRIVILEGED,
    "procMount": only("Default"),
    "seLinuxOptions": SELINUX,
    "seccompProfile": SECCOMP,
}
"""Of a container's security context; that it says what `restricted` asks for, the pod's conditions hold."""

CONTEXT = Fields("a security context", RIGHTS)


SYSCTLS = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
)
"""Settings of a pod's own kernel spaces (kubernetes/pod-security-admission v0.35 policy/check_sysctls.go)."""

OF_POD = Fields(
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


def context(value: Any) -> Mapping[str, Any]:
    """Return a security context, an empty one where there is none."""
    found = value.get("securityContext") if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def inner(value: Any, field: str) -> Mapping[str, Any]:
    """Return a map at a field, an empty one where there is none."""
    found = value.get(field) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


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
            context(container).get("runAsUser") != 0
            and (context(container).get("runAsNonRoot", whole.get("runAsNonRoot")) is True)
            for container in own_containers(pod, about)
        )
    )


IS_USER = (
    f"!({STRICT}) || ({{x}}.?securityContext.?runAsUser.orValue(1) != 0 && {OWN}.all(c, "
    "c.?securityContext.?runAsUser.orValue(1) != 0 && "
    "c.?securityContext.?runAsNonRoot.or({x}.?securityContext.?runAsNonRoot).orValue(false) == true))"
)


def dropped_capabilities(context: Mapping[str, Any]) -> list[Any]:
    """Return the capabilities that a security context drops."""
    found = inner(context, "capabilities").get("drop")
    return found if isinstance(found, list) else []


def has_no_more(pod: Any, about: About) -> bool:
    """Whether all containers give up escalation and capabilities, where they have to."""
    return not strict(about) or all(
        is_privileged(container, about)
        or (
            context(container).get("allowPrivilegeEscalation") is False
            and "ALL" in dropped_capabilities(context(container))
        )
        for container in own_containers(pod, about)
    )


HAS_NO_MORE = (
    f"!({STRICT}) || {OWN}.all(c, {IS_PRIVILEGED} || "
    "(c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false && "
    "'ALL' in c.?securityContext.?capabilities.?drop.orValue([])))"
)


def is_confined(pod: Any, about: About) -> bool:
    """Whether all containers have a seccomp profile, where they have to."""
    profiles = (inner(context(part), "seccompProfile").get("type") for part in (pod, *own_containers(pod, about)))
    return not strict(about) or bool(next(profiles)) or all(profiles)


IS_CONFINED = (
    f"!({STRICT}) || {{x}}.?securityContext.?seccompProfile.?type.hasValue() || "
    f"{OWN}.all(c, c.?securityContext.?seccompProfile.?type.hasValue())"
)


CONDITIONS = (
    Condition(
        is_user,
        IS_USER,
        "containers must run as a user other than root, with runAsNonRoot; remove the patch",
        "security",
        ("securityContext",),
    ),
    Condition(
        has_no_more,
        HAS_NO_MORE,
        "containers must forbid allowPrivilegeEscalation and drop capabilities ALL; remove the patch",
        "security",
        ("containers",),
    ),
    Condition(
        is_confined,
        IS_CONFINED,
        "pods must have seccompProfile RuntimeDefault; remove the patch",
        "security",
        ("securityContext",),
    ),
)


def keeps(value: Any, about: About) -> bool:
    """Whether a patch of a security context takes nothing away that containers have to say."""
    if not isinstance(value, Mapping):
        return False
    return (
        not strict(about)
        or (bool(about.allowance.lists["host"]) and value.get("privileged") is True)
        or (
            value.get("runAsUser") != 0
            and value.get("runAsNonRoot") is not False
            and value.get("allowPrivilegeEscalation") is not True
            and (inner(value, "capabilities").get("drop") is None or "ALL" in dropped_capabilities(value))
        )
    )


KEEPS = Condition(
    keeps,
    f"!({STRICT}) || (size(variables.host) > 0 && {{x}}.?privileged.orValue(false) == true) || "
    "({x}.?runAsUser.orValue(1) != 0 && {x}.?runAsNonRoot.orValue(true) == true && "
    "{x}.?allowPrivilegeEscalation.orValue(false) == false && "
    "(!{x}.?capabilities.?drop.hasValue() || 'ALL' in {x}.capabilities.drop))",
    "a patch removes fields that Pod Security restricted requires; remove the patch",
    "security",
)
"""Of what a TrainJob says of the pods of its runtime."""
