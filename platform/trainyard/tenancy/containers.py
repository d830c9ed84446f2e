"""Containers of a run: images, variables, mounts, rights, and what they ask for.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go; kubernetes/pod-security-admission v0.35 policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.manifests import value_at
from trainyard.quantities import Quantity
from trainyard.tenancy.shapes import (
    ANY,
    About,
    AtMost,
    Both,
    Condition,
    Either,
    Fields,
    Items,
    Listed,
    Shape,
    only,
)

DIGEST = "@sha256:[0-9a-f]{64}$"

REGISTRY = Condition(
    lambda value, about: (
        isinstance(value, str)
        and (not about.allowance.lists["registries"] or value.startswith(about.allowance.lists["registries"]))
    ),
    "size(variables.registries) == 0 || variables.registries.exists(r, {x}.startsWith(r))",
    "image {name} is from a registry that is not allowed; push it to one that is",
    subject="image",
)
NAMED = Condition(
    lambda value, _about: isinstance(value, str) and re.search(DIGEST, value) is not None and value == value.strip(),
    f"{{x}}.matches('{DIGEST}')",
    "image {name} is not named by digest; name it as repository@sha256:digest",
    subject="digest",
)
IMAGE = Both(REGISTRY, NAMED)

VISIBLE = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "TPU_VISIBLE_DEVICES"})
"""Variables that libraries read, which can only take away from what a container has."""

DEVICES = (
    *("NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES", "NVIDIA_IMEX_CHANNELS", "NVIDIA_MOFED"),
    *("NVIDIA_GDS", "NVIDIA_NVSWITCH", "NVIDIA_GDRCOPY", "NVIDIA_CTK_MODE"),
)
"""Variables that NVIDIA's runtime reads beside NVIDIA_VISIBLE_DEVICES, each of which adds devices of the node.

Source: NVIDIA/nvidia-container-toolkit v1.18 internal/config/image/envvars.go.
"""

NOTHING = ("", "void", "none")
"""Values by which a runtime shows no device."""


def shows_devices(name: Any) -> bool:
    """Whether a runtime takes a variable of this name for devices to show, of whichever vendor."""
    return isinstance(name, str) and (name in DEVICES or (name.endswith("_VISIBLE_DEVICES") and name not in VISIBLE))


HIDES = Condition(
    lambda value, _about: (
        not isinstance(value, Mapping)
        or not shows_devices(value.get("name"))
        or (not value.get("valueFrom") and (value.get("value") or "") in NOTHING)
    ),
    "!({x}.name in [" + ", ".join(f"'{each}'" for each in DEVICES) + "] || ({x}.name.endsWith('_VISIBLE_DEVICES') && "
    "!({x}.name in [" + ", ".join(f"'{each}'" for each in sorted(VISIBLE)) + "]))) || "
    "(!has({x}.valueFrom) && (!has({x}.value) || {x}.value in ['', 'void', 'none']))",
    "variable {name} shows a container devices of its node; ask for GPUs by gpusPerNode",
    subject="device",
    at=("value",),
)

SECRET = Listed("secrets", "secret")
CONFIG = Listed("configmaps", "config map", own="name")
"""The run's own is called as the run."""


def reference(shape: Shape) -> Fields:
    """Return a reference to a Secret or a ConfigMap by name."""
    return Fields("a reference", {"name": shape, "key": ANY, "optional": ANY})


OF_SECRET = {"secretKeyRef": "secret", "secretRef": "secret", "configMapKeyRef": "config", "configMapRef": "config"}

VARIABLE = Fields(
    "a variable",
    {
        "name": ANY,
        "value": ANY,
        "valueFrom": Fields(
            "a variable's source",
            {
                "fieldRef": ANY,
                "resourceFieldRef": ANY,
                "fileKeyRef": ANY,
                "secretKeyRef": reference(SECRET),
                "configMapKeyRef": reference(CONFIG),
            },
            OF_SECRET,
        ),
    },
    conditions=(HIDES,),
)
SOURCE = Fields(
    "a source of variables",
    {
        "prefix": ANY,
        "secretRef": reference(SECRET),
        "configMapRef": reference(Listed("configmaps", "config map")),
    },
    OF_SECRET,
)

