"""Containers of a run: what they run, with which variables, mounts, rights and ports.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.
"""

from __future__ import annotations

from trainyard.render.tenancy.amounts import COVERED
from trainyard.render.tenancy.fabric import FABRIC, NAME, OF_FABRIC
from trainyard.render.tenancy.images import IMAGE
from trainyard.render.tenancy.probes import HOOKS, PROBE
from trainyard.render.tenancy.rights import CONTEXT, KEEPS
from trainyard.render.tenancy.shapes import ANY, Both, Chosen, Condition, Fields, Items, Shape, only
from trainyard.render.tenancy.variables import SOURCE, VARIABLE

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

MOUNT = Fields(
    "a mount",
    {
        **dict.fromkeys(("mountPath", "readOnly", "recursiveReadOnly", "subPath", "subPathExpr"), ANY),
        "name": Condition(
            lambda value, about: value not in about.allowance.lists["daemononly"],
            "!({x} in variables.daemononly)",
            "volume {name} is only for the fabric's container; remove the mount",
        ),
        "mountPropagation": only("None", "HostToContainer"),
    },
)

PLAIN: dict[str, Shape] = {
    **dict.fromkeys(("args", "command", "imagePullPolicy", "resizePolicy", "restartPolicy"), ANY),
    **dict.fromkeys(("restartPolicyRules", "stdin", "stdinOnce", "terminationMessagePath", "tty"), ANY),
    **dict.fromkeys(("terminationMessagePolicy", "volumeDevices", "workingDir", "resources"), ANY),
    "env": Items(VARIABLE),
    "envFrom": Items(SOURCE),
    "image": IMAGE,
    "lifecycle": HOOKS,
    "livenessProbe": PROBE,
    "name": NAME,
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
PATCHED = Fields(
    "a container",
    {
        **{key: PLAIN[key] for key in ("env", "name", "volumeMounts")},
        "securityContext": Both(CONTEXT, KEEPS),
    },
    ABOUT,
)
"""What a TrainJob may say of a container of its runtime, but of the fabric's."""

STARTING = Chosen(OF_FABRIC, FABRIC, CONTAINER)
"""Of a container that starts before the others: the fabric's is one."""