NEAR = only("", "127.0.0.1", "localhost", "::1")
"""Whom the kubelet may ask on behalf of a pod beside the pod itself (Pod Security, host probes)."""

HTTP = Fields("a probe", {"host": NEAR, "httpHeaders": ANY, "path": ANY, "port": ANY, "scheme": ANY})
TCP = Fields("a probe", {"host": NEAR, "port": ANY})
PROBE = Fields(
    "a probe",
    {
        **dict.fromkeys(("exec", "failureThreshold", "grpc", "initialDelaySeconds", "periodSeconds"), ANY),
        **dict.fromkeys(("successThreshold", "timeoutSeconds"), ANY),
        "httpGet": HTTP,
        "tcpSocket": TCP,
        "terminationGracePeriodSeconds": AtMost("grace"),
    },
    {"httpGet": "host", "tcpSocket": "host", "terminationGracePeriodSeconds": "grace"},
)
HANDLER = Fields(
    "a hook",
    {
        "exec": ANY,
        "httpGet": HTTP,
        "tcpSocket": TCP,
        "sleep": Fields("a hook", {"seconds": AtMost("grace")}, {"seconds": "grace"}),
    },
    {"httpGet": "host", "tcpSocket": "host", "sleep": "grace"},
)
HOOKS = Fields("the hooks of a container", {"postStart": HANDLER, "preStop": HANDLER, "stopSignal": ANY})

PORT = Fields(
    "a port",
    {
        **dict.fromkeys(("containerPort", "name", "protocol"), ANY),
        "hostIP": only(""),
        "hostPort": Condition(
            lambda value, about: value == 0 or bool(about.allowance.lists["host"]),
            "{x} == 0 || size(variables.host) > 0",
            "hostPort is {name}, a port of the node; remove it",
        ),
    },
)

SECCOMP = Fields("a profile", {"type": only("RuntimeDefault", "Localhost"), "localhostProfile": ANY})
SELINUX = Fields(
    "SELinux options",
    {"type": only("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"), "level": ANY},
)

CAPABILITIES = Fields(
    "capabilities",
    {"add": Items(Listed("capabilities", "capability")), "drop": ANY},
)
PRIVILEGED = Condition(
    lambda value, about: value is False or bool(about.allowance.lists["host"]),
    "{x} == false || size(variables.host) > 0",
    "privileged is {name}, but nothing of the cluster's fabric asks for it; remove it",
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


def amount(value: Any) -> Quantity | None:
    """Return a quantity, None of what is none."""
    try:
        return Quantity.parse(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
    except ValueError:
        return None


def counted(resources: Any, name: str, *, limited: bool) -> bool:
    """Whether quota counts all that a container may use of a resource; `limited` says that it has to have a limit."""
    request, limit = (amount(value_at(resources, (key, name))) for key in ("requests", "limits"))
    if limit is None and limited:
        return False
    asked = limit if request is None else request
    return asked is not None and asked.amount > 0 and (limit is None or limit.amount == asked.amount)


def covers(value: Any, _about: About) -> bool:
    """Whether quota counts all CPUs and memory of a container's resources, said by themselves."""
    return counted(value, "cpu", limited=False) and counted(value, "memory", limited=True)


def covered(value: Any, _about: About) -> bool:
    """Whether quota counts all CPUs and memory of a container."""
    if not isinstance(value, Mapping):
        return False
    given = value.get("resources")
    return counted(given, "cpu", limited=False) and counted(given, "memory", limited=True)


def equal(name: str, *, limited: bool, at: str = ".?resources") -> str:
    """Return the condition in CEL that quota counts all of a resource of `{x}`."""
    limit, request = (f"{{x}}{at}.?{key}.?{name}" for key in ("limits", "requests"))
    at_least = f"quantity(string({request}.or({limit}).orValue('0'))).isGreaterThan(quantity('0'))"
    same = (
        f"(!{limit}.hasValue() || !{request}.hasValue() || "
        f"quantity(string({request}.value())).compareTo(quantity(string({limit}.value()))) == 0)"
    )
    return f"{at_least} && {same}" + (f" && {limit}.hasValue()" if limited else "")


COVERED = Condition(
    covered,
    f"{equal('cpu', limited=False)} && {equal('memory', limited=True)}",
    "container {name} should request CPU and memory, as much as their limits; set both",
    subject="resources",
    at=("resources",),
)

COVERS = Condition(
    covers,
    f"{equal('cpu', limited=False, at='')} && {equal('memory', limited=True, at='')}",
    "the trainer should request CPU and memory, as much as their limits; set both",
    subject="resources",
)

MOUNT = Fields(
    "a mount",
    {
        **dict.fromkeys(("mountPath", "name", "readOnly", "recursiveReadOnly", "subPath", "subPathExpr"), ANY),
        "mountPropagation": only("None", "HostToContainer"),
    },
)

PLAIN: dict[str, Shape] = {
    **dict.fromkeys(("args", "command", "imagePullPolicy", "name", "resizePolicy", "restartPolicy"), ANY),
    **dict.fromkeys(("restartPolicyRules", "stdin", "stdinOnce", "terminationMessagePath", "tty"), ANY),
    **dict.fromkeys(("terminationMessagePolicy", "volumeDevices", "workingDir", "resources"), ANY),
    "env": Items(VARIABLE),
    "envFrom": Items(SOURCE),
    "image": IMAGE,
    "lifecycle": HOOKS,
    "livenessProbe": PROBE,
    "ports": Items(PORT),
    "readinessProbe": PROBE,
    "securityContext": CONTEXT,
    "startupProbe": PROBE,
    "volumeMounts": Items(MOUNT),
}
ABOUT = {
    "env": "field",
    "image": "image",
    "ports": "host",
    "securityContext": "security",
    "volumeMounts": "volume",
}

CONTAINER = Fields("a container", PLAIN, ABOUT, conditions=(COVERED,))
PATCHED = Fields("a container", {key: PLAIN[key] for key in ("env", "name", "securityContext", "volumeMounts")}, ABOUT)
"""What a TrainJob may say of a container of its runtime."""

LINE = Condition(
    lambda value, about: isinstance(value, list) and " ".join(map(str, value)) in about.allowance.lists["commands"],
    "{x}.join(' ') in variables.commands",
    "a container of the fabric runs another command than the fabric's; remove the patch",
    subject="security",
)
FABRIC = Fields(
    "a container of the fabric",
    {
        **dict.fromkeys(("imagePullPolicy", "name", "resources", "restartPolicy"), ANY),
        **dict.fromkeys(("terminationMessagePolicy", "terminationMessagePath"), ANY),
        "command": LINE,
        "env": Items(Fields("a variable", {"name": only("LD_LIBRARY_PATH", "HEALTH_CHECK_LOG_FILE"), "value": ANY})),
        "image": Listed("images", "image"),
        "securityContext": Fields(
            "a security context",
            {
                "allowPrivilegeEscalation": only(False),
                "capabilities": Fields("capabilities", {"add": Items(Listed("needs", "capability"))}),
                "runAsNonRoot": ANY,
                "runAsUser": ANY,
            },
        ),
        "startupProbe": Fields(
            "a probe",
            {
                **dict.fromkeys(("failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"), ANY),
                "initialDelaySeconds": ANY,
                "exec": Fields("a probe", {"command": LINE}),
            },
        ),
        "volumeMounts": Items(
            Fields(
                "a mount",
                {
                    **dict.fromkeys(("mountPath", "readOnly"), ANY),
                    "name": Condition(
                        lambda value, _about: isinstance(value, str) and value.startswith("fabric-"),
                        "{x}.startsWith('fabric-')",
                        "a container of the fabric mounts {name}, which is not the fabric's; remove it",
                    ),
                },
            )
        ),
    },
    required=("command", "image"),
)
"""The daemon of a fabric: root with its capabilities, and nothing else than what it is."""

ANYBODY = Either(FABRIC, CONTAINER)
